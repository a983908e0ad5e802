/**
 * The only door to time: the wall clock, the monotonic clock and timers.
 * Code that takes a Clock can be run in virtual time and replayed.
 */

/** The longest delay a platform timer can hold; a longer one would fire at once, so it is cut into chunks. */
const TIMER_MAX_MS = 2_147_483_647

/** Takes a timer back. Harmless after it has fired and when called twice. */
export type Cancel = () => void

export interface Clock {
  /** Wall clock, epoch milliseconds. May jump; never use it to measure a duration. */
  now(): number
  /** Milliseconds from an arbitrary origin; never goes back. */
  monotonic(): number
  /** Calls `run` once, not before `ms` have passed, also for waits past the platform's timer limit. Never calls it synchronously. */
  after(ms: number, run: () => void): Cancel
  /**
   * Resolves after `ms`, also for waits past the platform's timer limit. Rejects with the signal's reason when
   * aborted, leaving no timer and no listener behind. 0 resolves without a timer.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: afterInChunks,
  sleep: (ms, signal) => sleepBy(afterInChunks, ms, signal),
}

function afterInChunks(ms: number, run: () => void): Cancel {
  const endsAt = performance.now() + ms
  let timer: NodeJS.Timeout
  const arm = (left: number) => {
    timer = setTimeout(fire, Math.min(Math.max(0, Math.ceil(left)), TIMER_MAX_MS))
  }
  // A platform timer may fire a little early, and a chunk always does: look at the clock again.
  const fire = () => {
    const left = endsAt - performance.now()
    if (left > 0) arm(left)
    else run()
  }
  arm(ms)
  return () => clearTimeout(timer)
}

/** The law of `Clock.sleep`, for any clock that has `after`. */
export function sleepBy(after: Clock['after'], ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.reject(signal.reason)
  if (!(ms > 0)) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const abort = () => {
      cancel()
      reject(signal?.reason)
    }
    const cancel = after(ms, () => {
      signal?.removeEventListener('abort', abort)
      resolve()
    })
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/** Resolves when everything that was ready to run has run: all microtasks, and one turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
