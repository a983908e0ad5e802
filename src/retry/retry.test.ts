import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Failure } from '../failure/failure.ts'
import { isRepriseError } from '../failure/reprise-error.ts'
import { exponential, immediate } from '../policy/backoff.ts'
import { decide } from '../policy/decide.ts'
import { inCall } from '../policy/defaults.ts'
import { definePolicy } from '../policy/define-policy.ts'
import { extraction } from '../policy/presets.ts'
import { EMPTY_LEDGERS } from '../policy/situation.ts'
import { type VirtualClock, virtualClock } from '../testing/virtual-clock.ts'
import { seededDice } from '../time/dice.ts'
import { historyOf, type RetryEntry } from './history.ts'
import type { RetryOptions } from './options.ts'
import { retry } from './retry.ts'
import { RetryError } from './retry-error.ts'

const httpError = (status: number, headers: Record<string, string> = {}) =>
  Object.assign(new Error(`HTTP ${status}`), { status, headers })

/** Throws what is listed, one at a time, then gives 'right'. */
function failing(...errors: unknown[]) {
  let calls = 0
  const fn = () => {
    if (calls++ < errors.length) throw errors[calls - 1]
    return 'right'
  }
  return Object.assign(fn, { calls: () => calls })
}

/** Throws new errors for ever. */
function alwaysFailing(make: () => unknown = () => httpError(503)) {
  const fn = () => {
    fn.calls++
    throw make()
  }
  fn.calls = 0
  return fn
}

let clock: VirtualClock
let base: RetryOptions

beforeEach(() => {
  clock = virtualClock({ startAt: 1_000_000 })
  base = { clock, dice: seededDice(7) }
})

afterEach(() => {
  expect(clock.pending()).toBe(0)
})

/** Settles in virtual time, without letting a rejection go unhandled meanwhile. */
async function settle<T>(promise: Promise<T>): Promise<{ value?: T; error?: unknown }> {
  return clock.runUntilSettled(
    promise.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    ),
  )
}

describe('retry', () => {
  it('gives the first result, of a promise or not, and tells the attempt', async () => {
    expect(await retry(() => 5)).toBe(5)
    expect(await retry(async ({ attempt, signal }) => [attempt, signal.aborted])).toEqual([1, false])
    const attempts: number[] = []
    const flaky = failing(httpError(503), httpError(503))
    const done = await settle(
      retry(({ attempt }) => {
        attempts.push(attempt)
        return flaky()
      }, base),
    )
    expect(done).toEqual({ value: 'right' })
    expect(attempts).toEqual([1, 2, 3])
    expect(clock.now()).toBe(1_004_000)
  })

  it('rethrows the last error itself, unchanged, and keeps the history beside it', async () => {
    const errors = [httpError(503), httpError(502), Object.freeze(httpError(500))]
    const { error } = await settle(retry(failing(...errors), base))
    expect(error).toBe(errors[2])
    expect(Object.keys(error as object)).toEqual(['status', 'headers'])
    const history = historyOf(error)
    expect(
      history.map((entry) => [entry.attempt, entry.at, entry.failure.kind, entry.decision.act, entry.error]),
    ).toEqual([
      [1, 1_000_000, 'transient', 'retry', errors[0]],
      [2, 1_002_000, 'transient', 'retry', errors[1]],
      [3, 1_004_000, 'transient', 'fail', errors[2]],
    ])
    expect(history.at(-1)?.decision.spent).toBe('errors')
    expect(historyOf(new Error('never retried'))).toEqual([])
  })

  it('has a history from which each decision can be computed again', async () => {
    const { error } = await settle(
      retry(
        alwaysFailing(() => httpError(429)),
        base,
      ),
    )
    const [first] = historyOf(error)
    const { failure, dice, at: now, attempt, decision } = first as RetryEntry
    expect(decide({ failure, policy: inCall, ledgers: EMPTY_LEDGERS, now, dice, attempt })).toEqual(decision)
  })

  it('says nothing about a thrown primitive, which nothing can be kept beside, unless it is wrapped', async () => {
    const { error } = await settle(
      retry(
        alwaysFailing(() => 'plain text'),
        base,
      ),
    )
    expect(error).toBe('plain text')
    expect(historyOf(error)).toEqual([])
    const wrapped = await settle(
      retry(
        alwaysFailing(() => 'plain text'),
        { ...base, wrap: true },
      ),
    )
    expect(historyOf(wrapped.error)).toHaveLength(3)
  })

  it('wraps when asked: code, cause, history', async () => {
    const { error } = await settle(retry(alwaysFailing(), { ...base, wrap: true }))
    expect(error).toBeInstanceOf(RetryError)
    expect(isRepriseError(error)).toBe(true)
    const { code, cause, history, message, decision } = error as RetryError
    expect(code).toBe('retry.errors_spent')
    expect(message).toMatch(/^Ended: 3 of 3 transient errors used; last: HTTP 503/)
    expect(cause).toBe(history.at(-1)?.error)
    expect(decision.act).toBe('fail')
    expect(historyOf(error)).toBe(history)
    expect(historyOf(cause)).toBe(history)
  })

  it.each([
    ['a bad key', httpError(401), 1],
    ['a refusal', { kind: 'refused', code: 'x.y', layer: 'workflow', message: 'm', advice: '', rule: 'a/b' }, 1],
    ['a conflict', { kind: 'conflict', code: 'x.y', layer: 'workflow', message: 'm', advice: '', rule: 'a/b' }, 1],
    [
      'a malformed answer',
      { kind: 'syntax', code: 'x.y', layer: 'workflow', message: 'm', advice: '', rule: 'a/b' },
      2,
    ],
    ['a wrong answer', { kind: 'semantic', code: 'x.y', layer: 'workflow', message: 'm', advice: '', rule: 'a/b' }, 3],
    ['an untold rate limit', httpError(429), 5],
    ['an unknown error', new Error('blorp'), 3],
  ])('tries %s as often as the policy says', async (_, thrown, times) => {
    const fn = alwaysFailing(() => thrown)
    expect((await settle(retry(fn, base))).error).toBe(thrown)
    expect(fn.calls).toBe(times)
  })

  it('waits as told', async () => {
    expect(await settle(retry(failing(httpError(429, { 'retry-after': '7' })), base))).toEqual({ value: 'right' })
    expect(clock.now()).toBe(1_007_000)
  })

  it('ends an escalation it cannot make, and tells where it would have gone', async () => {
    const thrown = { kind: 'refused', code: 'x.y', layer: 'workflow', message: 'm', advice: '', rule: 'a/b' }
    const { error } = await settle(
      retry(
        alwaysFailing(() => thrown),
        { ...base, policy: extraction },
      ),
    )
    expect(historyOf(error).at(-1)?.decision).toMatchObject({ act: 'escalate', to: 'person' })
  })

  it('takes a part of a policy, own rules in place of the classifier, and tells each decision', async () => {
    const heard: string[] = []
    const final: Failure = {
      kind: 'final',
      code: 'my.code',
      layer: 'workflow',
      message: 'm',
      advice: '',
      rule: 'my/rule',
    }
    const fn = alwaysFailing()
    await settle(
      retry(fn, {
        ...base,
        policy: { maxAttempts: 9, kinds: { transient: { maxAttempts: 9, backoff: immediate() } } },
        classify: (thrown, { now }) =>
          fn.calls < 4 ? { ...final, kind: 'transient', message: `${now} ${String(thrown)}` } : final,
        onDecision: ({ attempt, decision }) => heard.push(`${attempt} ${decision.act}`),
      }),
    )
    expect(heard).toEqual(['1 retry', '2 retry', '3 retry', '4 fail'])
    expect(clock.now()).toBe(1_000_000)
  })

  it('ends with what onDecision throws', async () => {
    const stop = new Error('stop')
    const fn = alwaysFailing()
    const { error } = await settle(
      retry(fn, {
        ...base,
        onDecision: () => {
          throw stop
        },
      }),
    )
    expect(error).toBe(stop)
    expect(fn.calls).toBe(1)
  })

  it('sets no timer for an immediate retry', async () => {
    const after = vi.fn(clock.after)
    const sleep = vi.fn(clock.sleep)
    const policy = definePolicy({ kinds: { transient: { backoff: immediate() } } }, inCall)
    const done = await retry(failing(httpError(503)), { clock: { ...clock, after, sleep }, policy })
    expect(done).toBe('right')
    expect(after).not.toHaveBeenCalled()
    expect(sleep).not.toHaveBeenCalled()
  })

  it('waits past 2^31 ms', async () => {
    const policy = definePolicy(
      { kinds: { transient: { backoff: exponential({ base: '30d', cap: '30d', jitter: 'none' }) } } },
      inCall,
    )
    expect(await settle(retry(failing(httpError(503)), { ...base, policy }))).toEqual({ value: 'right' })
    expect(clock.now()).toBe(1_000_000 + 30 * 86_400_000)
  })

  it.each<[object, string]>([
    [{ retries: 3 }, 'retry: retries is not an option; allowed are policy, signal, deadline, timeoutMs'],
    [{ timeoutMs: 'soon' }, 'retry.timeoutMs: "soon" is not a duration'],
    [{ deadline: '2026' }, 'retry.deadline: not allowed; allowed are epoch milliseconds'],
    [{ signal: {} }, 'retry.signal: not allowed; allowed are AbortSignals'],
    [{ policy: { maxAttempts: 0 } }, 'policy.maxAttempts: 0 is not allowed; allowed are whole numbers from 1'],
    [{ wrap: 'yes' }, 'retry.wrap: not allowed; allowed are true and false'],
    [{ constructor: 1 }, 'retry: constructor is not an option'],
  ])('refuses %j before anything is called', async (options, message) => {
    const fn = vi.fn()
    await expect(retry(fn, options as RetryOptions)).rejects.toThrow(message)
    expect(() => retry.wrap(fn, options as RetryOptions)).toThrow(message)
    expect(fn).not.toHaveBeenCalled()
  })
})

describe('ending from outside', () => {
  const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length

  it('rejects with the reason before the first call', async () => {
    const fn = vi.fn()
    const reason = new Error('stop')
    const signal = AbortSignal.abort(reason)
    await expect(retry(fn, { ...base, signal })).rejects.toBe(reason)
    expect(fn).not.toHaveBeenCalled()
  })

  it('rejects promptly while waiting, leaving no timer and no listener', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const fn = alwaysFailing()
    const caught = retry(fn, { ...base, signal }).catch((error: unknown) => error)
    await clock.advance(1_000)
    expect([fn.calls, clock.pending(), listeners(signal) > 0]).toEqual([1, 1, true])
    const reason = { any: 'thing' }
    controller.abort(reason)
    expect(await caught).toBe(reason)
    expect([fn.calls, clock.pending(), listeners(signal)]).toEqual([1, 0, 0])
  })

  it('rejects promptly while the function runs, and calls it no more', async () => {
    const controller = new AbortController()
    const { signal } = controller
    let calls = 0
    let seen: AbortSignal | undefined
    const promise = retry(
      (context) => {
        calls++
        seen = context.signal
        return new Promise((_, reject) => context.signal.addEventListener('abort', () => reject(httpError(503))))
      },
      { ...base, signal },
    )
    const reason = new Error('stop')
    controller.abort(reason)
    await expect(promise).rejects.toBe(reason)
    await clock.advance(60_000)
    expect(calls).toBe(1)
    expect(seen?.aborted).toBe(true)
  })

  it.each([
    ['works', () => 'right'],
    ['fails', () => Promise.reject(httpError(401))],
    ['works in the end', failing(httpError(503), httpError(503))],
  ])('leaves no listener on the signal when it %s', async (_, fn) => {
    const { signal } = new AbortController()
    await settle(retry(fn as () => unknown, { ...base, signal, timeoutMs: '1m' }))
    await settle(retry(fn as () => unknown, { ...base, signal }))
    expect(listeners(signal)).toBe(0)
    expect(clock.pending()).toBe(0)
  })

  it('schedules nothing at or past the deadline, and rethrows the last error', async () => {
    const fn = alwaysFailing()
    const { error } = await settle(retry(fn, { ...base, deadline: 1_002_000 }))
    expect(fn.calls).toBe(1)
    expect(historyOf(error).at(-1)?.decision.why.code).toBe('end.deadline')
    expect((error as Error).message).toBe('HTTP 503')
    expect((await settle(retry(alwaysFailing(), { ...base, timeoutMs: '2001ms' }))).error).toBeInstanceOf(Error)
    expect(clock.now()).toBe(1_002_000)
  })

  it('gives up a function that runs past the deadline, and tells it to stop', async () => {
    let seen: AbortSignal | undefined
    const hangs = ({ attempt, signal }: { attempt: number; signal: AbortSignal }) => {
      seen = signal
      if (attempt === 1) throw httpError(503)
      return new Promise(() => {})
    }
    const { error } = await settle(retry(hangs, { ...base, timeoutMs: '5s' }))
    expect(error).toMatchObject({
      code: 'retry.deadline',
      message: expect.stringContaining('attempt 2 was still running after 5 s'),
    })
    expect((error as Error).cause).toMatchObject({ status: 503 })
    expect(historyOf(error)).toHaveLength(1)
    expect(seen?.reason).toBe(error)
    expect(clock.now()).toBe(1_005_000)
  })

  it('calls nothing when the deadline has passed', async () => {
    const fn = vi.fn()
    await expect(retry(fn, { ...base, deadline: 1_000_000 })).rejects.toMatchObject({ code: 'retry.deadline' })
    expect(fn).not.toHaveBeenCalled()
  })
})

describe('layers', () => {
  it('does not multiply tries', async () => {
    const fn = alwaysFailing()
    const { error } = await settle(retry(() => retry(() => retry(fn, base), base), base))
    expect(fn.calls).toBe(3)
    const [entry, ...rest] = historyOf(error)
    expect(rest).toEqual([])
    expect(entry?.decision.why).toMatchObject({ code: 'end.inner' })
    expect(entry?.inner?.[0]?.inner).toHaveLength(3)
  })

  it.each<[string, (cause: unknown) => unknown]>([
    ['a cause', (cause) => new Error('could not load', { cause })],
    ['a cause of a cause', (cause) => new Error('outer', { cause: new Error('inner', { cause }) })],
    ['an aggregate', (cause) => new AggregateError([new Error('other'), cause])],
  ])('sees through %s', async (_, wrapped) => {
    const fn = alwaysFailing()
    await settle(
      retry(async () => {
        try {
          return await retry(fn, base)
        } catch (error) {
          throw wrapped(error)
        }
      }, base),
    )
    expect(fn.calls).toBe(3)
  })

  it('sees through wrap: true and retry.wrap', async () => {
    const fn = alwaysFailing(() => 'a string cannot be marked')
    await settle(retry(retry.wrap(fn, { ...base, wrap: true }), base))
    expect(fn.calls).toBe(3)
  })

  it('multiplies only when asked', async () => {
    const fn = alwaysFailing()
    await settle(retry(() => retry(fn, base), { ...base, again: true }))
    expect(fn.calls).toBe(9)
  })

  it('retries an error object that some earlier, unrelated retry had given up on', async () => {
    const shared = httpError(503)
    const fn = alwaysFailing(() => shared)
    await settle(retry(fn, base))
    await settle(retry(fn, base))
    expect(fn.calls).toBe(6)
  })

  it('retries an old error object also when some other inner retry gives up meanwhile', async () => {
    const old = httpError(503)
    await settle(
      retry(
        alwaysFailing(() => old),
        base,
      ),
    )
    let calls = 0
    const { error } = await settle(
      retry(async () => {
        calls++
        await retry(() => Promise.reject(httpError(401)), base).catch(() => {})
        throw old
      }, base),
    )
    expect([error, calls]).toEqual([old, 3])
  })

  it('retries what fails around an inner retry that worked', async () => {
    const inner = failing(httpError(503))
    const outer = failing(httpError(503))
    const done = await settle(retry(async () => `${await retry(inner, base)} ${outer()}`, base))
    expect(done).toEqual({ value: 'right right' })
  })
})

describe('retry.wrap', () => {
  it('keeps arguments, result and this', async () => {
    const flaky = failing(httpError(503))
    const service = {
      name: 'svc',
      load: retry.wrap(async function (this: { name: string }, id: number, tag?: string) {
        flaky()
        return `${this.name} ${id} ${tag}`
      }, base),
    }
    expect(await settle(service.load(4, 'x'))).toEqual({ value: 'svc 4 x' })
  })

  it('guards each call by its own timeout', async () => {
    const fn = retry.wrap(alwaysFailing(), { ...base, timeoutMs: '3s' })
    const first = await settle(fn())
    expect(historyOf(first.error)).toHaveLength(2)
    expect(historyOf((await settle(fn())).error)).toHaveLength(2)
  })
})
