/**
 * Budgets at the seam of the store: what a reader sees of them and what an operator may set. There is no code here.
 *
 * Laws, besides those of the store:
 * - **Never above.** For every budget, window and unit, spent + reserved ≤ limit at every instant, whoever asks and however many do.
 *   Only a send that cost more than its worst case can pass a limit in money; that is recorded, and the window lets in nothing more
 *   that costs anything.
 * - **All or none.** An intent that carries reservations is written with all of them or not at all: `"over"` changed nothing.
 * - **Once.** A reservation is known by its call (run, generation, name, input hash, take, token) and its budget: asked again it is not
 *   taken again, settled again it is not settled again.
 * - **Never free.** A reservation ends by its answer, late or not. `release` gives it back; one that is older than `lastsMs` is spent
 *   with its worst case and is never given back.
 * - **Store time.** Windows are of the store's clock in the budget's zone; a send counts in the windows in which it was reserved.
 */
import type { BudgetLimits } from '../run/budget.ts'
import type { BudgetView } from '../run/budget-view.ts'

export type {
  BudgetLimits,
  BudgetWarning,
  OnExhausted,
  Over,
  Overshoot,
  Reserve,
  WindowLimits,
} from '../run/budget.ts'
export type { BudgetView, BudgetWindowView, SetLimits, UnitUse } from '../run/budget-view.ts'

/** An operator's limits over those that the code defines; without limits, back to those. */
export interface BudgetOrder {
  readonly budget: string
  readonly limits?: BudgetLimits
  readonly by: string
}

export interface Budgets {
  readonly now: number
  readonly budgets: readonly BudgetView[]
}
