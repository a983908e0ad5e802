/**
 * Everything `decide` may look at. Time and dice are inputs and are stored beside the decision,
 * so that any decision can be computed again later and must come out the same.
 */
import type { Failure, Kind } from '../failure/failure.ts'
import type { Policy } from './policy.ts'

/** Failures that no rule knew are counted apart from the kind they are treated as. */
export type ErrorKey = Kind | 'unknown'

/**
 * The six ledgers. Each execution that does not succeed, suspend or end in a conflict makes exactly one entry in one of
 * them; each is bounded by the policy, so their sum bounds all executions and none starves another.
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
  readonly errorsByKind: Readonly<Partial<Record<ErrorKey, number>>>
}

export type LedgerName = Exclude<keyof Ledgers, 'errorsByKind'>

export const EMPTY_LEDGERS: Ledgers = Object.freeze({
  errors: 0,
  rateWaits: 0,
  interruptions: 0,
  lapses: 0,
  repairs: 0,
  escalations: 0,
  errorsByKind: Object.freeze({}),
})

/** The code of an `interrupted` failure that means: the attempt had started and its lease ran out. */
export const LAPSED_CODE = 'lease.lapsed'

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
  /** Same failure fingerprint and same answer as the take before: a repeat cannot help. Heeded for syntax and semantic. */
  readonly noProgress?: boolean
  /** A ladder has judged this answer and spent its own recourse already, so this layer adds no repair of its own. */
  readonly asked?: boolean
  /** Number of the execution that failed, 1..n over all; told in the sentence. Derived from the ledgers when absent. */
  readonly attempt?: number
}
