/** Stores that create wrongly. */
import type { NewRun } from '../../../src/ports/store.ts'
import { isTerminal } from '../../../src/run/run.ts'
import { memoryOn } from '../../../src/stores/memory/index.ts'
import { joined } from '../../../src/stores/memory/rows.ts'
import { type Bench, ending, gap, type Sabotage, type Shelf, without } from './bench.ts'

const HOUR_MS = 3_600_000

const submitting =
  (change: (run: NewRun, bench: Bench) => NewRun): Sabotage =>
  (bench) => ({ create: (runs) => bench.store.create(runs.map((run) => change(run, bench))) })

const keyOf = ({ tables }: Bench, { task, key }: NewRun) =>
  key === undefined ? undefined : tables.keys.get(joined(task, key))

export const createShelf: Shelf = {
  'new-run-waits': ({ store, tables, clock }) => ({
    create: async (runs) => {
      const known = new Set(tables.runs.keys())
      const created = await store.create(runs)
      for (const row of tables.runs.values())
        if (!known.has(row.id) && row.state === 'ready') Object.assign(row, { state: 'waiting', dueAt: clock.now() })
      return created
    },
  }),
  'due-ignored': submitting((run) => without(run, 'dueAt')),
  'half-a-create': ({ store }) => ({
    create: async (runs) => {
      const answers = []
      for (const run of runs) answers.push(await store.create([run]))
      return { now: answers[0]?.now ?? 0, runs: answers.flatMap((created) => created.runs) }
    },
  }),
  'local-time': ({ tables, clock }) => memoryOn(tables, { clock: { ...clock, now: () => clock.now() + HOUR_MS } }),
  'answers-shuffled': ({ store }) => ({
    create: async (runs) => {
      const created = await store.create(runs)
      return { ...created, runs: created.runs.toReversed() }
    },
  }),
  'double-create': submitting((run) => without(run, 'key')),
  'check-then-insert': (bench) => ({
    create: async (runs) => {
      const fresh = runs.filter((run) => keyOf(bench, run) === undefined)
      await gap()
      for (const { task, key } of fresh) if (key !== undefined) bench.tables.keys.delete(joined(task, key))
      return bench.store.create(runs)
    },
  }),
  'fingerprint-ignored': submitting((run, bench) => ({ ...run, ...keyOf(bench, run) })),
  'conflict-spreads': ({ store }) => ({
    create: async (runs) => {
      const created = await store.create(runs)
      return created.runs.includes('conflict') ? { ...created, runs: runs.map(() => 'conflict' as const) } : created
    },
  }),
  'key-without-task': submitting((run, { tables }) => {
    const names = [...tables.keys.keys()].map((name): [string, string] => JSON.parse(name))
    const [task] = names.find(([, key]) => key === run.key) ?? []
    return task === undefined ? run : { ...run, task }
  }),
  'key-dies-with-run': ending({
    after: (row, _before, _end, { tables }) => {
      for (const [name, { run }] of tables.keys) if (run === row.id && isTerminal(row.state)) tables.keys.delete(name)
    },
  }),
  'on-existing-ignored': submitting((run) => without(run, 'onExisting')),
  'return-restarts': submitting((run) => ({ ...run, onExisting: 'retry' })),
  'retry-restarts-everything': (bench) => ({
    create: (runs) => {
      for (const run of runs) {
        const row = bench.tables.runs.get(keyOf(bench, run)?.run ?? '')
        if (!row || run.onExisting !== 'retry') continue
        const expect = { generation: row.generation, states: [row.state] }
        void bench.store.steer({
          run: row.id,
          type: 'retry',
          by: 'submit',
          why: { code: 'run.ready', params: { since: 0 } },
          expect,
        })
      }
      return bench.store.create(runs)
    },
  }),
}
