/**
 * `claim` of the Firestore driver: look, choose, and lease each chosen document by an update that holds only if nobody wrote it since.
 * A claim that loses a document goes on with the next; no transaction reads a flow document.
 */
import type { Claim, ClaimRequest } from '../../ports/store.ts'
import { byPlace, expire, isClaimable } from './expire.ts'
import { grant, NO_GATES } from './gates.ts'
import { expiredOf, type Looked, lookForDue, nextDue, read } from './look.ts'
import type { Place } from './place.ts'
import type { Doc, Row } from './row.ts'
import { type Stamp, type Took, takeOfDoc, takeOfKey, written } from './take-rows.ts'
import { turnName } from './turns.ts'
import { atomically, docOf, nowOf, readDoc, Unit } from './unit.ts'
import { claimedOf, renewedUntil } from './views.ts'

export async function claim(place: Place, request: ClaimRequest, isRepeated: boolean): Promise<Claim> {
  const now = await nowOf(place)
  if (isRepeated) {
    const again = await answerAgain(place, request, now)
    if (again) return again
  }
  const limit = request.alone ? Math.min(1, request.limit) : request.limit
  const look = () => lookForDue(place, request, now, (docs) => candidates(place, docs, request, now).length >= limit)
  let looked = await look()
  // Who was woken by the end of a lease stood in none of the documents that were due.
  if (await endLeases(place, looked, now)) looked = await look()
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
  const { taken, parked } = await takeInOrder(place, chosen, granted.gated ? granted.full : rows, limit, stamp)
  const claimed = await Promise.all(taken.map((row) => claimedOf(place, row, now + request.leaseMs)))
  const runs = claimed.map((run) => ({ ...run, ...granted.failing }))
  const left = rows.filter((row) => !parked.has(row.id) && !taken.some(({ id }) => id === row.id))
  const told = await outlook(place, stamp, looked, left)
  // What stood before the rest is out of the way now: the rest can be had at once.
  const isMore = parked.size > 0 && taken.length < limit && !looked.whole
  return { now, token: runs.length > 0 ? stamp.token : 0, runs, ...told, ...(isMore ? { nextAt: now } : {}) }
}

const candidates = (place: Place, docs: readonly Doc[], request: ClaimRequest, now: number): Row[] =>
  docs
    .flatMap(({ rows }) => [...rows.values()])
    .filter((row) => isClaimable(row, request, now))
    .sort(byPlace(place.ageingMs))

/** Leases whose time is over end now, whether or not this claim may have their runs. Answers whether a key has room by that. */
async function endLeases(place: Place, looked: Looked, now: number): Promise<boolean> {
  const docs = looked.docs as Doc[]
  const keyed = docs.filter(({ rows }) => [...rows.values()].some((row) => row.concurrency && looked.expired.has(row)))
  await Promise.all(
    docs.map(async (doc, index) => {
      if (keyed.includes(doc)) return
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
  // Those of one key write its line: one after the other, so that none comes second.
  for (const { id, rows } of keyed) {
    const over = new Set([...rows.values()].filter((row) => looked.expired.has(row)).map(({ step }) => step))
    await atomically(place, async (unit) => {
      const doc = await unit.doc(id)
      const expired = await expiredOf(place, doc ? [doc] : [], unit.now)
      for (const row of expired) if (over.has(row.step)) await expire(unit, row)
    })
  }
  return keyed.length > 0
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

/** The first that can be had, in their order; one that is lost to another worker, or parked, is followed by the next. */
async function takeInOrder(
  place: Place,
  rows: readonly Row[],
  met: readonly Row[],
  limit: number,
  stamp: Stamp,
): Promise<{ readonly taken: Row[]; readonly parked: ReadonlySet<string> }> {
  const taken: Row[] = []
  const parked = new Set<string>()
  const waiting = Map.groupBy(met.filter(isKeyed), turnName)
  const note = (took: readonly Took[]) => {
    for (const each of took) {
      taken.push(...each.taken)
      for (const id of each.parked) parked.add(id)
    }
  }
  for (let from = 0; from < rows.length && taken.length < limit; ) {
    const wanted = rows.slice(from, from + limit - taken.length)
    from += wanted.length
    const free = wanted.filter((row) => !parked.has(row.id))
    const byKey = Map.groupBy(free.filter(isKeyed), turnName)
    const byDoc = Map.groupBy(
      free.filter((row) => !isKeyed(row)),
      ({ doc }) => doc,
    )
    const ofDocs = [...byDoc].map(([doc, ofDoc]) => takeOfDoc(place, doc, ofDoc, stamp))
    const ofKeys = [...byKey].map(([name, ofKey]) => {
      const behind = waiting.get(name) ?? []
      waiting.delete(name)
      return takeOfKey(place, ofKey, behind, stamp)
    })
    note(await Promise.all([...ofDocs, ...ofKeys]))
  }
  // Who passed all gates but its key's is parked; who was not met stays as it is.
  if (stamp.granted.gated)
    note(await Promise.all([...waiting.values()].map((full) => takeOfKey(place, [], full, stamp))))
  return { taken: taken.sort(byPlace(place.ageingMs)), parked }
}

const isKeyed = ({ concurrency }: Row): boolean => concurrency !== undefined

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
