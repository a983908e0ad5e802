/**
 * The budgets that this process knows: defined in options or in code, looked up by each call that names one.
 * What was used is the store's to say.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { BudgetView } from '../ports/budget.ts'
import type { Store } from '../ports/store.ts'
import { type BudgetDefinition, type BudgetLimits, NO_TALLY } from '../run/budget.ts'
import { budgetView } from '../run/budget-view.ts'
import { type BudgetOptions, checkBudgetName, defineBudget, limitsOf } from '../run/define-budget.ts'

export class BudgetRegistry {
  readonly #definitions = new Map<string, BudgetDefinition>()

  constructor(given: Readonly<Record<string, BudgetOptions>> = {}) {
    for (const [name, options] of Object.entries(given)) this.define(name, options)
  }

  /** Twice the same is once. */
  define(name: string, options: BudgetOptions): void {
    const definition = checked(() => defineBudget(name, options))
    const known = this.#definitions.get(name)
    if (known && JSON.stringify(known) !== JSON.stringify(definition))
      throw new RepriseError(
        'budget.twice',
        `Budget "${name}" is defined already, with other values. Allowed: one definition for each name.`,
      )
    this.#definitions.set(name, definition)
  }

  get(name: string): BudgetDefinition {
    const known = this.#definitions.get(name)
    if (known) return known
    throw new RepriseError(
      'budget.unknown',
      `budget is ${JSON.stringify(name)}, which is not defined. Allowed: ${[...this.#definitions.keys()].join(', ') || 'none yet'}; define it with createReprise({ budgets }).`,
    )
  }
}

export interface RepriseBudgets {
  /** Defines a budget by name; the same name with other values is an error. */
  define(name: string, options: BudgetOptions): void
  /** What is used and reserved of it in its present day and month, with the limits in force. */
  usage(name: string): Promise<BudgetView>
  /** An operator's limits, which win over the defined ones in every process from the next call on; without limits, back to those. */
  set(name: string, limits: Pick<BudgetOptions, 'day' | 'month'> | undefined, by: string): Promise<void>
}

export function repriseBudgets(store: Store, registry: BudgetRegistry): RepriseBudgets {
  return {
    define: (name, options) => registry.define(name, options),
    async usage(name) {
      const { now, budgets } = await store.budgets()
      const known = budgets.find((budget) => budget.name === name)
      if (known?.defined) return known
      // Never used, so the store does not know its zone and limits yet.
      return budgetView({ name, defined: registry.get(name), set: known?.set }, now, () => NO_TALLY)
    },
    async set(name, limits, by) {
      const order = checked(() => {
        checkBudgetName(name)
        return limits === undefined ? {} : { limits: windowLimits(limits) }
      })
      await store.setBudget({ budget: name, by, ...order })
    },
  }
}

function windowLimits({ day, month }: Pick<BudgetOptions, 'day' | 'month'>): BudgetLimits {
  return {
    ...(day === undefined ? {} : { day: limitsOf('day', day) }),
    ...(month === undefined ? {} : { month: limitsOf('month', month) }),
  }
}

/** The door's own error for what a user wrote. */
function checked<Value>(check: () => Value): Value {
  try {
    return check()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new RepriseError('budget.invalid', `${error.message}.`)
  }
}
