/**
 * The options of `retry` and their check at the door, cheap enough to be done on every call.
 * It knows what is allowed and nothing about trying again.
 */
import type { ClassifyOptions } from '../failure/classify.ts'
import type { Failure } from '../failure/failure.ts'
import { isPolicy, type PolicyInput } from '../policy/complete-policy.ts'
import { inCall } from '../policy/defaults.ts'
import { definePolicy } from '../policy/define-policy.ts'
import type { Policy } from '../policy/policy.ts'
import type { Clock } from '../time/clock.ts'
import type { Dice } from '../time/dice.ts'
import { type Duration, parseDuration } from '../time/duration.ts'
import type { RetryEntry } from './history.ts'

export interface RetryOptions {
  /** A policy, or a part of one over `inCall`. Define it once and hand in the same object: it is checked once. */
  readonly policy?: Policy | PolicyInput
  /** Ends everything at once: `retry` rejects with its reason, and the function's own `signal` aborts. */
  readonly signal?: AbortSignal
  /** Epoch milliseconds. Nothing starts at or past it, and what is running then is given up. */
  readonly deadline?: number
  /** The same as a length of time from the call on: 30_000 or "30s". */
  readonly timeoutMs?: Duration
  /** Hears every decision, also the last one. What it throws ends the retry and is thrown. */
  readonly onDecision?: (entry: RetryEntry) => void
  /** Your own classification rules, asked before the built-in ones. */
  readonly rules?: NonNullable<ClassifyOptions['rules']>
  /** Replaces the classifier altogether. */
  readonly classify?: (thrown: unknown, options: ClassifyOptions) => Failure
  /** Throw a `RetryError` with code, history and the last error as its cause, instead of that error itself. */
  readonly wrap?: boolean
  /** Try again even what an inner `retry` has given up on. Tries multiply then. */
  readonly again?: boolean
  readonly clock?: Clock
  readonly dice?: Dice
}

const isFunction = (value: unknown) => typeof value === 'function'
const isBoolean = (value: unknown) => typeof value === 'boolean'
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Field → what is allowed there. Without a prototype, so that `constructor` is no field. */
const FIELDS: Readonly<Record<string, readonly [allows: (value: unknown) => boolean, allowed: string]>> = Object.assign(
  Object.create(null),
  {
    policy: [isObject, 'policies'],
    signal: [(value: unknown) => isObject(value) && 'aborted' in value && 'addEventListener' in value, 'AbortSignals'],
    deadline: [(value: unknown) => Number.isFinite(value), 'epoch milliseconds'],
    timeoutMs: [(value: unknown) => parseDuration(value, 'retry.timeoutMs') >= 0, 'durations'],
    onDecision: [isFunction, 'functions'],
    rules: [isObject, 'what defineRules gives'],
    classify: [isFunction, 'functions'],
    wrap: [isBoolean, 'true and false'],
    again: [isBoolean, 'true and false'],
    clock: [isObject, 'clocks'],
    dice: [isFunction, 'functions'],
  },
)

/** Throws a RangeError that names the field and what is allowed there. */
export function checkOptions(options: RetryOptions): void {
  if (!isObject(options)) throw new RangeError(`retry: options are ${String(options)}; allowed are objects`)
  for (const field in options) {
    const value = options[field as keyof RetryOptions]
    if (value === undefined) continue
    const known = FIELDS[field]
    if (!known) throw new RangeError(`retry: ${field} is not an option; allowed are ${Object.keys(FIELDS).join(', ')}`)
    if (!known[0](value)) throw new RangeError(`retry.${field}: not allowed; allowed are ${known[1]}`)
  }
  policyOf(options)
}

const completed = new WeakMap<object, Policy>()

export function policyOf({ policy }: RetryOptions): Policy {
  if (policy === undefined) return inCall
  if (isPolicy(policy)) return policy
  let complete = completed.get(policy)
  if (!complete) {
    complete = definePolicy(policy, inCall)
    completed.set(policy, complete)
  }
  return complete
}

/** Undefined when neither a deadline nor a timeout is set. */
export function deadlineOf({ deadline, timeoutMs }: RetryOptions, now: number): number | undefined {
  if (timeoutMs === undefined) return deadline
  const byTimeout = now + parseDuration(timeoutMs, 'retry.timeoutMs')
  return deadline === undefined ? byTimeout : Math.min(deadline, byTimeout)
}
