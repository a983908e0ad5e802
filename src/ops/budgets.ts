/**
 * Budgets as operators see them: what is used and reserved, how long it lasts at this pace, and what happens then; and their one verb,
 * to set other limits. What a budget lets in is the store's affair.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { BudgetView, BudgetWindowView } from '../ports/budget.ts'
import type { Store } from '../ports/store.ts'
import { type BudgetLimits, type BudgetUnit, NO_TALLY, type OnExhausted } from '../run/budget.ts'
import { budgetView } from '../run/budget-view.ts'
import { type BudgetOptions, checkBudgetName, defineBudget, limitsOf } from '../run/define-budget.ts'

export type ConfiguredBudgets = Readonly<Record<string, BudgetOptions>>

/** One limit and what is left of it. */
export interface BudgetLine {
  readonly window: BudgetWindowView['window']
  readonly unit: BudgetUnit
  readonly spent: number
  readonly reserved: number
  /** Absent: not capped. */
  readonly limit?: number
  /** Spent and reserved as a share of the limit. */
  readonly share?: number
  /** At the pace of this window so far: when it is used up, if that is before its end. */
  readonly emptyAt?: number
  /** At that pace: what is used at its end. */
  readonly expected?: number
  readonly endsAt: number
}

export interface BudgetStatus {
  readonly name: string
  readonly zone: string
  /** What becomes of a run that finds it used up. */
  readonly onExhausted: OnExhausted
  /** An operator's limits are in force. */
  readonly set?: BudgetView['set']
  readonly lines: readonly BudgetLine[]
}

export interface BudgetsNow {
  readonly now: number
  readonly budgets: readonly BudgetStatus[]
}

/** All that were used, set or configured, by name. */
export async function listBudgets(store: Store, configured: ConfiguredBudgets = {}): Promise<BudgetsNow> {
  const { now, budgets } = await store.budgets()
  const names = new Set([...budgets.map(({ name }) => name), ...Object.keys(configured)])
  const views = [...names]
    .sort((a, b) => (a < b ? -1 : 1))
    .map((name): BudgetView => {
      const known = budgets.find((budget) => budget.name === name)
      const options = Object.hasOwn(configured, name) ? configured[name] : undefined
      if (known?.defined || !options) return known as BudgetView
      return budgetView({ name, defined: defineBudget(name, options), set: known?.set }, now, () => NO_TALLY)
    })
  return { now, budgets: views.map((view) => statusOf(view, now)) }
}

function statusOf({ name, defined, set, windows }: BudgetView, now: number): BudgetStatus {
  const all = windows.flatMap((window) => [lineOf(window, 'calls', now), lineOf(window, 'usd', now)])
  const capped = all.filter(({ limit }) => limit !== undefined)
  return {
    name,
    zone: defined?.zone ?? 'UTC',
    onExhausted: defined?.onExhausted ?? 'person',
    ...(set ? { set } : {}),
    lines: capped.length > 0 ? capped : all.filter(({ unit }) => unit === 'calls'),
  }
}

function lineOf({ window, startsAt, endsAt, use }: BudgetWindowView, unit: BudgetUnit, now: number): BudgetLine {
  const { spent, reserved, limit } = use[unit]
  const line = { window, unit, spent, reserved, endsAt }
  if (limit === undefined) return line
  const given = spent + reserved
  const share = limit === 0 ? 1 : given / limit
  return { ...line, limit, share, ...forecast({ given, limit, startsAt, endsAt, now }) }
}

interface Pace {
  readonly given: number
  readonly limit: number
  readonly startsAt: number
  readonly endsAt: number
  readonly now: number
}

/** The plainest forecast there is: as it went since the window began. Nothing is foretold from nothing. */
export function forecast({ given, limit, startsAt, endsAt, now }: Pace): Pick<BudgetLine, 'emptyAt' | 'expected'> {
  if (given >= limit) return { emptyAt: now, expected: given }
  const passedMs = now - startsAt
  if (given === 0 || passedMs <= 0) return {}
  const expected = (given / passedMs) * (endsAt - startsAt)
  const emptyAt = Math.ceil(startsAt + (limit / given) * passedMs)
  return emptyAt < endsAt ? { emptyAt, expected } : { expected }
}

export interface SetBudget {
  readonly name: string
  /** Absent: back to the limits that the code defines. */
  readonly limits?: Pick<BudgetOptions, 'day' | 'month'>
  readonly by: string
}

/** The limits of an order that would leave no room: as much or more is given out already. */
export async function emptyUnder(store: Store, order: SetBudget): Promise<BudgetLine[]> {
  const limits = checkedLimits(order) ?? {}
  const { windows = [] } = (await store.budgets()).budgets.find(({ name }) => name === order.name) ?? {}
  return windows.flatMap(({ window, endsAt, use }) =>
    (['calls', 'usd'] as const).flatMap((unit) => {
      const limit = limits[window]?.[unit]
      const { spent, reserved } = use[unit]
      return limit !== undefined && spent + reserved >= limit ? [{ window, unit, spent, reserved, limit, endsAt }] : []
    }),
  )
}

/** Sets limits, or takes an operator's away. Answers with the budget as it then is. */
export async function setBudget(
  store: Store,
  order: SetBudget,
  configured: ConfiguredBudgets = {},
): Promise<BudgetStatus | undefined> {
  const limits = checkedLimits(order)
  const { name, by } = order
  const known = (await listBudgets(store, configured)).budgets.map((budget) => budget.name)
  if (!known.includes(name))
    throw new RepriseError(
      'budget.unknown',
      `There is no budget ${JSON.stringify(name)}. Allowed: ${known.join(', ') || 'none, because none was defined or used yet'}.`,
    )
  await store.setBudget({ budget: name, by, ...(limits ? { limits } : {}) })
  return (await listBudgets(store, configured)).budgets.find((budget) => budget.name === name)
}

function checkedLimits({ name, limits }: SetBudget): BudgetLimits | undefined {
  try {
    checkBudgetName(name)
    if (!limits) return undefined
    const { day, month } = limits
    return {
      ...(day === undefined ? {} : { day: limitsOf('day', day) }),
      ...(month === undefined ? {} : { month: limitsOf('month', month) }),
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new RepriseError('budget.invalid', `${error.message}.`)
  }
}
