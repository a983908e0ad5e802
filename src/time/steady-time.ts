/**
 * Time that never goes back, made from a clock that may jump: what a store stamps its rows with.
 * It knows neither stores nor hosts.
 */
import type { Clock } from './clock.ts'

/**
 * After the wall clock was set back, time goes on at half speed until the wall clock has caught up. So leases still end and
 * waits still come due, a little late, and a clock that was once a day ahead does not stay so for ever.
 */
const BEHIND_SPEED = 0.5

export class SteadyTime {
  readonly #clock: Clock
  #last = Number.NEGATIVE_INFINITY
  #lastMonotonic = 0
  #compared: { readonly now: number; readonly monotonic: number } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Epoch milliseconds, whole, never less than before. */
  now(): number {
    const monotonic = this.#clock.monotonic()
    const carried = this.#last + (monotonic - this.#lastMonotonic) * BEHIND_SPEED
    this.#last = Math.max(this.#clock.now(), carried)
    this.#lastMonotonic = monotonic
    return Math.floor(this.#last)
  }

  /** Someone else has already stamped `at`: nothing from here on is earlier. */
  atLeast(at: number): void {
    if (at > this.now()) this.#last = at
  }

  /**
   * How far time has run ahead, since this was last asked, of the time that really passed: the clock was set forward, here or where
   * somebody else stamped, or the machine slept.
   */
  leaptMs(): number {
    const now = this.now()
    const monotonic = this.#lastMonotonic
    const before = this.#compared
    this.#compared = { now, monotonic }
    return before === undefined ? 0 : Math.max(0, Math.floor(now - before.now - (monotonic - before.monotonic)))
  }
}
