/**
 * Applies user rules to evidence: in order, the first match wins.
 * It trusts that `defineRules` checked them and hands their patterns bounded input only.
 */
import { cut, USER_TEXT_MAX } from './bounds.ts'
import { type EvidenceView, isRuleSet, type RuleSet, type UserRule } from './define-rules.ts'
import type { Evidence } from './evidence.ts'

export interface UserHit {
  readonly rule: UserRule
  readonly on: string
}

/** The numbers behind namespaced tokens: `mongo:11000` is known to its user as 11000. */
const bare = (word: string): string => (/^[a-z]+\??:\d+$/.test(word) ? word.slice(word.indexOf(':') + 1) : word)

export function applyUserRules(set: RuleSet, evidence: Evidence): UserHit | undefined {
  if (!isRuleSet(set)) throw new TypeError('classify(): options.rules must come from defineRules([...])')
  let view: EvidenceView | undefined
  const text = cut(evidence.texts.join('\n'), USER_TEXT_MAX)
  for (const rule of set.rules) {
    view ??= {
      statuses: evidence.statuses.map((status) => status.value),
      tokens: evidence.tokens.map((token) => bare(token.value)),
      texts: evidence.texts.map((one) => cut(one, USER_TEXT_MAX)),
      retryable: evidence.retryable,
    }
    const on = matchOf(rule, view, evidence, text)
    if (on !== undefined) return { rule, on }
  }
  return undefined
}

function matchOf(rule: UserRule, view: EvidenceView, evidence: Evidence, text: string): string | undefined {
  const on: string[] = []
  if (rule.statuses !== undefined) {
    const status = view.statuses.find((value) => rule.statuses?.includes(value))
    if (status === undefined) return undefined
    on.push(`status ${status}`)
  }
  if (rule.codes !== undefined) {
    const code =
      view.tokens.find((token) => rule.codes?.has(token)) ??
      view.statuses.map(String).find((value) => rule.codes?.has(value))
    if (code === undefined) return undefined
    on.push(`code ${code}`)
  }
  if (rule.names !== undefined) {
    const name = evidence.tokens.find((token) => token.field === 'name' && rule.names?.has(token.value))
    if (name === undefined) return undefined
    on.push(`name ${name.value}`)
  }
  if (rule.part !== undefined) {
    if (!text.toLowerCase().includes(rule.part)) return undefined
    on.push(`message contains ${JSON.stringify(rule.part)}`)
  }
  if (rule.pattern !== undefined) {
    if (!rule.pattern.test(text)) return undefined
    on.push(`message matches ${rule.pattern}`)
  }
  if (rule.test !== undefined) {
    try {
      if (rule.test(view) !== true) return undefined
    } catch {
      return undefined
    }
    on.push('test()')
  }
  return on.join(' and ')
}
