/**
 * `create`: new runs, idempotent by task and key. A call is all or nothing.
 * It knows nothing of leases; a run that is submitted again is begun again by `needs.ts`.
 */
import type { Created, CreatedRun, NewRun } from '../../ports/store.ts'
import { placeOf } from '../../run/place.ts'
import { spilled } from './body.ts'
import type { Work } from './group-commit.ts'
import { beginFlowAgain } from './needs.ts'
import { idOf, keyText, STATE_NUMBER, writeMore } from './row.ts'
import type { Tx } from './session.ts'
import { INSERT_MANY } from './statements.ts'

/** Who is named in history when a submit, not an operator, begins a run again. */
export const SUBMITTER = 'submit'

export function createWork(runs: readonly NewRun[]): Work<Created> {
  // Checked before anything is asked of the file, because a call is all or nothing.
  checkAll(runs)
  return { rows: runs.length, wakes: true, execute: (tx) => createAll(tx, runs) }
}

export function createAll(tx: Tx, runs: readonly NewRun[]): Created {
  const created: Created['runs'][number][] = []
  while (created.length < runs.length) {
    const next = runs.slice(created.length, created.length + INSERT_MANY)
    if (next.length === INSERT_MANY && next.every((run) => isPlain(run, tx.now))) created.push(...insertMany(tx, next))
    else for (const run of next) created.push(createOne(tx, run))
  }
  return { now: tx.now, runs: created }
}

/** Nothing but a task and an input, and ready at once: most runs. */
function isPlain({ key, deadlineAt, maxCostUsd, concurrency, dueAt, input }: NewRun, now: number): boolean {
  const asked = key ?? deadlineAt ?? maxCostUsd ?? concurrency
  return asked === undefined && (dueAt === undefined || dueAt <= now) && !spilled(input)
}

function insertMany({ statements, lanes, now, ageingMs }: Tx, runs: readonly NewRun[]): CreatedRun[] {
  const values = runs.flatMap((run) => {
    const { priority, dueAt, input } = run
    return [lanes.numberOf(run), priority, now, placeOf({ priority, submittedAt: now, dueAt }, ageingMs), input]
  })
  const last = Number(statements.insertReadyMany.run(...values).lastInsertRowid)
  return runs.map((_, index) => ({ id: idOf(last - runs.length + 1 + index), created: true, generation: 1 }))
}

export const checkAll = (runs: readonly NewRun[]): void => runs.forEach(check)

export function check(run: NewRun, index: number): void {
  if (run.key !== undefined && run.fingerprint === undefined) {
    throw new RangeError(`runs[${index}].fingerprint: undefined; a run with a key needs the fingerprint of its input`)
  }
}

export function createOne(tx: Tx, run: NewRun): CreatedRun | 'conflict' {
  const { key, fingerprint = '' } = run
  if (key === undefined) return { id: idOf(insert(tx, run)), created: true, generation: 1 }
  const known = tx.statements.findKey.get(run.task, key)
  if (known) return createAgain(tx, run, known)
  const id = insert(tx, run)
  tx.statements.insertKey.run(run.task, key, id, fingerprint, tx.now)
  return { id: idOf(id), created: true, generation: 1 }
}

/** A step is inserted like any other run; what it needs decides whether it begins blocked. */
export function insert(tx: Tx, run: NewRun, step?: { readonly blocked: boolean }): number {
  const { statements, lanes, now } = tx
  const { key, deadlineAt, maxCostUsd, concurrency } = run
  const dueAt = step?.blocked ? undefined : run.dueAt
  const lane = concurrency === undefined ? lanes.numberOf(run) : lanes.numberOf(run, { keyed: true })
  const place = placeOf({ priority: run.priority, submittedAt: now, dueAt }, tx.ageingMs)
  const spill = spilled(run.input)
  const later = dueAt !== undefined && dueAt > now
  const plain = !step && isPlain(run, now)
  if (plain) return Number(statements.insertReady.run(lane, run.priority, now, place, run.input).lastInsertRowid)
  const { lastInsertRowid } = statements.insertRun.run(
    STATE_NUMBER[step?.blocked ? 'blocked' : later ? 'waiting' : 'ready'],
    lane,
    run.priority,
    now,
    place,
    later ? dueAt : null,
    key ?? null,
    concurrency === undefined ? null : keyText(run.task, concurrency.key),
    concurrency?.max ?? null,
    writeMore({
      ...(deadlineAt === undefined ? {} : { deadlineAt }),
      ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
      ...(step ? { step: true } : {}),
      ...(step?.blocked ? { needs: true } : {}),
    }),
    spill ? null : run.input,
  )
  const id = Number(lastInsertRowid)
  if (spill) statements.insertInput.run(id, run.input)
  return id
}

/** The key is taken. A run that was pruned meanwhile still answers by it. */
function createAgain(
  tx: Tx,
  run: NewRun,
  known: { readonly run: number; readonly fingerprint: string },
): CreatedRun | 'conflict' {
  if (known.fingerprint !== run.fingerprint) return 'conflict'
  const row = tx.statements.stateOf.get(known.run)
  const id = idOf(known.run)
  if (!row) return { id, created: false, generation: 1 }
  const ended = row.state === STATE_NUMBER.failed || row.state === STATE_NUMBER.cancelled
  if (!ended || run.onExisting !== 'retry') return { id, created: false, generation: row.generation }
  beginFlowAgain(tx, known.run, row.generation, { by: SUBMITTER, deadlineAt: run.deadlineAt })
  return { id, created: false, generation: row.generation + 1 }
}
