/**
 * A retry that can be ended from outside: by a signal or by a deadline, promptly, also while the function is running.
 * Whatever happens, no timer and no listener stays behind.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import { systemClock } from '../time/clock.ts'
import { formatDuration } from '../time/duration.ts'
import { type Guard, tryAgain } from './attempts.ts'
import { endingsSoFar, remember } from './history.ts'
import { deadlineOf, type RetryOptions } from './options.ts'

/** One execution, with the signal that tells it to stop. */
export type GuardedExecute<T> = (attempt: number, signal: AbortSignal) => T | PromiseLike<T>

export function runGuarded<T>(run: GuardedExecute<T>, options: RetryOptions): Promise<T> {
  const { signal: outer, clock = systemClock } = options
  if (outer?.aborted) return Promise.reject(outer.reason)
  const startedAt = clock.now()
  const deadlineAt = deadlineOf(options, startedAt)
  if (deadlineAt === undefined && outer) return untilAborted(run, options, { signal: outer, deadlineAt, history: [] })

  const controller = new AbortController()
  const guard: Guard = { signal: controller.signal, deadlineAt, history: [] }
  const limitMs = (deadlineAt ?? startedAt) - startedAt
  if (limitMs <= 0) return Promise.reject(deadlineError(limitMs, guard))
  const passOn = () => controller.abort(outer?.reason)
  outer?.addEventListener('abort', passOn, { once: true })
  const cancel = clock.after(limitMs, () => controller.abort(deadlineError(limitMs, guard)))
  return untilAborted(run, options, guard).finally(() => {
    cancel()
    outer?.removeEventListener('abort', passOn)
  })
}

function untilAborted<T>(run: GuardedExecute<T>, options: RetryOptions, guard: Guard): Promise<T> {
  const { signal } = guard
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    const execute = (attempt: number) => run(attempt, signal)
    firstThenAgain(execute, options, guard).then(
      (value) => {
        signal.removeEventListener('abort', abort)
        resolve(value)
      },
      (error) => {
        signal.removeEventListener('abort', abort)
        reject(error)
      },
    )
  })
}

async function firstThenAgain<T>(
  execute: (attempt: number) => T | PromiseLike<T>,
  options: RetryOptions,
  guard: Guard,
) {
  const mark = endingsSoFar()
  try {
    return await execute(1)
  } catch (thrown) {
    return tryAgain(execute, thrown, mark, options, guard)
  }
}

/** The function itself was cut off, so there is no error of its own to rethrow; the last one before it is the cause. */
function deadlineError(limitMs: number, { history }: Guard): RepriseError {
  const cause = history.at(-1)?.error
  const message =
    limitMs <= 0
      ? 'retry: the deadline had passed before the first attempt; give a later deadline'
      : `retry: attempt ${history.length + 1} was still running after ${formatDuration(limitMs)}; give more time, or make it stop at its signal`
  const error = new RepriseError('retry.deadline', message, cause === undefined ? undefined : { cause })
  remember(error, history)
  return error
}
