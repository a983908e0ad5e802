/**
 * What the seeded scripts ask about money: reservations with an intent, settlements with an answer, an operator's limits.
 * Limits are low, so that budgets are soon used up; sums are of quarters, which add up exactly in every order.
 */
import type { BudgetOrder, Reserve } from '../../src/ports/budget.ts'
import type { AnswerChange, IntentChange } from '../../src/ports/store.ts'
import { type BudgetDefinition, RUN_BUDGET } from '../../src/run/budget.ts'
import { type Dice, seededDice } from '../../src/time/dice.ts'

const COMMON = { zone: 'UTC', onExhausted: 'person', warnAt: [0.5, 1] } as const satisfies Partial<BudgetDefinition>

const DEFINITIONS: Readonly<Record<string, BudgetDefinition>> = {
  pro: { ...COMMON, limits: { day: { calls: 8, usd: 1.5 }, month: { calls: 30 } } },
  flash: { ...COMMON, zone: 'Europe/Berlin', limits: { month: { usd: 2 } }, onExhausted: 'wait' },
  __proto__x: { ...COMMON, limits: { day: { calls: 3 } }, warnAt: [] },
  [RUN_BUDGET]: { ...COMMON, limits: { run: { usd: 0.75 } } },
}
const NAMES = Object.keys(DEFINITIONS)

export class BudgetScript {
  readonly #dice: Dice
  readonly #sent: IntentChange[] = []

  constructor(seed: number) {
    // Dice of its own, so that what else a script asks stays as it was.
    this.#dice = seededDice(seed ^ 0x5eed)
  }

  /** Most sends reserve something. */
  withReserve(intent: IntentChange): IntentChange {
    const names = this.#dice() < 0.2 ? [] : NAMES.filter(() => this.#dice() < 0.5)
    if (names.length === 0) return intent
    this.#sent.push(intent)
    return { ...intent, reserve: names.map((budget) => this.#reserve(budget)) }
  }

  /** Most answers end what one of the latest sends has reserved, in time or too late; some a send that never was. */
  withSettlement(answer: AnswerChange): AnswerChange {
    if (this.#dice() < 0.2) return answer
    const settle = this.#pick(['spend', 'spend', 'release'] as const)
    const costUsd = this.#pick([{}, { costUsd: 0.25 }, { costUsd: 0.5 }, { costUsd: 1.25 }])
    const sent = this.#dice() < 0.8 ? this.#sent.at(-1 - this.#pick([0, 0, 0, 1, 2, 5])) : undefined
    if (!sent) return { ...answer, ...costUsd, take: this.#pick([1, 2, 3]), settle }
    const { run, token, generation, name, inputHash, take } = sent
    return { ...answer, ...costUsd, run, token, generation, name, inputHash, take, settle }
  }

  #reserve(budget: string): Reserve {
    const usd = this.#pick([0, 0.25, 0.25, 0.5])
    const lastsMs = this.#pick([900, 5_000, 60_000])
    return { ...(DEFINITIONS[budget] as BudgetDefinition), budget, calls: 1, usd, lastsMs }
  }

  order(): BudgetOrder {
    const limits = this.#pick([
      undefined,
      { day: { calls: 0 } },
      { day: { calls: 12, usd: 3 } },
      { month: { usd: 0.5 } },
      { run: { usd: 0.25 } },
    ])
    return { budget: this.#pick([...NAMES, 'unheard']), by: 'ann', ...(limits ? { limits } : {}) }
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#dice() * choices.length)] as T
  }
}
