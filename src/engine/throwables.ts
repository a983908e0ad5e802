/**
 * What a handler may throw besides errors: wait, never again, a person. And what the engine throws into a handler to make it leave.
 * Each carries a brand that survives copies of the package; none is a failure by itself.
 */
import type { Failure } from '../failure/failure.ts'
import { type FailureError, failure } from '../failure/own.ts'
import type { Why } from '../policy/why.ts'
import type { NewRun } from '../ports/store.ts'
import { type Duration, parseDuration } from '../time/duration.ts'

const BRAND: unique symbol = Symbol.for('reprise.leave') as never

export type Leave =
  | { readonly type: 'later'; readonly delayMs?: number; readonly at?: number; readonly reason?: string }
  | {
      readonly type: 'person'
      readonly queue: string
      readonly reason: string
      readonly withinMs?: number
      /** The question, when there is one; its reply is this entry's answer. */
      readonly asked?: { readonly name: string; readonly inputHash: string; readonly question: string }
    }
  /** The attempt suspends on a sleep that is longer than a process should be kept waiting for. */
  | { readonly type: 'sleep'; readonly name: string; readonly until: number }
  /** The attempt suspends until the children, which begin with its end, have ended. */
  | { readonly type: 'join'; readonly name: string; readonly children: readonly NewRun[] }
  /** A budget is used up: a person gets the run, or it suspends until then, as the reason says. */
  | { readonly type: 'budget'; readonly at: number; readonly why: Extract<Why, { readonly code: 'budget.spent' }> }
  /** The lease is gone: whatever the handler does now, nobody listens. */
  | { readonly type: 'lost' }
  /** Our own stop, or time is up: the attempt ends with this failure. */
  | { readonly type: 'stopped'; readonly failure: Failure }

class LeaveSignal extends Error {
  readonly [BRAND]: Leave
  constructor(leave: Leave, message: string) {
    super(message)
    this.name = 'RepriseLeave'
    this[BRAND] = leave
  }
}

export function leaveOf(thrown: unknown): Leave | undefined {
  return typeof thrown === 'object' && thrown !== null && BRAND in thrown ? (thrown as LeaveSignal)[BRAND] : undefined
}

export const leave = (reason: Leave, message: string): Error => new LeaveSignal(reason, message)

/**
 * Throw this to wait: the attempt ends suspended, which is not an attempt counted, and the handler runs again then.
 * @example throw later('10m', 'the report is not ready')
 */
export function later(when: Duration | { readonly at: number }, reason?: string): Error {
  const told = reason === undefined ? {} : { reason }
  if (typeof when === 'object') return leave({ type: 'later', at: when.at, ...told }, 'later')
  return leave({ type: 'later', delayMs: parseDuration(when), ...told }, 'later')
}

/**
 * Throw this when it cannot ever work as asked: the run fails at once, without a retry.
 * @example throw never('the file is empty')
 */
export function never(message: string, code = 'app.never'): FailureError {
  return failure({ kind: 'final', code, message })
}

/**
 * Throw this to hand the run to a person.
 * @example throw toPerson('the totals cannot be read', { queue: 'accounts', within: '4h' })
 */
export function toPerson(reason: string, options: { readonly queue?: string; readonly within?: Duration } = {}): Error {
  const { queue = 'review', within } = options
  const limit = within === undefined ? {} : { withinMs: parseDuration(within) }
  return leave({ type: 'person', queue, reason, ...limit }, reason)
}
