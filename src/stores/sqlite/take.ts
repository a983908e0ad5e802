/**
 * `take`: a person's lease on a run in review.
 * It compares and swaps; what the person may answer is decided elsewhere.
 */
import type { Taken, TakeRequest } from '../../ports/store.ts'
import type { Work } from './group-commit.ts'
import { numberOf, STATE_NUMBER } from './row.ts'
import type { Tx } from './session.ts'

/** In the place of a claim's nonce, which no worker makes so: a person who asks again gets a new token. */
const NONCE = 'take'

export function takeWork(request: TakeRequest): Work<Taken> {
  return { rows: 1, wakes: false, execute: (tx) => take(tx, request) }
}

function take({ statements, now }: Tx, { run, by, leaseMs, expect }: TakeRequest): Taken {
  const id = numberOf(run)
  const row = statements.takeable.get(id)
  const isExpected = row?.state === STATE_NUMBER.review && row.generation === expect.generation
  const isFree = row?.lease_until == null || row.lease_until <= now || row.worker === by
  if (!isExpected || !isFree) return { now, answer: 'lost' }
  const token = Number(statements.insertClaim.run(by, NONCE, 0, now).lastInsertRowid)
  statements.take.run(token, now + leaseMs, id)
  statements.insertNote.run(run, now, by, 'review.taken', JSON.stringify({ token }))
  return { now, answer: 'ok', token }
}
