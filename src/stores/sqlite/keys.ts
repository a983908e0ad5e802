/**
 * Concurrency keys: how many runs of a key are out, and who is woken when one of them makes room.
 * It does not know why room was made; who is parked is decided where runs are chosen.
 */
import type { Tx } from './session.ts'

/** After these runs have left their place, out or ready: wakes the next of their keys. Most files have no keys at all. */
export function wakeAfter(tx: Tx, runs: readonly number[]): void {
  if (!tx.lanes.anyKeyed || runs.length === 0) return
  const keys = new Set(tx.statements.keysAmong.all(JSON.stringify(runs)).map(({ key }) => key))
  for (const key of keys) wake(tx, key)
}

/** Lane by lane, because a worker may serve one of them only, and one may be held: then the others must not wait for it. */
function wake({ statements, now }: Tx, key: string): void {
  let lane = Number.MIN_SAFE_INTEGER
  for (;;) {
    const found = statements.nextParkedLane.get(key, lane)
    if (!found) return
    lane = found.lane
    for (;;) {
      const next = statements.nextParked.get(key, lane)
      if (!next) break
      const out = statements.outOfKey.get(key, next.max)?.runs ?? 0
      const before = statements.readyBefore.get(key, lane, next.place, next.id, next.max)?.runs ?? 0
      if (out + before >= next.max) break
      statements.unpark.run(now, next.id)
    }
  }
}
