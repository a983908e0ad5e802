/** Stores that are wrong about history, notes, their own soundness, or texts and numbers. */
import { memory } from '../../../src/stores/memory/index.ts'
import { ending, rowsOf, type Sabotage, type Shelf } from './bench.ts'

/** Changes every text and number that `get` answers with. */
const reading =
  (change: (name: string, value: unknown) => unknown): Sabotage =>
  ({ store }) => ({
    get: async (ref) => {
      const view = await store.get(ref)
      return view && JSON.parse(JSON.stringify(view), (name, value) => change(name, value))
    },
  })

const texts = (change: (text: string) => string) =>
  reading((_name, value) => (typeof value === 'string' ? change(value) : value))

const TEXT_MAX = 65_535

export const besideShelf: Shelf = {
  'history-newest-first': ({ store }) => ({ attempts: async (run) => (await store.attempts(run)).toReversed() }),
  'row-for-every-attempt': ending({
    after: (row, _before, { attempt, token }, { clock }) => {
      const now = clock.now()
      const { generation } = row
      const worker = 'w1'
      if (!attempt)
        row.history.push({
          generation,
          attempt: row.attempt,
          token,
          worker,
          startedAt: now,
          endedAt: now,
          outcome: 'succeeded',
        })
    },
  }),
  'history-mixed': ({ tables }) => ({ attempts: async () => rowsOf(tables).flatMap(({ history }) => history) }),
  'notes-overwrite': ({ store, tables }) => ({
    note: async (note) => {
      const same = tables.notes.findIndex(({ run, what }) => run === note.run && what === note.what)
      if (same >= 0) tables.notes.splice(same, 1)
      return store.note(note)
    },
  }),
  'notes-unfiltered': ({ store }) => ({ notes: ({ limit }) => store.notes(limit === undefined ? {} : { limit }) }),
  'policy-overwritten': ({ tables }) => ({
    keepPolicy: async (hash, policy) => {
      tables.policies.set(hash, policy)
    },
  }),
  'watch-never-stops': ({ store }) => ({
    watch: (hint) => {
      store.watch(hint)
      return () => {}
    },
  }),
  'close-once': () => {
    let calls = 0
    return {
      close: async () => {
        calls += 1
        if (calls === 2) throw new Error('closed already')
      },
    }
  },
  'answers-after-close': ({ store }) => ({ close: async () => store.watch(() => {})() }),
  'forgets-at-close': ({ clock }) => ({ reopen: async () => memory({ clock }) }),
  'verify-cries-wolf': () => ({ verify: async () => [{ law: 'all is lost', found: 'nothing' }] }),
  'verify-sleeps': () => ({ verify: async () => [] }),
  'verify-sees-runs-only': ({ store }) => ({
    verify: async () => (await store.verify()).filter(({ run }) => run !== undefined),
  }),
  'texts-cut-at-nul': texts((text) => text.split('\u0000')[0] ?? ''),
  'texts-folded': texts((text) => text.toUpperCase()),
  'texts-trimmed': texts((text) => text.trim()),
  'long-texts-cut': texts((text) => text.slice(0, TEXT_MAX)),
  'fractions-rounded': reading((_name, value) => (typeof value === 'number' ? Math.round(value * 100) / 100 : value)),
  'prototype-dropped': ({ store }) => ({
    attempts: async (run) =>
      (await store.attempts(run)).map((record) => {
        const facts: Record<string, string | number | boolean> = {}
        for (const [name, value] of Object.entries(record.failure?.facts ?? {})) facts[name] = value
        return record.failure ? { ...record, failure: { ...record.failure, facts } } : record
      }),
  }),
  'query-injected': ({ store }) => ({
    find: (query) => store.find(JSON.stringify(query).includes("'") ? { limit: query.limit } : query),
  }),
  'answers-shared': ({ tables }) => ({ attempts: async (run) => tables.runs.get(run)?.history ?? [] }),
  'arguments-shared': ({ tables, clock }) => ({
    note: async (note) => {
      tables.notes.push({ ...note, at: clock.now() })
    },
  }),
}
