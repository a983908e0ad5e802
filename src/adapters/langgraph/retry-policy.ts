/**
 * `retryPolicy`: one of our policies as LangGraph's own, for `addNode`. Only the workflow's failures are repeated by the graph, as
 * often and as late as the policy says; infrastructure is repeated below it or not at all.
 */
import { classify as classifyThrown } from '../../failure/classify.ts'
import type { Failure } from '../../failure/failure.ts'
import { applyEntry, decide } from '../../policy/decide.ts'
import { executionsBound } from '../../policy/executions-bound.ts'
import type { Policy } from '../../policy/policy.ts'
import { presets } from '../../policy/presets.ts'
import { EMPTY_LEDGERS, type Ledgers } from '../../policy/situation.ts'
import { type Clock, systemClock } from '../../time/clock.ts'
import { type Dice, systemDice } from '../../time/dice.ts'
import { type Mode, modeOf } from '../mode.ts'

/** LangGraph's RetryPolicy, without its package. */
export interface GraphRetryPolicy {
  initialInterval?: number
  backoffFactor?: number
  maxInterval?: number
  maxAttempts?: number
  jitter?: boolean
  retryOn?: (error: unknown) => boolean
  logWarning?: boolean
}

export interface RetryPolicyOptions {
  readonly mode?: Mode
  /** In mode `observe`: the policy that the node has had so far, and keeps. */
  readonly present?: GraphRetryPolicy
  readonly classify?: (thrown: unknown, options: { readonly now: number }) => Failure
  /** Hears of every failure and whether the graph repeats the node for it, or in mode `observe` would. */
  readonly onFailure?: (failure: Failure, repeats: boolean) => void
  readonly clock?: Clock
  readonly dice?: Dice
}

/** Tasks whose ledgers are kept. LangGraph does not tell when a task ends, so the oldest are forgotten. */
const TASKS_MAX = 1_000

/**
 * @example graph.addNode('generate', generate, { retryPolicy: retryPolicy(presets.sqlAgent) })
 */
export function retryPolicy(policy: Policy = presets.sqlAgent, options: RetryPolicyOptions = {}): GraphRetryPolicy {
  const { present = {}, classify = classifyThrown, onFailure, clock = systemClock, dice = systemDice } = options
  const tasks = new Map<unknown, Ledgers>()
  let delayMs = 0

  const judge = (error: unknown): boolean => {
    const now = clock.now()
    const failure = classify(error, { now })
    const task = (error as { readonly pregelTaskId?: unknown } | null)?.pregelTaskId
    const ledgers = tasks.get(task) ?? EMPTY_LEDGERS
    const decision = decide({ failure, policy, ledgers, now, dice: dice() })
    const repeats = failure.layer === 'workflow' && decision.act === 'retry'
    // Deleted first, so that the newest is last; and for good when the task ends here, because a resumed one has the same name.
    tasks.delete(task)
    if (repeats) tasks.set(task, applyEntry(ledgers, decision, failure))
    if (tasks.size > TASKS_MAX) tasks.delete(tasks.keys().next().value)
    delayMs = Math.max(0, (decision.at ?? now) - now)
    onFailure?.(failure, repeats)
    return repeats
  }

  if (modeOf(options.mode) === 'observe') {
    return {
      ...present,
      retryOn: (error) => {
        judge(error)
        return (present.retryOn ?? likeLangGraph)(error)
      },
    }
  }
  return {
    maxAttempts: executionsBound(policy),
    backoffFactor: 1,
    maxInterval: Number.MAX_SAFE_INTEGER,
    jitter: false,
    logWarning: false,
    retryOn: judge,
    // LangGraph asks for it right after `retryOn`, in the same turn: it is the wait that was decided for that very error.
    get initialInterval() {
      return delayMs
    },
  }
}

/** What LangGraph repeats when nobody says otherwise: everything but cancellations and requests that were wrong. */
function likeLangGraph(error: unknown): boolean {
  const { name, message, code, status, response } = (error ?? {}) as Record<string, unknown> & {
    readonly response?: { readonly status?: unknown }
  }
  if (name === 'AbortError' || /^(?:Cancel|AbortError)/.test(String(message)) || code === 'ECONNABORTED') return false
  if (name === 'GraphValueError') return false
  const number = Number(response?.status ?? status)
  return !((number >= 400 && number <= 407) || number === 409)
}
