/**
 * Leases that ended by themselves. Claimed alone, the run is to blame: a lapse, with a row of history. Claimed with others,
 * nobody knows which of them it was: a suspect, to be claimed alone. What that means for the run is decided elsewhere.
 */
import { AGAIN } from './group-commit.ts'
import { wakeAfter } from './keys.ts'
import { readMore, STATE_NUMBER, writeMore } from './row.ts'
import type { Tx } from './session.ts'
import type { ExpiredRow } from './statements.ts'

/** How many leases one transaction ends; more are ended in the next one. */
const EXPIRE_MAX = 500

export function expire(tx: Tx): typeof AGAIN | undefined {
  const expired = tx.statements.expired.all(tx.now, EXPIRE_MAX)
  for (const row of expired) end(tx, row)
  wakeAfter(
    tx,
    expired.map(({ id }) => id),
  )
  return expired.length === EXPIRE_MAX ? AGAIN : undefined
}

function end({ statements, now }: Tx, row: ExpiredRow): void {
  // A person who went away: nothing was executed, so nobody is to blame.
  if (row.state === STATE_NUMBER.review) {
    statements.dropLease.run(row.id)
    return
  }
  const worker = row.worker ?? 'unknown'
  const counted = row.alone === 1
  const more = writeMore({ ...readMore(row.more), lapsed: { worker, counted } })
  // `suspect` is one more than the shared crashes that are not counted yet.
  const shared = Math.max(0, row.suspect - 1)
  if (!counted) {
    statements.lapse.run(shared + 2, 0, more, row.id)
    return
  }
  // It vanished with its owner and nobody else did, so its shared crashes count with this one. A suspect stays one until an
  // attempt of it ends: its next crash must not take neighbours along.
  statements.lapse.run(Math.min(1, row.suspect), 1 + shared, more, row.id)
  const { id, generation, attempt, lease } = row
  statements.insertAttempt.run(id, generation, attempt, lease, worker, row.at ?? now, now, 'lapsed', null)
}
