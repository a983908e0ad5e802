/**
 * The store's time without a clock of this machine: Firestore dates every answer, and between two of them the monotonic clock counts.
 * A clock that is handed in takes its place, for tests and simulations.
 */
import { type Clock, systemClock } from '../../time/clock.ts'

interface Instant {
  toMillis(): number
}

export class StoreTime {
  readonly #clock: Clock | undefined
  #seen: { readonly at: number; readonly monotonic: number } | undefined

  constructor(clock?: Clock) {
    this.#clock = clock
  }

  /** `undefined` before the first answer of the server. */
  get now(): number | undefined {
    if (this.#clock) return this.#clock.now()
    if (!this.#seen) return undefined
    return Math.floor(this.#seen.at + (systemClock.monotonic() - this.#seen.monotonic))
  }

  /** What an answer was dated with. Never goes back: an answer that was slow to arrive says nothing new. */
  saw(instant: Instant | undefined): void {
    if (!instant || this.#clock) return
    const at = instant.toMillis()
    const known = this.now
    if (known === undefined || at > known) this.#seen = { at, monotonic: systemClock.monotonic() }
  }
}
