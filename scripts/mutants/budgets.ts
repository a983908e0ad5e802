/**
 * Planted bugs of budgets: each spends more than it may, or counts what was not.
 */
import { type Mutant, mutant } from './mutant.ts'

const BUDGET = 'src/run/budget.ts'
const CALL = 'src/engine/call.ts'
const MEMORY = 'src/stores/memory'

export const BUDGET_MUTANTS: readonly Mutant[] = [
  mutant(
    'a budget is charged once for a call, however often it is sent',
    CALL,
    'const reserve = this.#reserves && {',
    'const reserve = take === 1 && this.#reserves && {',
  ),
  mutant(
    'a send that a budget refused goes out all the same',
    'src/engine/execution.ts',
    'if (committed.over) throw refusal(this, change.name, committed.over)',
    '',
  ),
  mutant(
    'every failed send is given back to its budget',
    CALL,
    `wasNeverSent(thrown) ? 'release' : 'spend'`,
    `'release'`,
  ),
  mutant(
    'a budget lets in one more than its limit',
    BUDGET,
    'callsSpent + callsReserved + calls > limits.calls',
    'callsSpent + callsReserved > limits.calls',
  ),
  mutant(
    'a budget counts only what is spent already',
    BUDGET,
    'nano > 0 && nanoSpent + nanoReserved + nano > nanoOf(limits.usd)',
    'nano > 0 && nanoSpent + nano > nanoOf(limits.usd)',
  ),
  mutant(
    'the day of a budget is not of its zone',
    BUDGET,
    'const { key, endsAt } = windowOf(window, now, zone)',
    'const { key, endsAt } = windowOf(window, now)',
  ),
  mutant(
    'a reservation that is asked again is taken again',
    `${MEMORY}/budgets.ts`,
    'if (known || reserve.length === 0) return {}',
    'if ((known && !call) || reserve.length === 0) return {}',
  ),
  mutant(
    'a late answer leaves its reservation open',
    `${MEMORY}/commit.ts`,
    `const settled = change.type === 'answer' ? settleAll(tables, change, now) : {}`,
    'const settled = {}',
  ),
  mutant(
    'a reservation is settled as often as it is asked',
    BUDGET,
    `if (spend.state === 'spent' || spend.state === 'released') return undefined`,
    `if (spend.state === 'released') return undefined`,
  ),
]
