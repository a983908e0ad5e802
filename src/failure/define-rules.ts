/**
 * `defineRules`: your own rules, checked once at the door with exact messages.
 * It knows the form of a rule; applying them is the classifier's affair.
 */
import type { Evidence } from './evidence.ts'
import { KINDS, type Kind, type Layer } from './failure.ts'
import { CODE_LENGTH_MAX, CODE_SHAPE, describe } from './own.ts'
import { layerOf } from './rule.ts'

/** What a rule's `test` may look at. */
export type EvidenceView = Readonly<
  Pick<Evidence, 'retryable'> & {
    statuses: readonly number[]
    tokens: readonly string[]
    texts: readonly string[]
  }
>

export interface RuleCondition {
  /** One of these HTTP statuses. */
  readonly status?: number | readonly number[]
  /** One of these exact codes, reasons, types or names, wherever they stood. */
  readonly code?: string | number | ReadonlyArray<string | number>
  /** The error's class name. */
  readonly name?: string | readonly string[]
  /** A part of a sentence (any case), or a pattern. The pattern sees a bounded text. */
  readonly message?: string | RegExp
  /** Anything else. It must be pure; a throw counts as "does not match". */
  readonly test?: (evidence: EvidenceView) => boolean
}

export interface RuleInput {
  readonly name: string
  /** All parts that are given must hold. */
  readonly when: RuleCondition
  readonly kind: Kind
  readonly code: string
  readonly layer?: Layer
  readonly advice?: string
  readonly retryAfterMs?: number
}

export interface UserRule {
  readonly name: string
  readonly kind: Kind
  readonly code: string
  readonly layer: Layer
  readonly advice: string
  readonly retryAfterMs: number | undefined
  readonly statuses: readonly number[] | undefined
  readonly codes: ReadonlySet<string> | undefined
  readonly names: ReadonlySet<string> | undefined
  readonly part: string | undefined
  readonly pattern: RegExp | undefined
  readonly test: ((evidence: EvidenceView) => boolean) | undefined
}

const CHECKED = Symbol.for('reprise.rules')

export interface RuleSet {
  readonly rules: readonly UserRule[]
  readonly [CHECKED]: true
}

/** More rules than this are a program, not a list; each one is asked on every failure. */
const RULES_MAX = 500

function refuse(at: string, value: unknown, allowed: string): never {
  throw new TypeError(`defineRules(): ${at} is ${describe(value)}, allowed: ${allowed}`)
}

/**
 * Check and freeze rules. The first that matches wins, before all built-in ones.
 *
 * @example
 * const rules = defineRules([{ name: 'maintenance', when: { status: 418 }, kind: 'transient', code: 'erp.maintenance' }])
 */
export function defineRules(inputs: readonly RuleInput[]): RuleSet {
  if (!Array.isArray(inputs)) refuse('rules', inputs, 'an array of rules')
  if (inputs.length > RULES_MAX) refuse('rules.length', inputs.length, `at most ${RULES_MAX}`)
  const names = new Set<string>()
  const rules = inputs.map((input: RuleInput, i) => {
    const rule = checkRule(input, `rules[${i}]`)
    if (names.has(rule.name)) refuse(`rules[${i}].name`, rule.name, 'a name that no rule before it has')
    names.add(rule.name)
    return Object.freeze(rule)
  })
  return Object.freeze({ rules: Object.freeze(rules), [CHECKED]: true as const })
}

const RULE_FIELDS = new Set(['name', 'when', 'kind', 'code', 'layer', 'advice', 'retryAfterMs'])
const WHEN_FIELDS = new Set(['status', 'code', 'name', 'message', 'test'])

function checkRule(input: RuleInput, at: string): UserRule {
  if (typeof input !== 'object' || input === null) refuse(at, input, 'an object')
  for (const key of Object.keys(input))
    if (!RULE_FIELDS.has(key)) refuse(`${at}.${key}`, 'set', `only ${[...RULE_FIELDS].join(', ')}`)
  const { name, when, kind, code, layer, advice, retryAfterMs } = input
  if (typeof name !== 'string' || !/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name))
    refuse(`${at}.name`, name, 'letters, digits, "_", "." and "-", at most 64')
  if (!(KINDS as readonly unknown[]).includes(kind)) refuse(`${at}.kind`, kind, KINDS.join(', '))
  if (typeof code !== 'string' || code.length > CODE_LENGTH_MAX || !CODE_SHAPE.test(code))
    refuse(`${at}.code`, code, 'a name such as "erp.maintenance"')
  if (layer !== undefined && layer !== 'infrastructure' && layer !== 'workflow')
    refuse(`${at}.layer`, layer, 'infrastructure, workflow')
  if (advice !== undefined && (typeof advice !== 'string' || advice.length > 500))
    refuse(`${at}.advice`, advice, 'a sentence of at most 500 characters')
  if (
    retryAfterMs !== undefined &&
    !(typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs) && retryAfterMs >= 0)
  ) {
    refuse(`${at}.retryAfterMs`, retryAfterMs, 'a finite number of milliseconds, 0 or more')
  }
  return {
    name,
    kind,
    code,
    layer: layer ?? layerOf(kind),
    advice: advice ?? `Known by your own rule "${name}".`,
    retryAfterMs,
    ...checkCondition(when, `${at}.when`),
  }
}

type Condition = Pick<UserRule, 'statuses' | 'codes' | 'names' | 'part' | 'pattern' | 'test'>

const listOf = <T>(value: T | readonly T[]): readonly T[] =>
  Array.isArray(value) ? (value as readonly T[]) : [value as T]

function checkCondition(when: RuleCondition, at: string): Condition {
  if (typeof when !== 'object' || when === null) refuse(at, when, `an object with ${[...WHEN_FIELDS].join(', ')}`)
  const keys = Object.keys(when)
  if (keys.length === 0) refuse(at, 'empty', `at least one of ${[...WHEN_FIELDS].join(', ')}`)
  for (const key of keys)
    if (!WHEN_FIELDS.has(key)) refuse(`${at}.${key}`, 'set', `only ${[...WHEN_FIELDS].join(', ')}`)
  const { status, code, name, message, test } = when
  const statuses = status === undefined ? undefined : listOf(status)
  for (const one of statuses ?? [])
    if (!Number.isInteger(one) || one < 100 || one > 599) refuse(`${at}.status`, one, 'an integer from 100 to 599')
  const codes = code === undefined ? undefined : listOf(code)
  for (const one of codes ?? []) {
    if ((typeof one !== 'string' && typeof one !== 'number') || one === '')
      refuse(`${at}.code`, one, 'a non-empty string or a number')
  }
  const names = name === undefined ? undefined : listOf(name)
  for (const one of names ?? [])
    if (typeof one !== 'string' || one === '') refuse(`${at}.name`, one, 'a non-empty string')
  const isPattern = Object.prototype.toString.call(message) === '[object RegExp]'
  if (message !== undefined && !isPattern && (typeof message !== 'string' || message === ''))
    refuse(`${at}.message`, message, 'a non-empty string or a RegExp')
  if (isPattern && /[gy]/.test((message as RegExp).flags))
    refuse(
      `${at}.message`,
      (message as RegExp).flags,
      'a RegExp without the flags g and y, which remember their last match',
    )
  if (test !== undefined && typeof test !== 'function') refuse(`${at}.test`, test, 'a function')
  return {
    statuses,
    codes: codes && new Set(codes.map(String)),
    names: names && new Set(names),
    part: typeof message === 'string' ? message.toLowerCase() : undefined,
    pattern: isPattern ? (message as RegExp) : undefined,
    test,
  }
}

export function isRuleSet(value: unknown): value is RuleSet {
  return typeof value === 'object' && value !== null && (value as Partial<RuleSet>)[CHECKED] === true
}
