/**
 * A steady stream of jobs, some of them submitted twice, so that whatever is done to the workers hits something.
 * Job n of a seed is the same in every run, however the processes race.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { seededDice } from '../../src/time/dice.ts'
import type { Arena } from './arena.ts'
import { jobOf } from './job.ts'

/** Open runs that there should always be. */
const OPEN_MIN = 40
const LOOK_EVERY_MS = 50

const TWICE_EVERY = 10

export class Feeder {
  submitted = 0
  open = 0
  readonly #arena: Arena
  #feeding: Promise<void> | undefined
  #stopped = false

  constructor(arena: Arena) {
    this.#arena = arena
  }

  /** Submits `count` more. */
  async feed(count: number): Promise<void> {
    const from = this.submitted
    this.submitted += Math.max(0, count)
    const numbers = Array.from({ length: this.submitted - from }, (_, index) => from + index)
    await this.again(numbers.flatMap((n) => (n % TWICE_EVERY === 0 ? [n, n] : [n])))
  }

  /** Submits jobs that were submitted before: the same key, the same input. */
  async again(numbers: readonly number[]): Promise<void> {
    await this.#arena.submitter.submitAll(numbers.map((n) => jobOf(n, seededDice(this.#arena.seed + n))))
  }

  /** From now on there is always something open. */
  async start(): Promise<void> {
    await this.feed(OPEN_MIN)
    this.#feeding = this.#keepUp()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#feeding
  }

  async #keepUp(): Promise<void> {
    while (!this.#stopped) {
      this.open = await this.#arena.unfinished()
      await this.feed(OPEN_MIN - this.open)
      await sleep(LOOK_EVERY_MS)
    }
  }
}
