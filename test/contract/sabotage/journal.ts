/** Stores that forget what was asked of the world, or charge it wrongly. */
import type { AnswerChange } from '../../../src/ports/store.ts'
import type { JournalEntry } from '../../../src/run/journal.ts'
import { joined } from '../../../src/stores/memory/rows.ts'
import { type Bench, claiming, type Shelf, without } from './bench.ts'

type Address = Pick<AnswerChange, 'run' | 'generation' | 'name' | 'inputHash'>

const journalOf = ({ tables }: Bench, { run, generation }: Address) => tables.runs.get(run)?.journals.get(generation)
const entryOf = (bench: Bench, address: Address) =>
  journalOf(bench, address)?.get(joined(address.name, address.inputHash))
const put = (bench: Bench, address: Address, entry: JournalEntry) =>
  journalOf(bench, address)?.set(joined(address.name, address.inputHash), entry)

const isOwner = ({ tables }: Bench, { run, token }: AnswerChange) => tables.runs.get(run)?.lease?.token === token

export const journalShelf: Shelf = {
  'intent-unwritten': ({ store, clock }) => ({
    commit: async (change) => (change.type === 'intent' ? { now: clock.now(), answer: 'ok' } : store.commit(change)),
  }),
  'answer-unwritten': ({ store, clock }) => ({
    commit: async (change) => (change.type === 'answer' ? { now: clock.now(), answer: 'ok' } : store.commit(change)),
  }),
  'intent-keeps-answer': (bench) => ({
    commit: async (change) => {
      const before = change.type === 'intent' ? entryOf(bench, change) : undefined
      const committed = await bench.store.commit(change)
      const after = change.type === 'intent' ? entryOf(bench, change) : undefined
      if (change.type === 'intent' && before && after) put(bench, change, { ...before, ...after })
      return committed
    },
  }),
  'hash-ignored': ({ store }) => ({
    commit: (change) =>
      store.commit(change.type === 'intent' || change.type === 'answer' ? { ...change, inputHash: '' } : change),
  }),
  'journal-of-all-generations': ({ store }) => ({
    commit: (change) =>
      store.commit(change.type === 'intent' || change.type === 'answer' ? { ...change, generation: 1 } : change),
    journal: (run) => store.journal(run, 1),
  }),
  'journal-untold': claiming({
    after: (claim) => ({ ...claim, runs: claim.runs.map((run) => ({ ...run, journaled: false })) }),
  }),
  'receipt-lost': (bench) => ({
    commit: async (change) => {
      const before = change.type === 'answer' && !isOwner(bench, change) ? entryOf(bench, change) : undefined
      const committed = await bench.store.commit(change)
      if (change.type === 'answer' && before) put(bench, change, before)
      return committed
    },
  }),
  'intent-drops-receipt': (bench) => ({
    commit: async (change) => {
      const committed = await bench.store.commit(change)
      const entry = change.type === 'intent' ? entryOf(bench, change) : undefined
      if (change.type === 'intent' && entry) put(bench, change, without(entry, 'answer', 'answeredAt', 'late'))
      return committed
    },
  }),
  'receipt-overwrites': (bench) => ({
    commit: (change) => {
      const entry = change.type === 'answer' && !isOwner(bench, change) ? entryOf(bench, change) : undefined
      if (change.type === 'answer' && entry) put(bench, change, without(entry, 'answer'))
      return bench.store.commit(change)
    },
  }),
  'receipt-sticks': (bench) => ({
    commit: async (change) =>
      change.type === 'answer' && entryOf(bench, change)?.late
        ? { now: bench.clock.now(), answer: 'ok' }
        : bench.store.commit(change),
  }),
  'failure-drops-receipt': (bench) => ({
    commit: (change) => {
      const entry = change.type === 'answer' && change.failure ? entryOf(bench, change) : undefined
      if (change.type === 'answer' && entry) put(bench, change, without(entry, 'answer', 'late'))
      return bench.store.commit(change)
    },
  }),
  'receipt-uncharged': (bench) => ({
    commit: (change) =>
      bench.store.commit(change.type === 'answer' && !isOwner(bench, change) ? without(change, 'costUsd') : change),
  }),
  'late-failure-kept': (bench) => ({
    commit: async (change) => {
      const late = change.type === 'answer' && !isOwner(bench, change)
      const committed = await bench.store.commit(change)
      const entry = late ? entryOf(bench, change) : undefined
      if (late && entry && change.failure) put(bench, change, { ...entry, failure: change.failure })
      return committed
    },
  }),
  'cost-unsettled': ({ store }) => ({
    commit: (change) => store.commit(change.type === 'answer' ? without(change, 'costUsd') : change),
  }),
  'answer-charged-twice': (bench) => ({
    commit: async (change) => {
      const row = bench.tables.runs.get(change.run)
      const again = change.type === 'answer' && entryOf(bench, change)?.answeredAt !== undefined
      const committed = await bench.store.commit(change)
      if (again && row) row.costUsd += change.costUsd ?? 0
      return committed
    },
  }),
}
