/**
 * A clock that moves only when told to. Timers fire in the order of their times, those of one instant in the order they
 * were set, and everything a timer sets off has run before the next one fires; no platform timer is ever used.
 */
import { type Cancel, type Clock, sleepBy, turn } from '../time/clock.ts'

export interface VirtualClock extends Clock {
  /** Moves on by `ms`, firing what becomes due on the way, also timers that are set meanwhile. */
  advance(ms: number): Promise<void>
  /** Moves to an instant of the wall clock. Going back is refused. */
  advanceTo(at: number): Promise<void>
  /** Moves from timer to timer until `promise` is settled, and gives its outcome. Fails when no timer is left to wait for. */
  runUntilSettled<T>(promise: PromiseLike<T>): Promise<T>
  /** Moves from timer to timer until none is left. Fails after `max` timers, because something sets them for ever. */
  runUntilIdle(max?: number): Promise<void>
  /** Timers that have not fired. 0 at the end of a test proves that nothing leaked. */
  pending(): number
}

interface Timer {
  readonly dueAt: number
  readonly order: number
  readonly run: () => void
}

export interface VirtualClockOptions {
  /** Epoch milliseconds; 2026-01-01T00:00:00Z when absent. */
  readonly startAt?: number
}

const START_AT = 1_767_225_600_000
const TIMERS_MAX = 100_000

export function virtualClock({ startAt = START_AT }: VirtualClockOptions = {}): VirtualClock {
  if (!Number.isFinite(startAt))
    throw new RangeError(`startAt: ${startAt} is not an instant; allowed are epoch milliseconds`)
  const timers = new Set<Timer>()
  let now = startAt
  let set = 0

  const after = (ms: number, run: () => void): Cancel => {
    const timer = { dueAt: now + Math.max(0, ms), order: set++, run }
    timers.add(timer)
    return () => timers.delete(timer)
  }

  const next = (): Timer | undefined => {
    let first: Timer | undefined
    for (const timer of timers) {
      if (!first || timer.dueAt < first.dueAt || (timer.dueAt === first.dueAt && timer.order < first.order))
        first = timer
    }
    return first
  }

  const fire = async (timer: Timer): Promise<void> => {
    timers.delete(timer)
    now = Math.max(now, timer.dueAt)
    timer.run()
    await turn()
  }

  const advanceTo = async (at: number): Promise<void> => {
    if (!(at >= now)) throw new RangeError(`at: ${at} is before now, ${now}; a clock does not go back`)
    await turn()
    for (let timer = next(); timer && timer.dueAt <= at; timer = next()) await fire(timer)
    now = at
  }

  return {
    now: () => now,
    monotonic: () => now - startAt,
    after,
    sleep: (ms, signal) => sleepBy(after, ms, signal),
    advance: (ms) => advanceTo(now + ms),
    advanceTo,
    async runUntilSettled(promise) {
      let settled = false
      const done = () => {
        settled = true
      }
      promise.then(done, done)
      await turn()
      for (let fired = 0; !settled; fired++) {
        const timer = next()
        if (!timer) throw new Error('the promise waits for something that is not a timer of this clock')
        if (fired === TIMERS_MAX) throw new Error(`the promise is not settled after ${TIMERS_MAX} timers`)
        await fire(timer)
      }
      return promise
    },
    async runUntilIdle(max = TIMERS_MAX) {
      await turn()
      let fired = 0
      for (let timer = next(); timer; timer = next()) {
        if (fired++ === max) throw new Error(`timers are still being set after ${max} of them`)
        await fire(timer)
      }
    },
    pending: () => timers.size,
  }
}
