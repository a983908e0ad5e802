/**
 * How many runs a worker may claim beyond its free slots: what it will start within a quarter of a second, judged by what
 * handlers took so far. Slow handlers get nothing extra, because a run in a queue is a run that another worker cannot have.
 */

const HORIZON_MS = 250

/**
 * Runs in hand at most. A claim refills when half of them are gone, so it takes half as many: with more, a turn of the event loop
 * gets longer and little is gained.
 */
const CLAIM_MAX = 1_000

/** Weight of the newest measurement: some ten runs are enough to change the picture. */
const LEARNING_RATE = 0.1

export class Prefetch {
  readonly #concurrency: number
  #meanMs = Number.POSITIVE_INFINITY

  constructor(concurrency: number) {
    this.#concurrency = concurrency
  }

  learn(ms: number): void {
    this.#meanMs = this.#meanMs === Number.POSITIVE_INFINITY ? ms : this.#meanMs + LEARNING_RATE * (ms - this.#meanMs)
  }

  /** Runs to hold ready besides those in the slots. */
  size(): number {
    if (this.#meanMs >= HORIZON_MS) return 0
    const startedWithin = (this.#concurrency * HORIZON_MS) / Math.max(this.#meanMs, 0.01)
    return Math.max(0, Math.min(CLAIM_MAX - this.#concurrency, Math.floor(startedWithin)))
  }
}
