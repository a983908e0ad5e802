/**
 * What time does to a row: leases that end by themselves, waits that are over, and whether a claim may then have it.
 * It counts what happened to a lease and never judges it.
 */
import type { ClaimRequest } from '../../ports/store.ts'
import { placeOf } from '../../run/place.ts'
import { EMPTY_LEDGERS } from '../../run/run.ts'
import { isHeldUp, type Row } from './row.ts'
import type { Unit } from './unit.ts'

export async function expire(unit: Unit, row: Row): Promise<void> {
  const { lease } = row
  if (!lease) return
  await unit.revoke(row)
  row.lease = undefined
  row.probes = undefined
  // A person who went away: nothing was executed, so nobody is to blame.
  if (row.state === 'review') return
  row.readyAt = lease.until
  row.lapsed = { worker: lease.worker, counted: lease.alone }
  if (!lease.alone) {
    row.suspect = true
    row.uncounted = (row.uncounted ?? 0) + 1
    return
  }
  // It vanished with its owner and nobody else did, so it counts; a suspect's shared crash counts with it.
  const ledgers = row.ledgers ?? EMPTY_LEDGERS
  row.ledgers = { ...ledgers, lapses: ledgers.lapses + 1 + (row.uncounted ?? 0) }
  row.uncounted = 0
  unit.record(row, {
    generation: row.generation,
    attempt: row.attempt,
    token: row.token,
    worker: lease.worker,
    startedAt: lease.claimedAt,
    endedAt: unit.now,
    outcome: 'lapsed',
  })
}

/** What the row is like to a claim: a wait that is over is none. */
export function isClaimable(row: Row, { tasks, categories, alone }: ClaimRequest, now: number): boolean {
  if (row.lease || !tasks.includes(row.lane.task) || (row.suspect && !alone)) return false
  if (categories !== undefined && !(row.lane.category !== undefined && categories.includes(row.lane.category)))
    return false
  return isReady(row, now)
}

/** Ready, or about to be: what is due is promoted by the claim that takes it. */
export function isReady(row: Row, now: number): boolean {
  if (row.lease || isHeldUp(row)) return false
  return (
    row.state === 'ready' || row.state === 'blocked' || (isWaiting(row) && row.dueAt !== undefined && row.dueAt <= now)
  )
}

const isWaiting = ({ state }: Row): boolean => state === 'waiting' || state === 'review'

/** The order of claims: by place, then by submit. */
export function byPlace(ageingMs: number): (a: Row, b: Row) => number {
  const place = ({ priority, submittedAt, setFor }: Row) => placeOf({ priority, submittedAt, dueAt: setFor }, ageingMs)
  return (a, b) => place(a) - place(b) || (a.doc.order < b.doc.order ? -1 : a.doc.order > b.doc.order ? 1 : a.n - b.n)
}
