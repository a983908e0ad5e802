/**
 * A budget as users write it, checked once and completed; code and configuration use the same form.
 * It knows no window and no store.
 */
import { assertZone } from '../time/zone.ts'
import { type BudgetDefinition, type OnExhausted, RUN_BUDGET, type WindowLimits } from './budget.ts'

export interface BudgetOptions {
  /** Calls per day, or calls and US dollars: `50`, `{ calls: 50, usd: 2 }`. */
  readonly day?: number | WindowLimits
  readonly month?: number | WindowLimits
  /** Where its days begin. @default 'UTC' */
  readonly zone?: string
  /** What becomes of a run that finds it used up. @default 'person': it must not stop the work in silence */
  readonly onExhausted?: OnExhausted
  /** Shares of a limit at which to warn, once per window. @default [0.8, 1] */
  readonly warnAt?: readonly number[]
}

const ON_EXHAUSTED = ['person', 'wait'] as const satisfies readonly OnExhausted[]

export const BUDGET_FIELDS = ['day', 'month', 'zone', 'onExhausted', 'warnAt'] as const
const WARN_AT = [0.8, 1]
/** More than anybody warns at. */
const WARN_AT_MAX = 10
const CALLS_MAX = 1_000_000_000
/** Counted in billionths, more than this would no longer add up exactly. */
const USD_MAX = 1_000_000

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.:/@-]{0,99}$/

export function checkBudgetName(name: unknown, field = 'budget'): asserts name is string {
  if (typeof name === 'string' && NAME.test(name) && name !== RUN_BUDGET) return
  refuse(field, name, `a name such as "pro" or "gemini:pro", and not "${RUN_BUDGET}"`)
}

/** Throws a `RangeError` that names the field, the value and what is allowed. */
export function defineBudget(name: string, given: BudgetOptions, field = `budgets.${name}`): BudgetDefinition {
  checkBudgetName(name, field)
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    refuse(field, given, `an object with the fields ${BUDGET_FIELDS.join(', ')}`)
  for (const key of Object.keys(given)) {
    if (!BUDGET_FIELDS.some((known) => known === key))
      throw new RangeError(`${field}.${key} is not a setting; allowed are ${BUDGET_FIELDS.join(', ')}`)
  }
  const { day, month, zone = 'UTC', onExhausted = 'person', warnAt = WARN_AT } = given
  if (day === undefined && month === undefined) refuse(field, given, 'a budget with at least one of day, month')
  if (!ON_EXHAUSTED.includes(onExhausted)) refuse(`${field}.onExhausted`, onExhausted, ON_EXHAUSTED.join(', '))
  checkZone(`${field}.zone`, zone)
  checkWarnAt(`${field}.warnAt`, warnAt)
  return Object.freeze({
    zone,
    limits: {
      ...(day === undefined ? {} : { day: limitsOf(`${field}.day`, day) }),
      ...(month === undefined ? {} : { month: limitsOf(`${field}.month`, month) }),
    },
    onExhausted,
    warnAt: [...warnAt].sort((a, b) => a - b),
  })
}

/** One window's limits: a number means calls. */
export function limitsOf(field: string, given: number | WindowLimits): WindowLimits {
  if (typeof given === 'number') return { calls: callsOf(field, given) }
  const isPlain = typeof given === 'object' && given !== null
  const unknown = isPlain ? Object.keys(given).find((key) => key !== 'calls' && key !== 'usd') : undefined
  const { calls, usd } = isPlain ? given : {}
  if (unknown !== undefined || (calls === undefined && usd === undefined))
    refuse(field, given, 'a number of calls, or { calls, usd } with at least one of them')
  return {
    ...(calls === undefined ? {} : { calls: callsOf(`${field}.calls`, calls) }),
    ...(usd === undefined ? {} : { usd: moneyOf(`${field}.usd`, usd) }),
  }
}

function callsOf(field: string, value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= CALLS_MAX) return value
  return refuse(field, value, `a whole number from 0 to ${CALLS_MAX}`)
}

/** US dollars that budgets can count. */
export function moneyOf(field: string, value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value <= USD_MAX) return value
  return refuse(field, value, `dollars from 0 to ${USD_MAX}`)
}

function checkZone(field: string, zone: unknown): void {
  try {
    assertZone(zone as string)
  } catch {
    refuse(field, zone, 'an IANA time zone such as UTC or Europe/Berlin')
  }
}

function checkWarnAt(field: string, value: unknown): void {
  const isShare = (each: unknown) => typeof each === 'number' && each > 0 && each <= 1
  if (Array.isArray(value) && value.length <= WARN_AT_MAX && value.every(isShare)) return
  refuse(field, value, `up to ${WARN_AT_MAX} shares above 0, at most 1, such as [0.8, 1]`)
}

function refuse(field: string, value: unknown, allowed: string): never {
  const shown = JSON.stringify(value)?.slice(0, 80) ?? String(value)
  throw new RangeError(`${field}: ${shown} is not allowed; allowed is ${allowed}`)
}
