/**
 * The budgets of the simulation, and which items spend from which: small, so that they are used up, and their day turns after a minute.
 */
import type { SpendOptions } from '../../engine/call-budget.ts'
import type { BudgetOptions } from '../../run/define-budget.ts'

/** A minute behind UTC, where the world begins at midnight: so each simulation sees the end of a day. */
const ZONE = '-00:01'

export const SIM_BUDGETS: Readonly<Record<string, BudgetOptions>> = {
  scarce: { day: 4, month: 7, zone: ZONE },
  paid: { day: { usd: 0.03 }, zone: ZONE },
}

/** No dice are thrown for it, so that an old seed still plays the same script. */
export function spendOf(item: number): SpendOptions {
  if (item % 4 === 1) return { budget: { name: 'scarce' } }
  // More than any send of a script costs.
  if (item % 4 === 2) return { budget: { name: 'paid', usdMax: 0.01 } }
  return {}
}
