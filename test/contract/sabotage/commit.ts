/** Stores that fence or write the end of an attempt wrongly. */
import { EMPTY_LEDGERS, isTerminal } from '../../../src/run/run.ts'
import { ending, forced, gap, type Shelf, without } from './bench.ts'

export const commitShelf: Shelf = {
  'ended-by-missing': ending({
    after: (row, before) => {
      row.endedBy = before.endedBy
    },
  }),
  'lease-stays': ending({
    after: (row, before) => {
      row.lease = before.lease
    },
  }),
  'torn-end': ending({ change: (end) => without(end, 'attempt') }),
  'torn-journal': ending({ change: (end) => without(end, 'journal') }),
  'no-fence': (bench) => ({
    commit: (change) => (change.type === 'end' ? forced(bench, change) : bench.store.commit(change)),
  }),
  'stale-one-refuses-all': ({ store, tables, clock }) => ({
    commitAll: async (ends) => {
      const isStale = ends.some(({ run, token }) => tables.runs.get(run)?.lease?.token !== token)
      return isStale ? ends.map(() => ({ now: clock.now(), answer: 'lost' })) : Promise.all(ends.map(store.commit))
    },
  }),
  'answers-unordered': ({ store }) => ({
    commitAll: async (ends) => {
      const answers = await Promise.all(ends.map(store.commit))
      return answers.sort((a, b) => a.answer.localeCompare(b.answer))
    },
  }),
  'ends-its-neighbours': (bench) => ({
    commitAll: async (ends) => {
      const token = ends[0]?.token
      const mine = [...bench.tables.runs.values()].filter(({ lease }) => lease?.token === token)
      const answers = await Promise.all(ends.map(bench.store.commit))
      for (const { id: run } of mine) {
        if (token !== undefined) await bench.store.commit({ type: 'end', run, token, state: 'succeeded' })
      }
      return answers
    },
  }),
  'no-fence-for-intents': (bench) => ({
    commit: (change) => (change.type === 'intent' ? forced(bench, change, true) : bench.store.commit(change)),
  }),
  'no-fence-for-progress': (bench) => ({
    commit: (change) => (change.type === 'progress' ? forced(bench, change, true) : bench.store.commit(change)),
  }),
  'fence-by-order': (bench) => ({
    commit: (change) => {
      const token = bench.tables.runs.get(change.run)?.lease?.token
      return token !== undefined && change.token > token ? forced(bench, change) : bench.store.commit(change)
    },
  }),
  'refusal-unnoted': ({ store, tables }) => ({
    commit: async (change) => {
      const committed = await store.commit(change)
      if (committed.answer === 'lost') tables.notes.pop()
      return committed
    },
  }),
  'time-takes-writes': ({ store, tables, clock }) => ({
    commit: async (change) => {
      const { lease } = tables.runs.get(change.run) ?? {}
      const now = clock.now()
      return lease && lease.until <= now ? { now, answer: 'lost' } : store.commit(change)
    },
  }),
  'terminal-can-change': (bench) => ({
    commit: (change) => {
      const row = bench.tables.runs.get(change.run)
      const own = row && isTerminal(row.state) && row.endedBy === change.token
      return own ? forced(bench, change) : bench.store.commit(change)
    },
  }),
  'end-twice': (bench) => ({
    commit: async (change) => {
      const mine = bench.tables.runs.get(change.run)?.lease?.token === change.token
      await gap()
      return mine ? forced(bench, change) : bench.store.commit(change)
    },
  }),
  'due-lost-at-the-end': ending({ change: (end) => without(end, 'dueAt') }),
  'lane-kept': ending({ change: (end) => without(end, 'lane', 'rung') }),
  'ledgers-lost': ending({
    after: (row, _before, { ledgers }) => {
      if (!ledgers) row.ledgers = EMPTY_LEDGERS
    },
  }),
  'suspensions-replaced': ending({
    after: (row, _before, { suspensions = 0 }) => {
      row.suspensions = suspensions
    },
  }),
  'failure-sticks': ending({
    after: (row, before) => {
      row.failure ??= before.failure
    },
  }),
  'unstarted-counts': ending({ change: (end) => without(end, 'unstarted') }),
  'progress-dropped': ({ store, clock }) => ({
    commit: async (change) => (change.type === 'progress' ? { now: clock.now(), answer: 'ok' } : store.commit(change)),
  }),
}
