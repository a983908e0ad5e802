/**
 * A budget as readers see it: its limits in force and the use of its present windows.
 * Made from what a store has kept; it reads and writes nothing.
 */
import { windowOf } from '../time/window.ts'
import {
  type BudgetDefinition,
  type BudgetLimits,
  type BudgetUnit,
  type BudgetWindow,
  inForce,
  type Tally,
  usdOf,
} from './budget.ts'

export interface BudgetView {
  readonly name: string
  /** As it was last used; absent when an operator set limits before anybody did. */
  readonly defined?: BudgetDefinition
  readonly set?: SetLimits
  /** The present day and month in the budget's zone, each also when nothing was used in it. */
  readonly windows: readonly BudgetWindowView[]
}

/** An operator's limits over the budget's own. */
export interface SetLimits {
  readonly limits: BudgetLimits
  readonly by: string
  readonly at: number
}

export interface BudgetWindowView {
  readonly window: Exclude<BudgetWindow, 'run'>
  readonly key: string
  readonly startsAt: number
  readonly endsAt: number
  readonly use: Readonly<Record<BudgetUnit, UnitUse>>
}

/** The limit is the one in force. */
export interface UnitUse {
  readonly spent: number
  readonly reserved: number
  readonly limit?: number
}

export interface KeptBudget {
  readonly name: string
  readonly defined?: BudgetDefinition | undefined
  readonly set?: SetLimits | undefined
}

export function budgetView(
  { name, defined, set }: KeptBudget,
  now: number,
  tallyOf: (window: BudgetWindowView['window'], key: string) => Tally,
): BudgetView {
  const limits = inForce(defined?.limits ?? {}, set?.limits)
  const windows = (['day', 'month'] as const).map((window) => {
    const { key, startsAt, endsAt } = windowOf(window, now, defined?.zone)
    return { window, key, startsAt, endsAt, use: useOf(tallyOf(window, key), limits[window]) }
  })
  return { name, ...(defined ? { defined } : {}), ...(set ? { set } : {}), windows }
}

function useOf(tally: Tally, { calls, usd }: BudgetLimits['day'] = {}): BudgetWindowView['use'] {
  const { callsSpent, callsReserved, nanoSpent, nanoReserved } = tally
  return {
    calls: { spent: callsSpent, reserved: callsReserved, ...(calls === undefined ? {} : { limit: calls }) },
    usd: { spent: usdOf(nanoSpent), reserved: usdOf(nanoReserved), ...(usd === undefined ? {} : { limit: usd }) },
  }
}
