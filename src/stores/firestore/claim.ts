/**
 * `claim` of the Firestore driver: look, choose, and lease each chosen document by an update that holds only if nobody wrote it since.
 * A claim that loses a document goes on with the next; no transaction reads a flow document.
 */
import type { Claim, ClaimRequest } from '../../ports/store.ts'
import { systemClock } from '../../time/clock.ts'
import { systemDice } from '../../time/dice.ts'
import { byPlace, expire, isClaimable } from './expire.ts'
import { type Granted, grant, NO_GATES } from './gates.ts'
import { type Looked, lookForDue, nextDue, read } from './look.ts'
import type { Place } from './place.ts'
import type { Doc, Row } from './row.ts'
import { isConflict, isMissingIndex, unwritten } from './trouble.ts'
import { docOf, nowOf, readDoc, Unit } from './unit.ts'
import { claimedOf, renewedUntil } from './views.ts'

/** Conflicts on one document, most of them by its sibling steps: short waits, then it is left as it is. */
const TRIES_MAX = 5
const WAIT_MIN_MS = 100
const WAIT_SPAN_MS = 400

interface Stamp {
  readonly request: ClaimRequest
  readonly now: number
  readonly token: number
  readonly granted: Granted
}

export async function claim(place: Place, request: ClaimRequest, isRepeated: boolean): Promise<Claim> {
  const now = await nowOf(place)
  if (isRepeated) {
    const again = await answerAgain(place, request, now)
    if (again) return again
  }
  const limit = request.alone ? Math.min(1, request.limit) : request.limit
  let looked = await lookForDue(place, request, now, (docs) => candidates(place, docs, request, now).length >= limit)
  await endLeases(place, looked, now)
  let rows = candidates(place, looked.docs, request, now)
  let granted = rows.length > 0 ? await grant(place, rows, request, limit, looked, now) : NO_GATES
  if (granted.gated && granted.chosen.length < limit && !looked.whole) {
    // What is held or limited stands before the rest: it is passed over, as far as a claim looks.
    const { isOpen } = granted
    const isEnough = (docs: readonly Doc[]) => candidates(place, docs, request, now).filter(isOpen).length >= limit
    looked = await lookForDue(place, request, now, isEnough)
    rows = candidates(place, looked.docs, request, now)
    granted = await grant(place, rows, request, limit, looked, now)
  }
  const chosen = granted.gated ? granted.chosen : rows
  const token = place.numbers.token(now, Math.max(granted.token, ...chosen.map((row) => row.token)))
  const stamp: Stamp = { request, now, token: granted.gated ? granted.token : token, granted }
  const taken = await takeInOrder(place, chosen, limit, stamp)
  const runs = await Promise.all(taken.map((row) => claimedOf(place, row, now + request.leaseMs)))
  const left = rows.filter((row) => !taken.some(({ id }) => id === row.id))
  return { now, token: runs.length > 0 ? stamp.token : 0, runs, ...(await outlook(place, stamp, looked, left)) }
}

const candidates = (place: Place, docs: readonly Doc[], request: ClaimRequest, now: number): Row[] =>
  docs
    .flatMap(({ rows }) => [...rows.values()])
    .filter((row) => isClaimable(row, request, now))
    .sort(byPlace(place.ageingMs))

/** Leases whose time is over end now, whether or not this claim may have their runs. */
async function endLeases(place: Place, looked: Looked, now: number): Promise<void> {
  const docs = looked.docs as Doc[]
  await Promise.all(
    docs.map(async (doc, index) => {
      const over = [...doc.rows.values()].filter((row) => looked.expired.has(row))
      if (over.length === 0) return hint(place, doc, now)
      const unit = new Unit(place, now)
      unit.adopt(doc)
      for (const row of over) await expire(unit, row)
      // What somebody else has ended meanwhile is theirs: the document is looked at as it is now.
      await written(unit)
      docs[index] = (await readDoc(place, doc.id)) ?? { ...doc, rows: new Map() }
    }),
  )
}

/** A lease that was extended beside the document would be looked at by every claim: whoever finds it moves the due time on. */
async function hint(place: Place, doc: Doc, now: number): Promise<void> {
  const rows = [...doc.rows.values()]
  if (!doc.updateTime || !rows.some(({ lease }) => lease && lease.until <= now)) return
  const until = await renewedUntil(place, rows)
  const unit = new Unit(place, now)
  unit.adopt(doc)
  for (const row of rows) {
    const extended = until.get(row.id)
    if (row.lease && extended !== undefined && extended > row.lease.until) row.lease = { ...row.lease, until: extended }
  }
  await written(unit)
}

async function written(unit: Unit): Promise<boolean> {
  try {
    await unit.commit()
    return true
  } catch (error) {
    if (!isConflict(error) || isMissingIndex(error)) throw unwritten(error)
    return unit.wasApplied()
  }
}

/** The first that can be had, in their order; one that is lost to another worker is followed by the next. */
async function takeInOrder(place: Place, rows: readonly Row[], limit: number, stamp: Stamp): Promise<Row[]> {
  const taken: Row[] = []
  for (let from = 0; from < rows.length && taken.length < limit; ) {
    const wanted = rows.slice(from, from + limit - taken.length)
    from += wanted.length
    const byDoc = Map.groupBy(wanted, ({ doc }) => doc)
    const got = await Promise.all([...byDoc].map(([doc, ofDoc]) => takeOf(place, doc, ofDoc, stamp)))
    taken.push(...got.flat())
  }
  return taken.sort(byPlace(place.ageingMs))
}

/** Leases rows of one document together. */
async function takeOf(place: Place, first: Doc, wanted: readonly Row[], stamp: Stamp): Promise<Row[]> {
  const { request, now } = stamp
  const steps = wanted.map(({ step }) => step)
  let doc: Doc | undefined = first
  for (let tries = 1; doc && tries <= TRIES_MAX; tries += 1) {
    const unit: Unit = new Unit(place, now)
    unit.adopt(doc)
    const rows: Row[] = []
    for (const step of steps) {
      const row = doc.rows.get(step)
      // A row that was out under a higher token since is another's affair.
      if (!row || row.token >= stamp.token || !isClaimable(row, request, now)) continue
      lease(row, stamp)
      rows.push(row)
    }
    if (rows.length === 0 || (await written(unit))) return rows
    doc = await readDoc(place, doc.id)
    const isFree = doc && steps.some((step) => isFreeIn(doc, step, stamp))
    if (!isFree) return []
    await systemClock.sleep(WAIT_MIN_MS + Math.floor(systemDice() * WAIT_SPAN_MS))
    doc = await readDoc(place, first.id)
  }
  return []
}

function isFreeIn(doc: Doc | undefined, step: string, { request, now, token }: Stamp): boolean {
  const row = doc?.rows.get(step)
  return row !== undefined && row.token < token && isClaimable(row, request, now)
}

function lease(row: Row, { request, now, token, granted }: Stamp): void {
  const { worker, nonce, alone, leaseMs } = request
  row.state = 'ready'
  for (const need of row.needs ?? []) need.open = false
  row.dueAt = undefined
  row.readyAt = undefined
  row.token = token
  row.lease = { worker, until: now + leaseMs, alone, claimedAt: now, nonce }
  row.startedAt = now
  row.attempt += 1
  row.probes = granted.probesOf(row)
  row.watched = granted.isWatched(row) ? true : undefined
}

/** The answer to this nonce did not arrive: what it still holds is told again. */
async function answerAgain(place: Place, request: ClaimRequest, now: number): Promise<Claim | undefined> {
  const page = await read(place, place.runs.where('nonces', 'array-contains', request.nonce))
  const rows = page.docs
    .flatMap((snapshot) => [...(docOf(place, snapshot)?.rows.values() ?? [])])
    .filter(({ lease: held }) => held?.nonce === request.nonce)
    .sort(byPlace(place.ageingMs))
  const [first] = rows
  if (!first) return undefined
  const until = await renewedUntil(place, rows)
  const runs = await Promise.all(rows.map((row) => claimedOf(place, row, until.get(row.id) ?? now)))
  return { now, token: first.token, runs, suspects: false }
}

/** What is left to claim after this claim, and when there will be more. */
async function outlook(
  place: Place,
  { request, now, granted }: Stamp,
  looked: Looked,
  left: readonly Row[],
): Promise<Pick<Claim, 'nextAt' | 'suspects'>> {
  const open = (row: Row) => granted.isOpen(row)
  const suspects = candidates(place, looked.docs, { ...request, alone: true }, now).some(
    (row) => row.suspect && open(row),
  )
  if (left.some(open)) return { suspects }
  const instants = [await nextDue(place, request, now), granted.opensAt(left)].filter((at) => at !== undefined)
  if (instants.length === 0) return { suspects }
  return { suspects, nextAt: Math.max(now, Math.min(...instants)) }
}
