/**
 * Budgets of the memory driver: reservations taken with an intent, settled with an answer, limits set by operators.
 * What fits and what an end means is `run/budget.ts`'s affair; here it is kept.
 */
import type { BudgetOrder, Budgets, SetLimits } from '../../ports/budget.ts'
import type { AnswerChange, CommitAnswer, Committed, Finding, IntentChange } from '../../ports/store.ts'
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
import { copy, joined, type Tables } from './rows.ts'

export interface BudgetRow {
  defined?: BudgetDefinition
  set?: SetLimits
}

export interface WindowRow {
  readonly place: Place
  readonly tally: Tally
}

export interface SpendRow {
  readonly run: string
  readonly spend: Spend
  /** When its last window ends; absent for a run's own. */
  readonly endsAt: number | undefined
}

const placeKey = ({ budget, window, key }: Place): string => joined(budget, window, key)

/** A call, and so its reservations, by name. */
function callKey(change: IntentChange | (AnswerChange & { readonly take: number })): string {
  const { run, generation, name, inputHash, take, token } = change
  return joined(run, String(generation), name, inputHash, String(take), String(token))
}

type Taken = Pick<CommitAnswer, 'over' | 'warned'>

/** Takes all of an intent's reservations, or none and says which limit is in the way. */
export function reserveAll(tables: Tables, change: IntentChange, now: number): Taken {
  const { reserve = [] } = change
  checkReserves(reserve)
  const call = callKey(change)
  const known = tables.spends.get(call)
  // Asked again after an unknown outcome: it is taken already.
  if (known || reserve.length === 0) return {}
  const admitted: { reserve: Reserve; counted: readonly Counted[] }[] = []
  const warned: NonNullable<CommitAnswer['warned']>[number][] = []
  expireAll(tables, now)
  for (const each of reserve) {
    const counted = placesOf(each, change.run, now).map((place) => ({ place, tally: tallyOf(tables, place) }))
    const limits = inForce(each.limits, tables.budgets.get(each.budget)?.set?.limits)
    const answer = admit(each, limits, counted)
    if ('over' in answer) return { over: answer.over }
    admitted.push({ reserve: each, counted: answer.counted })
    warned.push(...answer.warned)
  }
  tables.spends.set(
    call,
    admitted.map(({ reserve: each, counted }) => {
      for (const { place, tally } of counted) tables.windows.set(placeKey(place), { place, tally })
      define(tables, each)
      const places = counted.map(({ place }) => place)
      return { run: change.run, spend: spendOf(each, places, now), endsAt: places.at(-1)?.endsAt }
    }),
  )
  tables.reserved.add(call)
  return warned.length > 0 ? { warned } : {}
}

const tallyOf = (tables: Tables, place: Place): Tally => tables.windows.get(placeKey(place))?.tally ?? NO_TALLY

function define(tables: Tables, { budget, zone, limits, onExhausted, warnAt }: Reserve): void {
  if (budget === RUN_BUDGET) return
  const row = tables.budgets.get(budget) ?? {}
  row.defined = copy({ zone, limits, onExhausted, warnAt })
  tables.budgets.set(budget, row)
}

/** The end of the reservations of one take, whoever owns the run now. */
export function settleAll(tables: Tables, change: AnswerChange, now: number): Pick<CommitAnswer, 'overshot'> {
  const { settle, take, costUsd } = change
  if (settle === undefined || take === undefined) return {}
  const told = costUsd === undefined ? {} : { costUsd }
  const rows = tables.spends.get(callKey({ ...change, take })) ?? []
  const overshot = rows.flatMap((row, index) => {
    const end = settled(row.spend, { settle, ...told }, now)
    if (!end) return []
    keep(tables, rows, index, end)
    return end.overshoot ?? []
  })
  return overshotBy(overshot)
}

function keep(tables: Tables, rows: SpendRow[], index: number, { spend, change }: Settled): void {
  const row = rows[index] as SpendRow
  rows[index] = { ...row, spend }
  for (const place of placesOfSpend(row.spend, row.run)) {
    const known = tables.windows.get(placeKey(place))
    if (known) tables.windows.set(placeKey(place), { ...known, tally: change(known.tally) })
  }
}

function expireAll(tables: Tables, now: number): void {
  for (const call of tables.reserved) {
    const rows = tables.spends.get(call) ?? []
    rows.forEach(({ spend }, index) => {
      const end = expired(spend, now)
      if (end) keep(tables, rows, index, end)
    })
    if (!rows.some(({ spend }) => spend.state === 'reserved')) tables.reserved.delete(call)
  }
}

export function setBudget(tables: Tables, { budget, limits, by }: BudgetOrder, now: number): Committed {
  const { set: _before, ...row } = tables.budgets.get(budget) ?? {}
  tables.budgets.set(budget, limits === undefined ? row : { ...row, set: copy({ limits, by, at: now }) })
  tables.notes.push({ by, what: 'budget.set', data: { budget, limits: JSON.stringify(limits ?? null) }, at: now })
  return { now, answer: 'ok' }
}

export function budgets(tables: Tables, now: number): Budgets {
  expireAll(tables, now)
  const names = [...tables.budgets.keys()].sort((a, b) => (a < b ? -1 : 1))
  const views = names.map((name) =>
    budgetView({ name, ...tables.budgets.get(name) }, now, (window, key) =>
      tallyOf(tables, { budget: name, window, key }),
    ),
  )
  return { now, budgets: copy(views) }
}

/** Windows that ended long ago go with all that was counted in them; a run's own goes with the run. */
export function forgetWindows(tables: Tables, before: number): void {
  for (const [key, { place }] of tables.windows) {
    const isOld = place.endsAt === undefined ? !tables.runs.has(place.key) : place.endsAt <= before
    if (isOld) tables.windows.delete(key)
  }
  for (const [call, rows] of tables.spends) {
    const kept = rows.filter(({ run, endsAt }) => (endsAt === undefined ? tables.runs.has(run) : endsAt > before))
    if (kept.length === 0) tables.spends.delete(call)
    else tables.spends.set(call, kept)
  }
}

/** Each breach of the laws of budgets, in words. */
export function brokenBudgets(tables: Tables): Finding[] {
  const counted = new Map<string, Tally>()
  for (const { run, spend } of [...tables.spends.values()].flat()) {
    for (const place of placesOfSpend(spend, run))
      counted.set(placeKey(place), withSpend(counted.get(placeKey(place)) ?? NO_TALLY, spend))
  }
  return [...tables.windows].flatMap(([key, { place, tally }]) => {
    const calls = counted.get(key) ?? NO_TALLY
    const differs = FIGURES.some((name) => tally[name] !== calls[name])
    const { callsReserved, callsSpent, nanoReserved, nanoSpent, nanoOver, callsLimit, nanoLimit } = tally
    const isAbove =
      callsReserved + callsSpent > (callsLimit ?? Number.POSITIVE_INFINITY) ||
      nanoReserved + nanoSpent - nanoOver > (nanoLimit ?? Number.POSITIVE_INFINITY)
    const name = `${place.budget} ${place.key}`
    const run = place.window === 'run' ? { run: place.key } : {}
    return [
      ...(differs
        ? [{ ...run, law: 'spent and reserved are the sum of the calls', found: `${name} differs from its calls` }]
        : []),
      ...(isAbove
        ? [{ ...run, law: 'no window is above its limit', found: `${name} has given out more than its limit` }]
        : []),
    ]
  })
}

const FIGURES = ['callsReserved', 'callsSpent', 'nanoReserved', 'nanoSpent'] as const

function withSpend(tally: Tally, { state, nano }: Spend): Tally {
  if (state === 'released') return tally
  return state === 'reserved'
    ? { ...tally, callsReserved: tally.callsReserved + 1, nanoReserved: tally.nanoReserved + nano }
    : { ...tally, callsSpent: tally.callsSpent + 1, nanoSpent: tally.nanoSpent + nano }
}
