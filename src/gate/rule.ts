/**
 * A rule of a domain: a name, the place it is about, words for models and people, and a check.
 * It is judged after the schema, so a check may rely on the shape.
 */
import { cut, type Issue } from './issue.ts'
import { quotes } from './quotes.ts'

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

interface RuleBody<Value, Input> {
  /** JSON pointer to what it is about; the whole answer when absent. */
  readonly path?: string
  /** What must hold, in words that name no value: told to models, while what a check returns is told to people. */
  readonly message?: string
  check(value: Value, scope: RuleScope<Input>): RuleAnswer | Promise<RuleAnswer>
}

/** Its code is `code` as it stands, or `gate.<name>`: letters, digits, `.`, `_` or `-`. */
export type Rule<Value = unknown, Input = unknown> = RuleBody<Value, Input> &
  ({ readonly name: string; readonly code?: undefined } | { readonly code: string; readonly name?: string })

const NAME = /^[A-Za-z][A-Za-z0-9._-]{0,79}$/

export const isRuleName = (name: unknown): name is string => typeof name === 'string' && NAME.test(name)

export const codeOf = ({ code, name }: Pick<Rule, 'code' | 'name'>): string => code ?? `gate.${name}`

/** A rule without words of its own speaks by what its check says, unless that quotes the answer: then people alone hear it. */
export function issuesOf<Value, Input>(
  rule: Rule<Value, Input>,
  answer: RuleAnswer,
  value: Value,
  input: Input,
): readonly Issue[] {
  const code = codeOf(rule)
  const path = rule.path ?? ''
  const fixed = rule.message ?? `${code} does not hold`
  const worded = (said: string | undefined): Pick<Issue, 'message' | 'detail'> => {
    if (said === undefined) return { message: fixed }
    const text = cut(said)
    if (rule.message !== undefined || quotes(text, value, input)) return { message: fixed, detail: text }
    return { message: text }
  }
  if (answer === true) return []
  if (answer === false) return [{ path, code, message: fixed }]
  if (typeof answer === 'string') return [{ path, code, ...worded(answer) }]
  if (!Array.isArray(answer))
    throw new TypeError(`it answered ${answer === null ? 'null' : typeof answer}, not a boolean, text or a list`)
  return answer.map((issue: RuleIssue) => ({
    path: typeof issue.path === 'string' ? issue.path.slice(0, 300) : path,
    code: isRuleName(issue.code) ? `${code}.${issue.code}` : code,
    ...worded(issue.message === undefined ? undefined : String(issue.message)),
  }))
}
