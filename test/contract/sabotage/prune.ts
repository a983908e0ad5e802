/** Stores that delete what they should keep, or keep what they should delete. */
import type { Pruned, PruneRequest } from '../../../src/ports/store.ts'
import { isTerminal } from '../../../src/run/run.ts'
import type { Row } from '../../../src/stores/memory/rows.ts'
import { type Bench, pretend, rowsOf, type Sabotage, type Shelf } from './bench.ts'

const pruneOf = ({ store }: Bench, request: PruneRequest): Promise<Pruned> => {
  if (!store.prune) throw new Error('the memory store prunes')
  return store.prune(request)
}

const pruning =
  ({
    change,
    before,
    after,
  }: {
    change?: (request: PruneRequest) => PruneRequest
    before?: (bench: Bench) => void
    after?: (pruned: Pruned, bench: Bench, request: PruneRequest) => Pruned
  }): Sabotage =>
  (bench) => ({
    prune: async (request) => {
      before?.(bench)
      const pruned = await pruneOf(bench, change ? change(request) : request)
      return after ? after(pruned, bench, request) : pruned
    },
  })

/** Prunes while the rows look different. */
const seeing =
  (change: (row: Row, bench: Bench) => Partial<Row>): Sabotage =>
  (bench) => ({
    prune: (request) =>
      pretend(
        bench.tables,
        (row) => change(row, bench),
        () => pruneOf(bench, request),
      ),
  })

const generationOf = ({ tables }: Bench, run: string): number => tables.runs.get(run)?.generation ?? 0

const KEPT_FOR_EVER = Number.MAX_SAFE_INTEGER

export const pruneShelf: Shelf = {
  'prune-by-submit': seeing((row) => (row.finishedAt === undefined ? {} : { finishedAt: row.submittedAt })),
  'prune-ignores-state': pruning({
    change: (request) => {
      const shortest = Math.min(...Object.values(request.keepMs))
      return { ...request, keepMs: { succeeded: shortest, failed: shortest, cancelled: shortest } }
    },
  }),
  'prune-takes-the-living': seeing((row) =>
    isTerminal(row.state) ? {} : { state: 'cancelled', finishedAt: row.submittedAt },
  ),
  'prune-tears-flow': seeing(() => ({ needs: [], dependents: [], flow: undefined })),
  'prune-leaves-history': ({ store, tables }) => {
    const known = new Map<string, Row>()
    return {
      prune: (request) => {
        for (const row of rowsOf(tables)) known.set(row.id, row)
        return pruneOf({ store, tables } as Bench, request)
      },
      attempts: async (run) => known.get(run)?.history ?? store.attempts(run),
    }
  },
  'prune-counts-tasks-together': seeing((row) => ({ lane: { ...row.lane, task: 't' } })),
  'prune-ignores-only': pruning({ change: ({ only: _only, ...request }) => request }),
  'prune-ignores-generation': (bench) => ({
    prune: (request) => {
      const only = request.only && new Map([...request.only.keys()].map((run) => [run, generationOf(bench, run)]))
      return pruneOf(bench, only ? { ...request, only } : request)
    },
  }),
  'prune-by-only-alone': pruning({
    change: (request) => (request.only ? { ...request, keepMs: { succeeded: 0, failed: 0, cancelled: 0 } } : request),
  }),
  'prune-keeps-failures': pruning({
    change: (request) => ({ ...request, keepMs: { ...request.keepMs, failed: KEPT_FOR_EVER } }),
  }),
  'prune-without-limit': pruning({ change: (request) => ({ ...request, limit: KEPT_FOR_EVER }) }),
  'prune-says-through': pruning({ after: (pruned) => ({ ...pruned, more: false }) }),
  'prune-never-looks-back': (bench) => {
    let passed = 0
    return {
      prune: async (request) => {
        const pruned = await pretend(
          bench.tables,
          (row) => (row.seq < passed ? { state: 'blocked' } : {}),
          () => pruneOf(bench, request),
        )
        passed = Math.max(passed, ...pruned.pruned.map((id) => Number(id.slice(1))))
        return pruned
      },
    }
  },
  'key-pruned-with-run': pruning({
    after: (pruned, { tables }) => {
      for (const [name, { run }] of tables.keys) if (pruned.pruned.includes(run)) tables.keys.delete(name)
      return pruned
    },
  }),
  'key-pruned-by-age': pruning({
    after: (pruned, { tables, clock }, { keysMs }) => {
      for (const [name, { at, run }] of tables.keys) {
        if (at > clock.now() - keysMs) continue
        tables.keys.delete(name)
        // Without it the store itself would tell that the key is missing.
        const row = tables.runs.get(run)
        if (row) Object.assign(row, { key: undefined })
      }
      return pruned
    },
  }),
  'key-never-forgotten': pruning({ change: (request) => ({ ...request, keysMs: KEPT_FOR_EVER }) }),
  'numbers-given-again': pruning({
    after: (pruned, { tables, clock }) => {
      for (const row of rowsOf(tables)) if ((row.finishedAt ?? clock.now()) < clock.now()) tables.runs.delete(row.id)
      tables.last.run = Math.max(0, ...rowsOf(tables).map(({ seq }) => seq))
      tables.last.token = Math.max(0, ...tables.claims.keys())
      return pruned
    },
  }),
  'prune-takes-claims': pruning({ before: ({ tables }) => tables.claims.clear() }),
  'prune-takes-notes': pruning({ before: ({ tables }) => tables.notes.splice(0) }),
  'notes-outlive-everything': (bench) => ({
    prune: async (request) => {
      const notes = [...bench.tables.notes]
      const pruned = await pruneOf(bench, request)
      bench.tables.notes.splice(0, bench.tables.notes.length, ...notes)
      return pruned
    },
  }),
}
