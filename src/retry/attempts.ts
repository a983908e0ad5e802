/**
 * The loop after a first failure: classify, decide, tell, wait, try again, until it works or the policy says stop.
 * The first, usually successful try never comes here.
 */
import { classify as classifyThrown } from '../failure/classify.ts'
import type { Failure } from '../failure/failure.ts'
import { applyEntry, decide } from '../policy/decide.ts'
import type { Decision } from '../policy/decision.ts'
import { EMPTY_LEDGERS } from '../policy/situation.ts'
import { systemClock } from '../time/clock.ts'
import { systemDice } from '../time/dice.ts'
import { endingsSoFar, innerHistory, type RetryEntry, type RetryHistory, remember } from './history.ts'
import { policyOf, type RetryOptions } from './options.ts'
import { classifyAgain } from './recall.ts'
import { RetryError } from './retry-error.ts'

/** One execution of the user's function; the number is that of the execution, from 1. */
export type Execute<T> = (attempt: number) => T | PromiseLike<T>

/** What a guarded retry adds: the signal that ends it, the deadline, and a place that keeps the history within sight. */
export interface Guard {
  readonly signal: AbortSignal
  readonly deadlineAt: number | undefined
  history: RetryHistory
}

const NO_OPTIONS: RetryOptions = Object.freeze({})

/**
 * Goes on after `thrown` came out of the first execution, which had begun at `mark` in the order of endings.
 * Resolves with the first result; rejects with the last error as it was thrown.
 */
export async function tryAgain<T>(
  execute: Execute<T>,
  thrown: unknown,
  mark: number,
  options: RetryOptions = NO_OPTIONS,
  guard?: Guard,
): Promise<T> {
  const { clock = systemClock, dice: roll = systemDice, onDecision } = options
  const policy = policyOf(options)
  const deadline = guard?.deadlineAt === undefined ? undefined : { deadlineAt: guard.deadlineAt }
  const history: RetryEntry[] = []
  if (guard) guard.history = history
  let ledgers = EMPTY_LEDGERS
  for (let attempt = 1; ; attempt++) {
    guard?.signal.throwIfAborted()
    const now = clock.now()
    const dice = roll()
    const failure = failureOf(thrown, now, options)
    const inner = options.again ? undefined : innerHistory(thrown, mark)
    const situation = { failure, policy, ledgers, now, dice, attempt }
    const decision = inner
      ? innerDecision(inner, failure.message)
      : decide(deadline ? { ...situation, ...deadline } : situation)
    const told = { attempt, at: now, dice, failure, decision, error: thrown }
    const entry: RetryEntry = inner ? { ...told, inner } : told
    history.push(entry)
    onDecision?.(entry)
    // There is no ladder to climb here, so an escalation is an end too; the history tells where it would have gone.
    if (decision.act !== 'retry') throw ending(thrown, decision, history, options)
    ledgers = applyEntry(ledgers, decision, failure)
    const waitMs = (decision.at ?? now) - now
    if (waitMs > 0) await clock.sleep(waitMs, guard?.signal)
    mark = endingsSoFar()
    try {
      return await execute(attempt + 1)
    } catch (next) {
      thrown = next
    }
  }
}

function failureOf(thrown: unknown, now: number, { classify, rules }: RetryOptions): Failure {
  if (classify === undefined && rules === undefined) return classifyAgain(thrown, now)
  return (classify ?? classifyThrown)(thrown, rules === undefined ? { now } : { now, rules })
}

function innerDecision(inner: RetryHistory, message: string): Decision {
  const why = { code: 'end.inner', params: { attempts: inner.length, message } } as const
  return { act: 'fail', counted: true, entry: 'errors', why }
}

function ending(thrown: unknown, decision: Decision, history: RetryHistory, { wrap }: RetryOptions): unknown {
  remember(thrown, history)
  if (!wrap) return thrown
  const wrapped = new RetryError(decision, history, thrown)
  remember(wrapped, history)
  return wrapped
}
