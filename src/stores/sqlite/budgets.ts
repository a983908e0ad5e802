/**
 * Budgets as a file keeps them: reservations taken with an intent, settled with an answer, limits set by operators.
 * What fits and what an end means is `run/budget.ts`'s affair. Every write is in the one transaction that its verb has, under the
 * file's only write lock, so that between the look at a window and its new count nobody else can come.
 */
import type { BudgetOrder, Budgets, SetLimits } from '../../ports/budget.ts'
import type { AnswerChange, CommitAnswer, Committed, IntentChange } from '../../ports/store.ts'
import {
  admit,
  type BudgetDefinition,
  type Counted,
  checkReserves,
  expired,
  inForce,
  NO_TALLY,
  overshotBy,
  type Place,
  placesOf,
  placesOfSpend,
  type Reserve,
  RUN_BUDGET,
  type Settled,
  type Spend,
  settled,
  spendOf,
  type Tally,
} from '../../run/budget.ts'
import { budgetView } from '../../run/budget-view.ts'
import { BUDGET_SQL, type SpendRow, type WindowRow } from './budget-statements.ts'
import type { Work } from './group-commit.ts'
import type { Readers } from './read.ts'
import { idOf, numberOf } from './row.ts'
import type { Tx } from './session.ts'

/** Reservations of one budget that a new one finds expired; the others are found by the next. */
const EXPIRE_MAX = 100

const SPEND_STATES = ['reserved', 'expired', 'spent', 'released'] as const satisfies readonly Spend['state'][]

/** Takes all of an intent's reservations, or none and says which limit is in the way. The caller has looked at the lease. */
export function reserveAll(tx: Tx, change: IntentChange): Pick<CommitAnswer, 'over' | 'warned'> {
  const { reserve = [], run, generation, name, inputHash, take, token } = change
  if (reserve.length === 0) return {}
  checkReserves(reserve)
  const call = [numberOf(run), generation, name, inputHash, take, token] as const
  // Asked again after an unknown outcome: it is taken already.
  if (tx.statements.spendsOf.get(...call)) return {}
  const admitted: { reserve: Reserve; counted: readonly Counted[] }[] = []
  const warned: NonNullable<CommitAnswer['warned']>[number][] = []
  for (const each of reserve) {
    expireSome(tx, each.budget)
    const known = tx.statements.budget.get(each.budget)
    const set = known?.set_over ? (JSON.parse(known.set_over) as SetLimits) : undefined
    const counted = placesOf(each, run, tx.now).map((place) => ({ place, tally: tallyAt(tx, place) }))
    const answer = admit(each, inForce(each.limits, set?.limits), counted)
    if ('over' in answer) return { over: answer.over }
    admitted.push({ reserve: each, counted: answer.counted })
    warned.push(...answer.warned)
  }
  for (const { reserve: each, counted } of admitted) {
    for (const { place, tally } of counted) putWindow(tx, place, tally)
    define(tx, each)
    const places = counted.map(({ place }) => place)
    const { budget, until, nano, day, month } = spendOf(each, places, tx.now)
    const endsAt = places.at(-1)?.endsAt ?? null
    tx.statements.insertSpend.run(...call, budget, until, nano, day ?? null, month ?? null, endsAt)
  }
  return warned.length > 0 ? { warned } : {}
}

function tallyAt({ statements }: Tx, { budget, window, key }: Omit<Place, 'endsAt'>): Tally {
  const row = statements.window.get(budget, window, key)
  return row ? tallyOf(row) : NO_TALLY
}

const tallyOf = (row: WindowRow): Tally => ({
  callsReserved: row.calls_reserved,
  callsSpent: row.calls_spent,
  nanoReserved: row.nano_reserved,
  nanoSpent: row.nano_spent,
  nanoOver: row.nano_over,
  warned: row.warned,
  ...(row.calls_limit === null ? {} : { callsLimit: row.calls_limit }),
  ...(row.nano_limit === null ? {} : { nanoLimit: row.nano_limit }),
})

function putWindow({ statements }: Tx, { budget, window, key, endsAt }: Place, tally: Tally): void {
  const { callsReserved, callsSpent, nanoReserved, nanoSpent, nanoOver, callsLimit, nanoLimit, warned } = tally
  const counts = [callsReserved, callsSpent, nanoReserved, nanoSpent, nanoOver] as const
  const limits = [callsLimit ?? null, nanoLimit ?? null] as const
  statements.putWindow.run(budget, window, key, endsAt ?? null, ...counts, ...limits, warned)
}

function define({ statements }: Tx, { budget, zone, limits, onExhausted, warnAt }: Reserve): void {
  if (budget === RUN_BUDGET) return
  const definition = JSON.stringify({ zone, limits, onExhausted, warnAt } satisfies BudgetDefinition)
  if (statements.budget.get(budget)?.defined !== definition) statements.defineBudget.run(budget, definition)
}

/** The end of the reservations of one take, whoever owns the run now. */
export function settleAll(tx: Tx, change: AnswerChange): Pick<CommitAnswer, 'overshot'> {
  const { settle, take, costUsd, run, generation, name, inputHash, token } = change
  if (settle === undefined || take === undefined) return {}
  const told = costUsd === undefined ? {} : { costUsd }
  const rows = tx.statements.spendsOf.all(numberOf(run), generation, name, inputHash, take, token)
  const overshot = rows.flatMap((row) => {
    const end = settled(spendIn(row), { settle, ...told }, tx.now)
    if (!end) return []
    keep(tx, row, end)
    return end.overshoot ?? []
  })
  return overshotBy(overshot)
}

function spendIn({ budget, until, nano, state, day, month }: SpendRow): Spend {
  const windows = day === null || month === null ? {} : { day, month }
  return { budget, until, nano, state: SPEND_STATES[state] ?? 'spent', ...windows }
}

function keep(tx: Tx, row: SpendRow, { spend, change }: Settled): void {
  tx.statements.endSpend.run(SPEND_STATES.indexOf(spend.state), spend.nano, row.id)
  for (const place of placesOfSpend(spend, idOf(row.run))) {
    const { callsReserved, callsSpent, nanoReserved, nanoSpent, nanoOver } = change(tallyAt(tx, place))
    const counts = [callsReserved, callsSpent, nanoReserved, nanoSpent, nanoOver] as const
    tx.statements.countWindow.run(...counts, place.budget, place.window, place.key)
  }
}

function expireSome(tx: Tx, budget: string): void {
  for (const row of tx.statements.expiredSpends.all(budget, tx.now, EXPIRE_MAX)) {
    const end = expired(spendIn(row), tx.now)
    if (end) keep(tx, row, end)
  }
}

export function setBudgetWork({ budget, limits, by }: BudgetOrder): Work<Committed> {
  const data = JSON.stringify({ budget, limits: JSON.stringify(limits ?? null) })
  return {
    rows: 1,
    wakes: true,
    execute: ({ statements, now }) => {
      statements.setBudget.run(budget, limits === undefined ? null : JSON.stringify({ limits, by, at: now }))
      statements.insertNote.run(null, now, by, 'budget.set', data)
      return { now, answer: 'ok' }
    },
  }
}

export const BUDGETS_SQL = {
  budgets: 'SELECT name, defined, set_over FROM reprise_budget ORDER BY name',
  window: BUDGET_SQL.window.text,
  /** Of one window, what is still reserved although its time is over. */
  expired: `SELECT count(*) AS calls, coalesce(sum(nano), 0) AS nano FROM reprise_spend INDEXED BY reprise_spend_open
    WHERE state = 0 AND budget = ? AND until <= ? AND (day = ? OR month = ?)`,
} as const

interface BudgetRow {
  readonly name: string
  readonly defined: string | null
  readonly set_over: string | null
}

export function readBudgets(readers: Readers, now: number): Budgets {
  const budgets = readers.all<BudgetRow>(BUDGETS_SQL.budgets).map(({ name, defined, set_over: set }) => {
    const kept = {
      name,
      defined: defined === null ? undefined : (JSON.parse(defined) as BudgetDefinition),
      set: set === null ? undefined : (JSON.parse(set) as SetLimits),
    }
    return budgetView(kept, now, (window, key) => currentTally(readers, name, window, key, now))
  })
  return { now, budgets }
}

function currentTally(readers: Readers, budget: string, window: 'day' | 'month', key: string, now: number): Tally {
  const [row] = readers.all<WindowRow>(BUDGETS_SQL.window, budget, window, key)
  if (!row) return NO_TALLY
  const tally = tallyOf(row)
  const [over] = readers.all<{ calls: number; nano: number }>(BUDGETS_SQL.expired, budget, now, key, key)
  const { calls, nano } = over ?? { calls: 0, nano: 0 }
  return {
    ...tally,
    callsReserved: tally.callsReserved - calls,
    callsSpent: tally.callsSpent + calls,
    nanoReserved: tally.nanoReserved - nano,
    nanoSpent: tally.nanoSpent + nano,
  }
}
