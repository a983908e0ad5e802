/**
 * The public face of the failure room.
 * Everything else in this folder is machinery that other rooms must not import.
 */
export { codes } from './built-in.ts'
export { type ClassifyOptions, classify } from './classify.ts'
export { defineRules, type EvidenceView, type RuleCondition, type RuleInput, type RuleSet } from './define-rules.ts'
export type { Considered, Explanation } from './explain.ts'
export { type FactValue, type Failure, KINDS, type Kind, type Layer, UNKNOWN_CODE } from './failure.ts'
export { fingerprint } from './fingerprint.ts'
export { maskSecrets } from './mask-secrets.ts'
export { type FailureError, type FailureInput, failure, failureOf } from './own.ts'
export type { CodeEntry } from './rule.ts'
