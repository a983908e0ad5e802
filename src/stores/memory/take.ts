/**
 * `take` of the memory driver: a person's lease on a run in review.
 * It compares and swaps; what the person may answer is decided elsewhere.
 */
import type { Taken, TakeRequest } from '../../ports/store.ts'
import type { Tables } from './rows.ts'

export function take(tables: Tables, { run, by, leaseMs, expect }: TakeRequest, now: number): Taken {
  const row = tables.runs.get(run)
  const isExpected = row?.state === 'review' && row.generation === expect.generation
  const isFree = !row?.lease || row.lease.until <= now || row.lease.worker === by
  if (!row || !isExpected || !isFree) return { now, answer: 'lost' }
  tables.last.token += 1
  const { token } = tables.last
  tables.claims.set(token, { worker: by, nonce: '', at: now, runs: [run] })
  row.lease = { token, worker: by, until: now + leaseMs, alone: false, claimedAt: now }
  tables.notes.push({ run, by, what: 'review.taken', data: { token }, at: now })
  return { now, answer: 'ok', token }
}
