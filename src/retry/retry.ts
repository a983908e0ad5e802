/**
 * `retry`: call a function until it works or its policy says stop, in this process and without a store.
 * This file is the fast way in: a first try that works costs one promise and no policy is looked at.
 */
import { tryAgain } from './attempts.ts'
import { runGuarded } from './guard.ts'
import { endingsSoFar } from './history.ts'
import { checkOptions, type RetryOptions } from './options.ts'

export interface RetryContext {
  /** 1 for the first try. */
  readonly attempt: number
  /** Aborts when the retry is ended from outside: by the `signal` option, the deadline or the timeout. */
  readonly signal: AbortSignal
}

/** The context of an unguarded try: nothing can end it, so the signal, if anyone asks for one, never aborts. */
class Unguarded implements RetryContext {
  readonly attempt: number

  constructor(attempt: number) {
    this.attempt = attempt
  }

  get signal(): AbortSignal {
    return new AbortController().signal
  }
}

/** Shared by all first tries; a fresh signal for each reader, so that no listener piles up on a shared one. */
const FIRST: RetryContext = Object.freeze(new Unguarded(1))

/**
 * Calls `fn` until it works. Failures are classified, and the policy (`inCall` unless given) decides about each of them.
 * When it gives up it rejects with the last error exactly as it was thrown; `historyOf(error)` tells the rest.
 * @example await retry(() => fetch(url), { timeoutMs: '30s' })
 */
export async function retry<T>(
  fn: (context: RetryContext) => T | PromiseLike<T>,
  options?: RetryOptions,
): Promise<Awaited<T>> {
  if (options !== undefined) {
    checkOptions(options)
    if (isGuarded(options))
      return runGuarded((attempt, signal) => fn({ attempt, signal }), options) as Promise<Awaited<T>>
  }
  const mark = endingsSoFar()
  // The function is called from here and not from one frame deeper: each frame makes the stack of an error dearer.
  try {
    return await fn(FIRST)
  } catch (thrown) {
    return (await tryAgain((attempt) => fn(new Unguarded(attempt)), thrown, mark, options)) as Awaited<T>
  }
}

/**
 * A function with the same arguments that retries. Bad options are thrown here and not at each call.
 * The wrapped function sees its own arguments and `this` only; use `retry` with a closure for the context.
 */
retry.wrap = function wrap<Args extends unknown[], T>(
  fn: (...args: Args) => T | PromiseLike<T>,
  options: RetryOptions = {},
): (...args: Args) => Promise<Awaited<T>> {
  checkOptions(options)
  if (isGuarded(options)) {
    return function guarded(this: unknown, ...args) {
      return runGuarded(() => fn.apply(this, args), options) as Promise<Awaited<T>>
    }
  }
  return async function retried(this: unknown, ...args): Promise<Awaited<T>> {
    const mark = endingsSoFar()
    try {
      return (await fn.apply(this, args)) as Awaited<T>
    } catch (thrown) {
      return (await tryAgain(() => fn.apply(this, args), thrown, mark, options)) as Awaited<T>
    }
  }
}

function isGuarded({ signal, deadline, timeoutMs }: RetryOptions): boolean {
  return signal !== undefined || deadline !== undefined || timeoutMs !== undefined
}
