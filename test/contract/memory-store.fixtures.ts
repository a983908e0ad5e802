/**
 * The memory store as the contract opens it, with a hand on its tables: they can be damaged, broken on purpose and opened again.
 */
import { NO_TALLY, RUN_BUDGET, type Tally } from '../../src/run/budget.ts'
import type { Hold } from '../../src/run/hold.ts'
import { memoryOn } from '../../src/stores/memory/index.ts'
import { emptyTables, type Row, type Tables } from '../../src/stores/memory/rows.ts'
import type { OpenedStore } from '../../src/testing/store-contract/index.ts'
import type { Clock } from '../../src/time/clock.ts'

export function openMemory(clock: Clock, tables: Tables = emptyTables()): OpenedStore {
  return {
    store: memoryOn(tables, { clock }),
    reopen: async () => memoryOn(tables, { clock }),
    damages: damagesOf(tables),
    damagesBeside: damagesBesideOf(tables),
  }
}

/** A window of what the run may cost, with counts that nothing stands for. */
function countWindow(tables: Tables, run: string, counts: Partial<Tally>): void {
  const place = { budget: RUN_BUDGET, window: 'run', key: run } as const
  tables.windows.set(run, { place, tally: { ...NO_TALLY, ...counts } })
}

/** The run that the law hands over is ready, new and without a key. */
export function damagesOf(tables: Tables): NonNullable<OpenedStore['damages']> {
  const damage = (change: (row: Row) => void) => (run: string) => {
    const row = tables.runs.get(run)
    if (!row) throw new Error(`no run ${run}`)
    change(row)
  }
  return {
    'a state that is none': damage((row) => Object.assign(row, { state: 'running' })),
    'a lease on an ended run': damage((row) =>
      Object.assign(row, {
        state: 'failed',
        finishedAt: 1,
        lease: { token: 1, worker: 'w', until: 1, alone: false, claimedAt: 0 },
      }),
    ),
    'a due time on a ready run': damage((row) => Object.assign(row, { dueAt: 1 })),
    'an output on a ready run': damage((row) => Object.assign(row, { output: '1' })),
    'an ended run without a finish time': damage((row) => {
      row.state = 'succeeded'
      tables.open.delete(row)
    }),
    'a suspect that is finished': damage((row) => {
      Object.assign(row, { state: 'succeeded', finishedAt: 1, suspect: true })
      tables.open.delete(row)
    }),
    'a token that no claim gave': damage((row) => Object.assign(row, { endedBy: 9_999 })),
    'a ledger without history': damage((row) => Object.assign(row, { ledgers: { ...row.ledgers, errors: 1 } })),
    'a lapse without history': damage((row) => Object.assign(row, { ledgers: { ...row.ledgers, lapses: 1 } })),
    'history of a later generation': damage((row) =>
      row.history.push({
        generation: 2,
        attempt: 0,
        token: 0,
        worker: 'w',
        startedAt: 0,
        endedAt: 0,
        outcome: 'operator',
      }),
    ),
    'a budget that counts what no call took': (run) => countWindow(tables, run, { callsSpent: 1 }),
    'a budget above its limit': (run) => countWindow(tables, run, { nanoSpent: 2, nanoOver: 1, nanoLimit: 0 }),
    'history out of order': damage((row) => {
      for (const token of [2, 1])
        row.history.push({ generation: 1, attempt: 1, token, worker: 'w', startedAt: 0, endedAt: 0, outcome: 'failed' })
    }),
    'money without a take': damage((row) => Object.assign(row, { costUsd: 1 })),
    'a ready run that no claim finds': damage((row) => tables.open.delete(row)),
    'waiting for nothing': damage((row) => Object.assign(row, { state: 'waiting' })),
    'parked though its key has room': damage((row) =>
      Object.assign(row, { state: 'waiting', concurrency: { key: 'k', max: 1 } }),
    ),
    'blocked for nothing': damage((row) => Object.assign(row, { state: 'blocked' })),
    'ready in spite of an open need': damage((row) => {
      const needed = { ...row, id: 'other', needs: [], dependents: [] }
      tables.runs.set('other', { ...needed, history: [], journals: new Map() })
      row.needs.push({ dependent: row, needed, kind: 'fail', join: undefined, open: true })
    }),
    'blocked by what is done': damage((row) => {
      const needed = { ...row, state: 'succeeded' as const, needs: [], dependents: [] }
      Object.assign(row, { state: 'blocked' })
      row.needs.push({ dependent: row, needed, kind: 'fail', join: undefined, open: true })
    }),
    'blocked by what cannot come': damage((row) => {
      const needed = { ...row, state: 'failed' as const, needs: [], dependents: [] }
      Object.assign(row, { state: 'blocked' })
      row.needs.push({ dependent: row, needed, kind: 'skip', join: undefined, open: true })
    }),
    'a need that is not there': damage((row) => {
      const needed = { ...row, id: 'gone', state: 'succeeded' as const, needs: [], dependents: [] }
      row.needs.push({ dependent: row, needed, kind: 'fail', join: undefined, open: false })
    }),
    'a step of no flow': damage((row) => Object.assign(row, { step: 'lost', flow: 'r999999' })),
    'a need outside of its flow': damage((row) => {
      const needed = { ...row, state: 'succeeded' as const, needs: [], dependents: [] }
      row.needs.push({ dependent: row, needed, kind: 'wait', join: undefined, open: false })
    }),
    'a join of a generation to come': damage((row) => {
      const needed = { ...row, state: 'succeeded' as const, needs: [], dependents: [] }
      row.needs.push({
        dependent: row,
        needed,
        kind: 'join',
        join: { name: 'j', generation: 7, index: 0 },
        open: false,
      })
    }),
    'ended by a need that it has not': damage((row) => {
      Object.assign(row, {
        state: 'cancelled',
        finishedAt: 1,
        why: { code: 'run.skipped', params: { step: 'a', how: 'failed' } },
      })
      tables.open.delete(row)
    }),
    'a flow without its steps': damage((row) => {
      tables.flows.set(row.id, { id: row.id, name: 'f', key: undefined, fingerprint: undefined, rows: [] })
    }),
    'a probe in another lane': damage((row) => {
      Object.assign(row, { lease: { token: 1, worker: 'w', until: 1, alone: false, claimedAt: 0 } })
      tables.holds.set('resource:elsewhere', probing('resource:elsewhere', row.id, 1))
    }),
    'a probe that no claim gave': damage((row) => {
      tables.holds.set('task:other', probing('task:other', row.id, 9_999))
    }),
    'a key that leads nowhere': damage((row) => Object.assign(row, { key: 'lost' })),
    'a key that leads to another run': damage((row) =>
      tables.keys.set('["t","stolen"]', { run: row.id, fingerprint: 'print', at: 0 }),
    ),
  }
}

const probing = (what: Hold['what'], run: string, token: number): Hold => ({
  ...{ what, until: 1, why: 'busy', by: 'http.429', probe: true, setAt: 0, phase: 'probing', probing: { run, token } },
})

/** Damage of holds and buckets, which are of no run. */
export function damagesBesideOf({ holds, buckets }: Tables): NonNullable<OpenedStore['damagesBeside']> {
  const hold = (name: string, change: Partial<Hold>) => () => {
    const { probing: _probe, ...held } = probing(name as Hold['what'], '', 0)
    holds.set(name as Hold['what'], { ...held, phase: 'held', ...change })
  }
  return {
    'a hold of nothing': hold('nothing', {}),
    'a hold under another name': hold('task:a', { what: 'task:b' }),
    'a hold in no phase': hold('task:c', { phase: 'open' as never }),
    'a probing hold without a probe': hold('task:d', { phase: 'probing' }),
    'a hold that lets in since never': hold('task:e', { phase: 'admitting' }),
    'a hold that lets in before its end': hold('task:f', { phase: 'admitting', admittingSince: 0 }),
    'a bucket of another resource': () => {
      buckets.set('a', { resource: 'b', health: 1, phase: 'watched', tokens: 0, at: 0 })
    },
    'a bucket without health': () => {
      buckets.set('c', { resource: 'c', health: -1, phase: 'watched', tokens: 0, at: 0 })
    },
    'a bucket that heals since never': () => {
      buckets.set('d', { resource: 'd', health: 1, phase: 'healing', tokens: 0, at: 0 })
    },
  }
}
