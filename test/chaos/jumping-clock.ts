/**
 * A host's clock that somebody sets a day forward, a day back, or right again. Processes with one seed see the same jumps, as the
 * processes of one host do; the monotonic clock and timers are the platform's own.
 */
import { type Clock, systemClock } from '../../src/time/clock.ts'
import { seededDice } from '../../src/time/dice.ts'

const DAY_MS = 86_400_000

export interface JumpingClock extends Clock {
  jump(): void
}

export function jumpingClock(seed: number): JumpingClock {
  const dice = seededDice(seed)
  let days = 0
  return {
    ...systemClock,
    now: () => systemClock.now() + days * DAY_MS,
    jump: () => {
      // Always another day than before: -1, 0 or 1.
      days = ((days + 2 + Math.floor(dice() * 2)) % 3) - 1
    },
  }
}
