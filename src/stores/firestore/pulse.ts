/**
 * `pulse` of the Firestore driver: since when runs could have been claimed, from the documents that have been due longest.
 * In a store that keeps up it reads a page of them; only what may be stuck is read further, and never more than a bound.
 */
import type { Pulse, PulseQuery } from '../../ports/store.ts'
import { covers } from '../../run/hold.ts'
import { isReady } from './expire.ts'
import { currentHold, keptOf } from './gates.ts'
import { expiredOf, read } from './look.ts'
import { gatesOf, type Place } from './place.ts'
import { type Doc, type Row, splitId } from './row.ts'
import { docOf, nowOf, readDoc } from './unit.ts'

/** Each document that is read is paid for, and metrics ask several times a minute. */
const PAGE = 20
const STUCK_PAGE = 300
/** Twice what the gravest threshold asks about. */
const DOCUMENTS_MAX = 2_000

export async function pulse(place: Place, { stuckAfterMs }: PulseQuery): Promise<Pulse> {
  const now = await nowOf(place)
  const isHeld = await heldBy(place, now)
  const tasks = new Map<string, { oldestAt: number; stuck: number }>()
  for await (const docs of dueDocs(place, now, now - stuckAfterMs, () => tasks.size > 0)) {
    const expired = await expiredOf(place, docs, now)
    for (const row of docs.flatMap(({ rows }) => [...rows.values()])) {
      const since = claimableSince(row, expired, now)
      if (since === undefined || isHeld(row)) continue
      const { oldestAt, stuck } = tasks.get(row.lane.task) ?? { oldestAt: since, stuck: 0 }
      const isStuck = now - since > stuckAfterMs
      tasks.set(row.lane.task, { oldestAt: Math.min(oldestAt, since), stuck: stuck + (isStuck ? 1 : 0) })
    }
  }
  return { now, tasks: [...tasks].sort(([a], [b]) => (a < b ? -1 : 1)).map(([task, told]) => ({ task, ...told })) }
}

/** Oldest due first, until what is left can no longer be stuck and something is found. */
async function* dueDocs(
  place: Place,
  now: number,
  stuckBefore: number,
  isFound: () => boolean,
): AsyncGenerator<readonly Doc[]> {
  if (place.only !== undefined) {
    const doc = await readDoc(place, place.only)
    if (doc) yield [doc]
    return
  }
  const due = place.runs.where('dueAt', '<=', now).orderBy('dueAt')
  let size = PAGE
  let page = await read(place, due.limit(size))
  for (let seen = page.size; ; seen += page.size) {
    yield page.docs.flatMap((snapshot) => docOf(place, snapshot) ?? [])
    const last = page.docs.at(-1)
    if (page.size < size || !last || seen >= DOCUMENTS_MAX) return
    if (Number(last.get('dueAt')) >= stuckBefore && isFound()) return
    size = Math.min(STUCK_PAGE, DOCUMENTS_MAX - seen)
    page = await read(place, due.startAfter(last).limit(size))
  }
}

async function heldBy(place: Place, now: number): Promise<(row: Row) => boolean> {
  const page = await read(place, gatesOf(place).where('kind', '==', 'hold'))
  const holds = await Promise.all(
    page.docs.map((snapshot) => {
      const kept = keptOf(snapshot)
      return kept?.kind === 'hold' ? currentHold(place, kept.hold, now) : undefined
    }),
  )
  return ({ lane }) => holds.some((hold) => hold && covers(hold.what, lane))
}

function claimableSince(row: Row, expired: ReadonlySet<Row>, now: number): number | undefined {
  const { lease, dueAt } = row
  if (lease && !expired.has(row)) return undefined
  if (dueAt !== undefined) return dueAt <= now ? dueAt : undefined
  if (lease) return row.state === 'ready' ? lease.until : undefined
  if (!isReady(row, now)) return undefined
  return row.state === 'blocked' ? fulfilledAt(row) : (row.readyAt ?? row.submittedAt)
}

/** Another worker ended the last of what it needs, and has not said so here. */
function fulfilledAt(row: Row): number {
  const ends = (row.needs ?? []).map(({ run }) => row.doc.rows.get(splitId(run)?.step ?? '')?.finishedAt ?? 0)
  return Math.max(row.submittedAt, ...ends)
}
