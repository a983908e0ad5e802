/** Stores that tell wrongly how long runs have waited. */
import type { Row } from '../../../src/stores/memory/rows.ts'
import { pretend, type Sabotage, type Shelf } from './bench.ts'

/** Tells what it would tell if the rows were different. */
const toldOf =
  (change: (row: Row, now: number) => Partial<Row>): Sabotage =>
  ({ store, tables, clock }) => ({
    pulse: (query) =>
      pretend(
        tables,
        (row) => change(row, clock.now()),
        () => store.pulse(query),
      ),
  })

export const pulseShelf: Shelf = {
  'pulse-of-the-newest': ({ store, tables }) => ({
    pulse: async (query) => {
      const { now, tasks } = await store.pulse(query)
      const newest = (task: string) =>
        Math.max(...[...tables.open].filter(({ lane }) => lane.task === task).map(({ readyAt }) => readyAt))
      return { now, tasks: tasks.map((told) => ({ ...told, oldestAt: newest(told.task) })) }
    },
  }),
  'pulse-counts-all': ({ store }) => ({ pulse: () => store.pulse({ stuckAfterMs: -1 }) }),
  'pulse-of-all': toldOf(() => ({ lease: undefined, dueAt: undefined, state: 'ready' })),
  'pulse-since-submit': toldOf((row, now) => ({
    readyAt: row.submittedAt,
    ...(row.dueAt !== undefined && row.dueAt <= now ? { dueAt: row.submittedAt } : {}),
    ...(row.lease && row.lease.until <= now ? { lease: undefined } : {}),
  })),
  'pulse-blind-to-due': toldOf((row) => ({ dueAt: row.dueAt === undefined ? undefined : Number.POSITIVE_INFINITY })),
  'pulse-blind-to-lapses': toldOf((row) => ({
    lease: row.lease && { ...row.lease, until: Number.POSITIVE_INFINITY },
  })),
  'pulse-of-held': ({ store, tables }) => ({
    pulse: async (query) => {
      const holds = [...tables.holds]
      tables.holds.clear()
      // The memory store has answered when it returns, before its promise is awaited.
      const told = store.pulse(query)
      for (const [what, hold] of holds) tables.holds.set(what, hold)
      return told
    },
  }),
}
