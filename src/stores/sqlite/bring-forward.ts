/**
 * A resource answers again: runs that wait to try it again become ready, and are let in as the gates allow.
 * Only those that were claimed before it answered; who fails after that waits as its policy says.
 */
import { covers, type HoldTarget } from '../../run/hold.ts'
import { AGAIN } from './group-commit.ts'
import type { Tx } from './session.ts'

/** How many runs one transaction brings forward; more are brought forward in the next one. */
const FORWARD_MAX = 1_000

/** Of all that heals now. Most often nothing does. */
export function bringForward(tx: Tx): typeof AGAIN | undefined {
  const { holds, buckets } = tx.lanes
  if (holds.size === 0 && buckets.size === 0) return undefined
  for (const { what, phase, healedAfter } of holds.values()) {
    if (phase === 'admitting' && healedAfter !== undefined && bringForwardOf(tx, what, healedAfter)) return AGAIN
  }
  for (const { resource, phase, healedAfter } of buckets.values()) {
    if (phase !== 'healing' || healedAfter === undefined) continue
    if (bringForwardOf(tx, `resource:${resource}`, healedAfter)) return AGAIN
  }
  return undefined
}

/** Of what this names, those that were claimed under this token or an earlier one. True when there may be more. */
export function bringForwardOf({ lanes, statements, now }: Tx, what: HoldTarget, healedAfter: number): boolean {
  let left = FORWARD_MAX
  for (const lane of lanes.numbers()) {
    if (!lanes.isAgain(lane) || !covers(what, lanes.laneOf(lane))) continue
    left -= statements.bringForward.run(now, lane, healedAfter, left).changes
    if (left <= 0) return true
  }
  return false
}
