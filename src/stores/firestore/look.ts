/**
 * What a claim looks at: documents whose due time has come, oldest first, a bounded number of them.
 * It reads and sorts; whether a row is given out is decided elsewhere.
 */
import type { Query, QuerySnapshot } from '@google-cloud/firestore'
import type { ClaimRequest } from '../../ports/store.ts'
import type { Place } from './place.ts'
import { actsAt, type Doc, type Row } from './row.ts'
import { unavailable } from './trouble.ts'
import { docOf, readDoc } from './unit.ts'
import { renewedUntil } from './views.ts'

/** Firestore compares with thirty values in one query. */
const TASKS_MAX = 30
/** Documents behind those of held lanes are looked for so far: no claim reads a whole backlog. */
const PAGES_MAX = 10

export interface Looked {
  readonly docs: readonly Doc[]
  /** Leases whose end has come, as their owners last extended them. */
  readonly expired: ReadonlySet<Row>
  /** Everything that is due was looked at. */
  readonly whole: boolean
}

/** Pages until `enough` says so. */
export async function lookForDue(
  place: Place,
  { tasks, limit }: ClaimRequest,
  now: number,
  enough: (docs: readonly Doc[]) => boolean,
): Promise<Looked> {
  if (place.only !== undefined) {
    const doc = await readDoc(place, place.only)
    const found = doc ? [doc] : []
    return { docs: found, whole: true, expired: await expiredOf(place, found, now, tasks) }
  }
  const size = Math.max(1, limit + place.lookAhead)
  const docs = new Map<string, Doc>()
  let whole = true
  for (let from = 0; from < tasks.length; from += TASKS_MAX) {
    const due = dueQuery(place, tasks.slice(from, from + TASKS_MAX))
      .where('dueAt', '<=', now)
      .limit(size)
    let page = await read(place, due)
    for (let pages = 1; ; pages += 1) {
      for (const snapshot of page.docs) {
        const doc = docOf(place, snapshot)
        if (doc) docs.set(doc.id, doc)
      }
      const last = page.docs.at(-1)
      if (page.size < size || !last) break
      if (pages >= PAGES_MAX || enough([...docs.values()])) {
        whole = false
        break
      }
      page = await read(place, due.startAfter(last))
    }
  }
  return { docs: [...docs.values()], whole, expired: await expiredOf(place, [...docs.values()], now, tasks) }
}

/** When the next document of these tasks becomes due. */
export async function nextDue(place: Place, { tasks }: ClaimRequest, now: number): Promise<number | undefined> {
  if (place.only !== undefined) return nextOf(await readDoc(place, place.only), now)
  const instants: number[] = []
  for (let from = 0; from < tasks.length; from += TASKS_MAX) {
    const later = dueQuery(place, tasks.slice(from, from + TASKS_MAX)).where('dueAt', '>', now)
    const [first] = (await read(place, later.limit(1))).docs
    if (first) instants.push(Number(first.get('dueAt')))
  }
  return instants.length > 0 ? Math.min(...instants) : undefined
}

function nextOf(doc: Doc | undefined, now: number): number | undefined {
  const later = [...(doc?.rows.values() ?? [])].flatMap((row) => actsAt(row) ?? []).filter((at) => at > now)
  return later.length > 0 ? Math.min(...later) : undefined
}

const dueQuery = ({ runs }: Place, tasks: readonly string[]): Query =>
  runs
    .where(
      'lanes',
      'array-contains-any',
      tasks.map((task) => `task:${task}`),
    )
    .orderBy('dueAt')

export async function read(place: Place, query: Query): Promise<QuerySnapshot> {
  try {
    const snapshot = await query.get()
    place.time.saw(snapshot.readTime)
    return snapshot
  } catch (error) {
    throw unavailable(error)
  }
}

/** A lease that looks over may have been extended beside the document. Steps of tasks that others serve are their affair. */
export async function expiredOf(
  place: Place,
  docs: readonly Doc[],
  now: number,
  tasks?: readonly string[],
): Promise<Set<Row>> {
  const over = docs
    .flatMap(({ rows }) => [...rows.values()])
    .filter(({ lease, lane }) => lease && lease.until <= now && (!tasks || tasks.includes(lane.task)))
  const until = await renewedUntil(place, over)
  return new Set(over.filter(({ id }) => (until.get(id) ?? 0) <= now))
}
