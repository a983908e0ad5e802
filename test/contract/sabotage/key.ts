/** Stores that forget a key, or whom it keeps waiting. */
import type { NewRun } from '../../../src/ports/store.ts'
import type { Row } from '../../../src/stores/memory/rows.ts'
import { type Bench, claiming, ending, pretend, rowsOf, type Sabotage, type Shelf, without } from './bench.ts'

const creating =
  (change: (run: NewRun) => NewRun): Sabotage =>
  ({ store }) => ({ create: (runs) => store.create(runs.map(change)) })

const isParked = (row: Row): boolean => row.state === 'waiting' && row.dueAt === undefined

/** What was woken by a call sleeps on. */
async function unwoken<T>({ tables }: Bench, call: () => Promise<T>): Promise<T> {
  const parked = rowsOf(tables).filter(isParked)
  const answer = await call()
  for (const row of parked) if (row.state === 'ready') row.state = 'waiting'
  return answer
}

const endingKept =
  (isKept: (row: Row) => boolean): Sabotage =>
  (bench) => ({
    commit: (change) => {
      const kept = (row: Row | undefined) =>
        row !== undefined && change.type === 'end' && isKept({ ...row, ...stateOf(change) })
      const call = () => bench.store.commit(change)
      return kept(bench.tables.runs.get(change.run)) ? unwoken(bench, call) : call()
    },
  })

const stateOf = (change: object): Partial<Row> => ({
  ...('state' in change ? { state: change.state as Row['state'] } : {}),
  ...('dueAt' in change ? { dueAt: change.dueAt as number } : {}),
})

export const keyShelf: Shelf = {
  'key-ignored': creating((run) => without(run, 'concurrency')),
  'person-fills-key': (bench) => ({
    claim: (request) =>
      pretend(
        bench.tables,
        ({ state, lease, concurrency }) => (state === 'review' && lease && concurrency ? { state: 'ready' } : {}),
        () => bench.store.claim(request),
      ),
  }),
  'key-per-claim': (bench) => ({
    claim: (request) =>
      pretend(
        bench.tables,
        (row) => (row.lease && row.lease.worker !== request.worker ? { state: 'review', lease: undefined } : {}),
        () => bench.store.claim(request),
      ),
  }),
  'key-per-lane': creating((run) => {
    const { concurrency: its, category = '' } = run
    return its ? { ...run, concurrency: { ...its, key: `${its.key}${category}` } } : run
  }),
  'key-unsaid': ({ store }) => ({
    get: async (ref) => {
      const view = await store.get(ref)
      return view && without(view, 'concurrency')
    },
  }),
  'parked-untouched': claiming({
    after: (claim, { tables }) => {
      for (const row of tables.open) if (isParked(row)) row.state = 'ready'
      return claim
    },
  }),
  'key-never-wakes': (bench) => ({ commit: (change) => unwoken(bench, () => bench.store.commit(change)) }),
  'key-wakes-all': ending({
    after: (_row, _before, _end, { tables }) => {
      for (const row of tables.open) if (isParked(row)) row.state = 'ready'
    },
  }),
  'key-wakes-newest': (bench) => ({
    commit: async (change) => {
      const parked = rowsOf(bench.tables).filter(isParked)
      const committed = await bench.store.commit(change)
      const woken = parked.find((row) => row.state === 'ready')
      const newest = parked.at(-1)
      if (woken && newest) {
        woken.state = 'waiting'
        newest.state = 'ready'
      }
      return committed
    },
  }),
  'key-kept-by-lapse': (bench) => ({
    claim: (request) => {
      const isLapsing = [...bench.tables.open].some(({ lease }) => lease && lease.until <= bench.clock.now())
      return isLapsing
        ? Promise.resolve({ now: bench.clock.now(), token: 0, runs: [], suspects: false })
        : bench.store.claim(request)
    },
  }),
  'key-kept-by-cancel': (bench) => ({ steer: (act) => unwoken(bench, () => bench.store.steer(act)) }),
  'key-kept-by-release': (bench) => ({
    commit: async (change) => {
      const committed = await bench.store.commit(change)
      // It stays the owner's in the count of its key, for ever.
      const row = bench.tables.runs.get(change.run)
      if (row && change.type === 'end' && change.unstarted) row.state = 'waiting'
      return committed
    },
  }),
  'key-kept-by-move': (bench) => ({
    reorder: (move) => unwoken(bench, () => bench.store.reorder?.(move) ?? Promise.reject(new Error('no reorder'))),
  }),
  'key-first-lane-only': (bench) => ({
    commit: async (change) => {
      const parked = rowsOf(bench.tables).filter(isParked)
      const committed = await bench.store.commit(change)
      for (const row of parked.filter(({ state }) => state === 'ready').slice(1)) row.state = 'waiting'
      return committed
    },
  }),
  'parked-not-moved': ({ tables, clock }) => ({
    reorder: async (move) => {
      const row = tables.runs.get(move.run)
      // The row says so, the order does not.
      if (row && move.priority !== undefined) row.priority = move.priority
      return { now: clock.now(), answer: 'ok' }
    },
  }),
  'key-kept-by-wait': endingKept(({ state, dueAt }) => state === 'waiting' && dueAt !== undefined),
  'ageing-none': (bench) => ({
    create: async (runs) => {
      const created = await bench.store.create(runs)
      for (const row of rowsOf(bench.tables)) row.place = row.priority * 4e12 + row.submittedAt
      return created
    },
  }),
  'ageing-too-soon': (bench) => ({
    create: async (runs) => {
      const created = await bench.store.create(runs)
      for (const row of rowsOf(bench.tables)) row.place = row.priority * 60_000 + row.submittedAt
      return created
    },
  }),
  'ageing-while-scheduled': (bench) => ({
    create: async (runs) => {
      const created = await bench.store.create(runs)
      for (const row of rowsOf(bench.tables)) row.place = row.priority * 600_000 + row.submittedAt
      return created
    },
  }),
}
