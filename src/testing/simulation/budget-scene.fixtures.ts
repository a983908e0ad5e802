/**
 * What a right store keeps of the budget in told histories: each send of a call named `paid` takes from it, and all of them are spent.
 */
import type { BudgetView } from '../../ports/budget.ts'
import { NO_TALLY, type Reserve } from '../../run/budget.ts'
import { budgetView } from '../../run/budget-view.ts'
import type { LogLine } from './history.ts'

const DEFINED = { zone: 'UTC', limits: { day: { calls: 20 } }, onExhausted: 'person', warnAt: [] } as const

const RESERVE: Reserve = { budget: 'told', ...DEFINED, calls: 1, usd: 0.01, lastsMs: 60_000 }

export const reserveFor = (call: string): { readonly reserve?: readonly Reserve[] } =>
  call === 'paid' ? { reserve: [RESERVE] } : {}

export const settleFor = (call: string, take: number) => (call === 'paid' ? ({ settle: 'spend', take } as const) : {})

export function budgetsOf(lines: readonly LogLine[], now: number): BudgetView[] {
  const calls = lines.filter(
    (line) => line.log === 'store' && line.verb === 'commit' && line.change.type === 'intent' && line.change.reserve,
  ).length
  if (calls === 0) return []
  const tally = { ...NO_TALLY, callsSpent: calls, nanoSpent: calls * 10_000_000 }
  return [budgetView({ name: 'told', defined: DEFINED }, now, () => tally)]
}
