/**
 * The simulated world: one queue of things that will happen, in the order of their times, and the time they give.
 * It waits for each of them to be over, whatever it sets off, so that a seed alone decides what happens when.
 */
import { type Cancel, type Clock, sleepBy, turn } from '../../time/clock.ts'

interface Happening {
  readonly at: number
  readonly order: number
  readonly run: () => unknown
  cancelled: boolean
}

/** 1 January 2026, as good as any: whole and far from zero. */
export const WORLD_BEGINS_AT = 1_767_225_600_000

export class World {
  readonly #heap: Happening[] = []
  #order = 0
  #now = WORLD_BEGINS_AT
  /** Things that have happened so far. */
  steps = 0

  get now(): number {
    return this.#now
  }

  /** The clock of the store: true, and the measure of everything else. */
  readonly clock: Clock = {
    now: () => this.#now,
    monotonic: () => this.#now - WORLD_BEGINS_AT,
    after: (ms, run) => this.after(ms, run),
    sleep: (ms, signal) => sleepBy((inMs, run) => this.after(inMs, run), ms, signal),
  }

  /** Lets `run` happen `ms` from now, whole milliseconds; things of one instant happen in the order they were told. */
  after(ms: number, run: () => unknown): Cancel {
    const happening = { at: this.#now + Math.max(0, Math.ceil(ms)), order: this.#order++, run, cancelled: false }
    this.#push(happening)
    return () => {
      happening.cancelled = true
    }
  }

  /** Lets the next thing happen, and everything that it sets off. False when nothing is left. */
  async step(): Promise<boolean> {
    let next = this.#pop()
    while (next?.cancelled) next = this.#pop()
    if (!next) return false
    this.#now = Math.max(this.#now, next.at)
    this.steps += 1
    const over = next.run()
    if (over instanceof Promise) await over
    await turn()
    return true
  }

  #push(happening: Happening): void {
    const heap = this.#heap
    let index = heap.push(happening) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!earlier(happening, heap[parent] as Happening)) break
      heap[index] = heap[parent] as Happening
      index = parent
    }
    heap[index] = happening
  }

  #pop(): Happening | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (!first || !last || heap.length === 0) return first
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && earlier(heap[child + 1] as Happening, heap[child] as Happening)) child += 1
      if (!earlier(heap[child] as Happening, last)) break
      heap[index] = heap[child] as Happening
      index = child
    }
    heap[index] = last
    return first
  }
}

const earlier = (a: Happening, b: Happening): boolean => a.at < b.at || (a.at === b.at && a.order < b.order)
