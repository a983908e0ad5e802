/**
 * The gate's own face: what the other rooms and the public face take from it.
 */
export { type Gate, gate } from './gate.ts'
export type { Issue } from './issue.ts'
export { type DatesOptions, datesInOrder, requiredFields, type SumOptions, sumEquals } from './ready-rules.ts'
export type { Rule, RuleAnswer, RuleIssue, RuleScope } from './rule.ts'
export { type JsonSchema, judgeOf, type Schema, type Verdict } from './schema.ts'
