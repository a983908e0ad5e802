/**
 * `create` of the memory driver: new runs, idempotent by task and key.
 * It knows nothing of leases; a run that is submitted again is begun again by `needs.ts`.
 */
import type { Created, CreatedRun, NewRun } from '../../ports/store.ts'
import { placeOf } from '../../run/place.ts'
import { EMPTY_LEDGERS, type Lane } from '../../run/run.ts'
import { beginFlowAgain } from './needs.ts'
import { copy, joined, type Row, type Tables } from './rows.ts'

/** Who is named in history when a submit, not an operator, begins a run again. */
export const SUBMITTER = 'submit'

export function create(tables: Tables, runs: readonly NewRun[], now: number): Created {
  // Checked before the first write, because a call is all or nothing.
  runs.forEach(check)
  return { now, runs: runs.map((run) => createOne(tables, run, now)) }
}

export function check(run: NewRun, index: number): void {
  if (run.key !== undefined && run.fingerprint === undefined) {
    throw new RangeError(`runs[${index}].fingerprint: undefined; a run with a key needs the fingerprint of its input`)
  }
}

export function createOne(tables: Tables, run: NewRun, now: number): CreatedRun | 'conflict' {
  const name = run.key === undefined ? undefined : joined(run.task, run.key)
  const known = name === undefined ? undefined : tables.keys.get(name)
  if (known) return createAgain(tables, run, known, now)
  const row = insert(tables, run, now)
  if (name !== undefined) tables.keys.set(name, { run: row.id, fingerprint: run.fingerprint ?? '', at: now })
  return { id: row.id, created: true, generation: 1 }
}

export function insert(tables: Tables, run: NewRun, now: number): Row {
  tables.last.run += 1
  const row = newRow(tables, run, now)
  tables.runs.set(row.id, row)
  tables.open.add(row)
  return row
}

function createAgain(
  tables: Tables,
  run: NewRun,
  known: { readonly run: string; readonly fingerprint: string },
  now: number,
): CreatedRun | 'conflict' {
  if (known.fingerprint !== run.fingerprint) return 'conflict'
  const row = tables.runs.get(known.run)
  const ended = row?.state === 'failed' || row?.state === 'cancelled'
  if (row && ended && run.onExisting === 'retry')
    beginFlowAgain(tables, row, now, { by: SUBMITTER, deadlineAt: run.deadlineAt })
  return { id: known.run, created: false, generation: row?.generation ?? 1 }
}

function newRow(tables: Tables, run: NewRun, now: number): Row {
  const seq = tables.last.run
  const { priority, dueAt } = run
  const later = run.dueAt !== undefined && run.dueAt > now
  return {
    seq,
    id: `r${seq}`,
    key: run.key,
    submittedAt: now,
    lane: laneOf(run),
    home: laneOf(run),
    concurrency: run.concurrency && copy(run.concurrency),
    place: placeOf({ priority, submittedAt: now, dueAt }, tables.ageingMs),
    again: false,
    state: later ? 'waiting' : 'ready',
    generation: 1,
    priority,
    dueAt: later ? run.dueAt : undefined,
    readyAt: now,
    lease: undefined,
    endedBy: undefined,
    attempt: 0,
    ledgers: EMPTY_LEDGERS,
    suspensions: 0,
    suspect: false,
    uncounted: 0,
    lapsed: undefined,
    rung: 0,
    why: undefined,
    failure: undefined,
    input: run.input,
    output: undefined,
    deadlineAt: run.deadlineAt,
    maxCostUsd: run.maxCostUsd,
    costUsd: 0,
    progress: undefined,
    finishedAt: undefined,
    flow: undefined,
    step: undefined,
    needs: [],
    dependents: [],
    history: [],
    journals: new Map(),
  }
}

function laneOf({ task, category, resource }: Lane): Lane {
  return copy({ task, category, resource }) as Lane
}
