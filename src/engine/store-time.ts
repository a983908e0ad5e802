/**
 * Store time between answers: the last instant the store told, carried on by the monotonic clock.
 * So no decision compares two hosts' wall clocks, and a jump of ours changes nothing.
 */
import type { Clock } from '../time/clock.ts'

export class StoreTime {
  readonly #clock: Clock
  #toldAt = Number.NEGATIVE_INFINITY
  #told = 0
  #last = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Learns from an answer. What a fast clock of ours ran ahead is corrected here, or it would add up for ever. */
  learn(now: number): number {
    // Told before: all ends of one transaction have the same instant.
    if (now === this.#told) return now
    this.#last = Math.max(this.#last, now)
    this.#told = now
    this.#toldAt = this.#clock.monotonic()
    return now
  }

  /** Before the first answer of the store the time is a guess by our own clock. */
  get isTold(): boolean {
    return this.#toldAt !== Number.NEGATIVE_INFINITY
  }

  /** Never goes back for a reader: it stands still until the store has caught up. */
  now(): number {
    if (this.#toldAt === Number.NEGATIVE_INFINITY) return this.#clock.now()
    this.#last = Math.max(this.#last, Math.floor(this.#told + (this.#clock.monotonic() - this.#toldAt)))
    return this.#last
  }
}
