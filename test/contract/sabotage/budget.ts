/** Stores that spend more than they may, twice, in the wrong window, or give back what is gone. */
import type { Reserve } from '../../../src/ports/budget.ts'
import type { AnswerChange, Change, CommitAnswer, IntentChange } from '../../../src/ports/store.ts'
import type { Spend } from '../../../src/run/budget.ts'
import type { SpendRow } from '../../../src/stores/memory/budgets.ts'
import { memoryOn } from '../../../src/stores/memory/index.ts'
import { emptyTables } from '../../../src/stores/memory/rows.ts'
import { type Bench, forced, gap, type Sabotage, type Shelf, without } from './bench.ts'

type Reserving = IntentChange & { readonly reserve: readonly Reserve[] }

const isReserving = (change: Change): change is Reserving => change.type === 'intent' && change.reserve !== undefined

/** Breaks what an intent reserves. */
const reserving =
  (commit: (change: Reserving, bench: Bench) => Promise<CommitAnswer>): Sabotage =>
  (bench) => ({ commit: (change) => (isReserving(change) ? commit(change, bench) : bench.store.commit(change)) })

const reservingAs = (change: (reserve: Reserve, intent: IntentChange) => Reserve): Sabotage =>
  reserving((intent, { store }) =>
    store.commit({ ...intent, reserve: intent.reserve.map((each) => change(each, intent)) }),
  )

/** Breaks how an answer settles. */
const settling =
  (change: (answer: AnswerChange, bench: Bench) => AnswerChange): Sabotage =>
  (bench) => ({
    commit: (given) =>
      bench.store.commit(given.type === 'answer' && given.settle !== undefined ? change(given, bench) : given),
  })

const uncapped = (reserve: Reserve): Reserve => ({ ...reserve, limits: reserve.limits.run ? { run: {} } : {} })

/** All reservations with the way to change them in place. */
const spendsOf = ({ tables }: Bench): [SpendRow[], number, SpendRow][] =>
  [...tables.spends.values()].flatMap((rows) =>
    rows.map((row, index) => [rows, index, row] as [SpendRow[], number, SpendRow]),
  )

const changeSpends = (bench: Bench, change: (spend: Spend) => Spend): void => {
  for (const [rows, index, row] of spendsOf(bench)) rows[index] = { ...row, spend: change(row.spend) }
}

/** Forgets reservations past their time, as if nothing could have been sent. */
function freeLeaks(bench: Bench): void {
  for (const [rows, index, row] of spendsOf(bench)) {
    if (row.spend.state !== 'reserved' || row.spend.until > bench.clock.now()) continue
    rows[index] = { ...row, spend: { ...row.spend, state: 'released', nano: 0 } }
    for (const [key, { place, tally }] of bench.tables.windows)
      bench.tables.windows.set(key, {
        place,
        tally: { ...tally, callsReserved: tally.callsReserved - 1, nanoReserved: tally.nanoReserved - row.spend.nano },
      })
  }
}

export const budgetShelf: Shelf = {
  'reserve-ignored': reserving((change, { store }) => store.commit(without(change, 'reserve'))),
  'settle-ignored': settling((answer) => without(answer, 'settle')),
  'check-then-increment': reserving(async (change, { store }) => {
    const { budgets } = await store.budgets()
    await gap()
    for (const { budget, limits } of change.reserve) {
      const use = budgets.find(({ name }) => name === budget)?.windows[0]?.use.calls
      if ((use?.spent ?? 0) + (use?.reserved ?? 0) >= (limits.day?.calls ?? 1e9)) return store.commit(change)
    }
    return store.commit({ ...change, reserve: change.reserve.map(uncapped) })
  }),
  'over-untold': reserving(async (change, { store }) => {
    const committed = await store.commit(change)
    return committed.over ? { ...committed, over: without(committed.over, 'resetsAt') } : committed
  }),
  'reserve-torn': reserving(async (change, { store }) => {
    const committed = await store.commit(change)
    if (committed.answer === 'over') await store.commit({ ...change, take: 99, reserve: change.reserve.slice(0, 1) })
    return committed
  }),
  'over-writes-intent': reserving(async (change, { store }) => {
    const committed = await store.commit(change)
    if (committed.answer === 'over') await store.commit(without(change, 'reserve'))
    return committed
  }),
  'month-ignored': reservingAs((reserve) => ({ ...reserve, limits: without(reserve.limits, 'month') })),
  'window-in-utc': reservingAs((reserve) => ({ ...reserve, zone: 'UTC' })),
  'settled-in-new-window': settling((answer, bench) => {
    const day = new Date(bench.clock.now()).toISOString().slice(0, 10)
    for (const [key, { place, tally }] of [...bench.tables.windows])
      if (place.window === 'day')
        bench.tables.windows.set(key.replace(place.key, day), { place: { ...place, key: day }, tally })
    changeSpends(bench, (spend) => (spend.day === undefined ? spend : { ...spend, day }))
    return answer
  }),
  'reserve-twice': reserving((change, bench) => {
    bench.tables.spends.clear()
    return bench.store.commit(change)
  }),
  'settle-twice': settling((answer, bench) => {
    changeSpends(bench, (spend) => (spend.state === 'spent' ? { ...spend, state: 'reserved' } : spend))
    return answer
  }),
  'release-keeps': settling((answer) => ({ ...answer, settle: 'spend' })),
  'release-of-sent': settling((answer, bench) => {
    if (answer.settle === 'release')
      changeSpends(bench, (spend) => (spend.state === 'spent' ? { ...spend, state: 'reserved' } : spend))
    return answer
  }),
  'cost-ignored': settling((answer) => without(answer, 'costUsd')),
  'money-uncapped': reservingAs((reserve) => ({
    ...reserve,
    limits: { ...reserve.limits, day: without(reserve.limits.day ?? {}, 'usd') },
  })),
  'money-in-floats': reservingAs((reserve) => ({ ...reserve, usd: reserve.usd * (1 + 1e-6) })),
  'leak-freed': (bench) => ({
    budgets: () => {
      freeLeaks(bench)
      return bench.store.budgets()
    },
    commit: (change) => {
      freeLeaks(bench)
      return bench.store.commit(change)
    },
  }),
  'late-made-cheaper': settling((answer, bench) => {
    changeSpends(bench, (spend) => ({ ...spend, until: Number.POSITIVE_INFINITY }))
    for (const [rows, index, row] of spendsOf(bench)) {
      if (row.spend.state !== 'expired') continue
      rows[index] = { ...row, spend: { ...row.spend, state: 'reserved' } }
      for (const [key, { place, tally }] of bench.tables.windows) {
        const { nano } = row.spend
        const back = { callsReserved: tally.callsReserved + 1, callsSpent: tally.callsSpent - 1 }
        const money = { nanoReserved: tally.nanoReserved + nano, nanoSpent: tally.nanoSpent - nano }
        bench.tables.windows.set(key, { place, tally: { ...tally, ...back, ...money } })
      }
    }
    return answer
  }),
  'late-unsettled': settling((answer, { tables }) =>
    tables.runs.get(answer.run)?.lease?.token === answer.token ? answer : without(answer, 'settle'),
  ),
  'failure-unsettled': settling((answer) => (answer.failure ? without(answer, 'settle') : answer)),
  'reserve-unfenced': reserving(async (change, bench) => {
    const committed = await bench.store.commit(change)
    if (committed.answer === 'lost') await forced(bench, change, true)
    return committed
  }),
  'overshoot-clipped': settling((answer) =>
    answer.costUsd === undefined ? answer : { ...answer, costUsd: Math.min(answer.costUsd, 0.4) },
  ),
  'set-ignored': ({ clock }) => ({ setBudget: async () => ({ now: clock.now(), answer: 'ok' }) }),
  'set-unnoted': ({ store, tables }) => ({
    setBudget: async (order) => {
      const committed = await store.setBudget(order)
      tables.notes.pop()
      return committed
    },
  }),
  'warned-again': reserving((change, { store, tables }) => {
    for (const [key, { place, tally }] of tables.windows)
      tables.windows.set(key, { place, tally: { ...tally, warned: 0 } })
    return store.commit(change)
  }),
  'warned-never': reserving(async (change, { store }) => without(await store.commit(change), 'warned')),
  'run-cap-per-generation': reserving((change, { store, tables }) => {
    if (change.generation > 1) for (const key of tables.windows.keys()) tables.windows.delete(key)
    return store.commit(change)
  }),
  'windows-kept': (bench) => ({
    prune: async (request) => {
      const spends = [...bench.tables.spends]
      const windows = [...bench.tables.windows]
      const pruned = await bench.store.prune?.(request)
      for (const [key, rows] of spends) bench.tables.spends.set(key, rows)
      for (const [key, row] of windows) bench.tables.windows.set(key, row)
      return pruned ?? { now: bench.clock.now(), pruned: [], keys: 0, more: false }
    },
  }),
  'windows-dropped': ({ store, tables, clock }) => ({
    prune: async (request) => {
      tables.windows.clear()
      return (await store.prune?.(request)) ?? { now: clock.now(), pruned: [], keys: 0, more: false }
    },
  }),
  'budgets-forgotten': ({ tables, clock }) => ({
    reopen: async () => {
      const { budgets, windows, spends, reserved } = emptyTables()
      return memoryOn({ ...tables, budgets, windows, spends, reserved }, { clock })
    },
  }),
}
