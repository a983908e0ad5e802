/**
 * Waiting for a lock that another connection holds, without ever blocking the event loop.
 * It knows nothing of what the lock is wanted for.
 */
import type { Clock } from '../../time/clock.ts'
import type { Dice } from '../../time/dice.ts'
import { isBusy } from './trouble.ts'

/** Short, because a writer holds the lock for milliseconds; uneven, so that two waiting processes do not keep step. */
const PAUSE_MIN_MS = 1
const PAUSE_SPREAD_MS = 2

export interface Patience {
  readonly clock: Clock
  readonly dice: Dice
  /** The longest wait for the lock, in all. */
  readonly busyMs: number
}

/** Resolves with the answer of `attempt`; throws its error when it is not about the lock, or when patience is at its end. */
export async function patiently<T>({ clock, dice, busyMs }: Patience, attempt: () => T): Promise<T> {
  const startedAt = clock.monotonic()
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || clock.monotonic() - startedAt >= busyMs) throw error
    }
    await clock.sleep(PAUSE_MIN_MS + dice() * PAUSE_SPREAD_MS)
  }
}
