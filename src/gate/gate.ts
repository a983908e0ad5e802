/**
 * The gate: a schema, then the rules of a domain. What passes is the value as the schema gave it back; what does not gets its issues.
 * It does not know who answered, a model or a person, and treats both alike.
 */
import { failure } from '../failure/own.ts'
import { RepriseError } from '../failure/reprise-error.ts'
import { ISSUES_MAX, type Issue } from './issue.ts'
import { codeOf, isRuleName, issuesOf, type Rule, type RuleScope } from './rule.ts'
import { type JsonSchema, jsonSchemaOf, judgeOf, type Schema, type Verdict } from './schema.ts'

export interface Gate<Value = unknown, Input = unknown> {
  /** The shape as a model and a form can be told it; absent when the schema cannot say. */
  readonly jsonSchema?: JsonSchema
  /** Codes of the rules, in the order in which they are asked. */
  readonly rules: readonly string[]
  /**
   * Judges one value. All rules are asked, so that a correction hears of everything at once; they are asked only if the schema holds.
   * Throws a `final` failure `gate.bug` when a rule or the schema throws: that is our mistake, and says nothing about the answer.
   */
  judge(value: unknown, scope: RuleScope<Input>): Promise<Verdict<Value>>
}

/**
 * @example
 * const invoice = gate(schema, [
 *   { name: 'sum', path: '/total', message: 'must be the sum of the lines', check: ({ total, lines }) => total === sum(lines) },
 * ])
 */
export function gate<Value = unknown, Input = unknown>(
  schema: Schema<Value>,
  rules: readonly Rule<Value, Input>[] = [],
): Gate<Value, Input> {
  const judgeShape = judgeOf(schema)
  const told = jsonSchemaOf(schema)
  checkRules(rules)
  return Object.freeze({
    ...(told === undefined ? {} : { jsonSchema: told }),
    rules: Object.freeze(rules.map(codeOf)),
    async judge(value: unknown, scope: RuleScope<Input>): Promise<Verdict<Value>> {
      const shaped = await ours('schema', () => judgeShape(value))
      if (!shaped.ok) return shaped
      const found: Issue[] = []
      for (const rule of rules) {
        const { value: shape } = shaped
        found.push(
          ...(await ours(codeOf(rule), async () => issuesOf(rule, await rule.check(shape, scope), shape, scope.input))),
        )
      }
      return found.length === 0 ? shaped : { ok: false, issues: found.slice(0, ISSUES_MAX) }
    },
  })
}

export const isGate = (value: unknown): value is Gate =>
  typeof value === 'object' && value !== null && typeof (value as Partial<Gate>).judge === 'function'

function checkRules(rules: readonly Rule<never, never>[]): void {
  const seen = new Set<string>()
  for (const [index, { code, name, path, check }] of rules.entries()) {
    const [field, given] = code === undefined ? ['name', name] : ['code', code]
    if (!isRuleName(given))
      refuse(`rules[${index}].${field}`, given, 'a name of 1 to 80 letters, digits, ".", "_" or "-"')
    if (seen.has(given)) refuse(`rules[${index}].${field}`, given, 'each name once')
    if (path !== undefined && !/^(\/.*)?$/.test(path))
      refuse(`rules[${index}].path`, path, 'a JSON pointer, such as "/total"')
    if (typeof check !== 'function') refuse(`rules[${index}].check`, typeof check, 'a function')
    seen.add(given)
  }
}

function refuse(field: string, value: unknown, allowed: string): never {
  throw new RepriseError('gate.rule', `${field} is ${JSON.stringify(value)}. Allowed: ${allowed}.`)
}

async function ours<Answer>(name: string, judge: () => Answer | Promise<Answer>): Promise<Answer> {
  try {
    return await judge()
  } catch (cause) {
    throw failure({
      kind: 'final',
      code: 'gate.bug',
      message: `${name === 'schema' ? 'The schema' : `Rule "${name}"`} threw instead of judging: ${(cause as Error)?.message ?? cause}`,
      advice: 'Fix the rule; stored answers are judged again by the corrected one.',
      facts: { rule: name },
      cause,
    })
  }
}
