/**
 * The only door to time: the wall clock, the monotonic clock and timers.
 * Code that takes a Clock can be run in virtual time and replayed.
 */

/** The longest delay a platform timer can hold; a longer one would fire at once, so it is cut into chunks. */
const TIMER_MAX_MS = 2_147_483_647

export interface Clock {
  /** Wall clock, epoch milliseconds. May jump; never use it to measure a duration. */
  now(): number
  /** Milliseconds from an arbitrary origin; never goes back. */
  monotonic(): number
  /**
   * Resolves after `ms`, also for waits past the platform's timer limit. Rejects with the signal's reason when
   * aborted, leaving no timer and no listener behind. 0 resolves without a timer.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleepInChunks(ms, signal),
}

function sleepInChunks(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.reject(signal.reason)
  if (!(ms > 0)) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const endsAt = performance.now() + ms
    let timer: NodeJS.Timeout
    const arm = () => {
      const left = endsAt - performance.now()
      if (left <= 0) {
        signal?.removeEventListener('abort', abort)
        resolve()
      } else timer = setTimeout(arm, Math.min(Math.ceil(left), TIMER_MAX_MS))
    }
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', abort, { once: true })
    arm()
  })
}
