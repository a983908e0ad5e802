/**
 * A rule of a domain: a name, the place it is about, words for models and people, and a check.
 * It is judged after the schema, so a check may rely on the shape.
 */
import type { Issue } from './issue.ts'

export interface RuleScope<Input = unknown> {
  /** What the answer is about, as `ask` was given it. */
  readonly input: Input
}

/** `true`: it holds. `false`: it does not. Text: it does not, and this is why. A list: each of these is wrong; empty: it holds. */
export type RuleAnswer = boolean | string | readonly RuleIssue[]

/** An issue that a rule found at a place of its own. */
export interface RuleIssue {
  readonly path: string
  readonly code?: string
  readonly message?: string
}

export interface Rule<Value = unknown, Input = unknown> {
  /** Its code is `gate.<name>`: letters, digits, `.`, `_` or `-`. */
  readonly name: string
  /** JSON pointer to what it is about; the whole answer when absent. */
  readonly path?: string
  /** What must hold, in words that name no value: told to models. What a check returns is told to people only. */
  readonly message?: string
  check(value: Value, scope: RuleScope<Input>): RuleAnswer | Promise<RuleAnswer>
}

const NAME = /^[A-Za-z][A-Za-z0-9._-]{0,79}$/

export const isRuleName = (name: unknown): name is string => typeof name === 'string' && NAME.test(name)

/** A path or code that a check made may hold anything; what is not plain is not taken over. */
export function issuesOf(rule: Rule<never, never>, answer: RuleAnswer): readonly Issue[] {
  const code = `gate.${rule.name}`
  const path = rule.path ?? ''
  const message = rule.message ?? `${rule.name} does not hold`
  if (answer === true) return []
  if (answer === false) return [{ path, code, message }]
  if (typeof answer === 'string') return [{ path, code, message, detail: answer.slice(0, 300) }]
  if (!Array.isArray(answer))
    throw new TypeError(`it answered ${answer === null ? 'null' : typeof answer}, not a boolean, text or a list`)
  return answer.map((issue) => ({
    path: typeof issue.path === 'string' ? issue.path.slice(0, 300) : path,
    code: isRuleName(issue.code) ? `${code}.${issue.code}` : code,
    message,
    ...(issue.message === undefined ? {} : { detail: String(issue.message).slice(0, 300) }),
  }))
}
