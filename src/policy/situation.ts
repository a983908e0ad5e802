/**
 * Everything `decide` may look at. Time and dice are inputs and are stored beside the decision,
 * so that any decision can be computed again later and must come out the same.
 */
import type { Failure, Kind } from '../failure/failure.ts'
import type { Policy } from './policy.ts'

/**
 * The six ledgers. Each execution that does not succeed or suspend makes at most one entry in one of them;
 * each is bounded by the policy, so their sum bounds all executions and none starves another.
 */
export interface Ledgers {
  readonly errors: number
  readonly rateWaits: number
  readonly interruptions: number
  readonly lapses: number
  /** Corrections on the current rung. */
  readonly repairs: number
  readonly escalations: number
  /** How many of the errors were of each kind. */
  readonly errorsByKind: Readonly<Partial<Record<Kind, number>>>
}

export type LedgerName = Exclude<keyof Ledgers, 'errorsByKind'>

export const EMPTY_LEDGERS: Ledgers = {
  errors: 0,
  rateWaits: 0,
  interruptions: 0,
  lapses: 0,
  repairs: 0,
  escalations: 0,
  errorsByKind: {},
}

export interface Situation {
  readonly failure: Failure
  readonly policy: Policy
  /** The entries made before this failure. */
  readonly ledgers: Ledgers
  /** Epoch milliseconds, store time where there is a store. */
  readonly now: number
  /** One draw from [0, 1). */
  readonly dice: number
  /** Nothing may be scheduled at or past this instant. */
  readonly deadlineAt?: number
  /** Position on `policy.ladder`; 0 when absent. */
  readonly rung?: number
  /** Same failure fingerprint and same answer as the take before: a repeat cannot help. */
  readonly noProgress?: boolean
}
