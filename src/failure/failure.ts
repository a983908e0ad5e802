/**
 * The Failure record: what went wrong, as data that can be stored, compared and decided upon.
 * It knows nothing of retries, clocks or stores.
 */

/** The closed set of kinds. A kind says what helps; a code says what happened. */
export const KINDS = [
  'transient',
  'rate_limited',
  'syntax',
  'semantic',
  'refused',
  'final',
  'conflict',
  'exhausted',
  'interrupted',
] as const

export type Kind = (typeof KINDS)[number]

/** `infrastructure` failures are retried silently inside an attempt; `workflow` ones are visible and durable. */
export type Layer = 'infrastructure' | 'workflow'

export type FactValue = string | number | boolean

export interface Failure {
  readonly kind: Kind
  /** Open, stable and namespaced: `http.503`, `gemini.quota.day`, `pg.40001`. Never renamed. */
  readonly code: string
  readonly layer: Layer
  /** Bounded and with secrets masked: safe to store, log and show. */
  readonly message: string
  /** How long the other side told us to wait, as told: policy clamps it. Absent when it did not say. */
  readonly retryAfterMs?: number
  /** One sentence: what a person can do about it. */
  readonly advice: string
  /** The rule that hit, as `family/name`; `explain` shows it. */
  readonly rule: string
  /** Small, flat evidence that was used or is worth showing: status, provider, model, path. */
  readonly facts?: Readonly<Record<string, FactValue>>
}

/** The code of a failure that no rule knew: treated as transient, with its own small bound in every policy. */
export const UNKNOWN_CODE = 'unknown'
