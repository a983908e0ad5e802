/**
 * `steer`: an operator's acts on a run, and through its needs on others.
 * It compares and swaps; whether an operator may do so is decided elsewhere.
 */
import type { Act, Committed, Move, MovedRun } from '../../ports/store.ts'
import { placeOf, placeWith } from '../../run/place.ts'
import { isTerminal } from '../../run/run.ts'
import { recordAct } from './begin.ts'
import type { Work } from './group-commit.ts'
import { wakeAfter } from './keys.ts'
import { beginFlowAgain, canBegin, moveDependents } from './needs.ts'
import { numberOf, STATE_NUMBER, stateOf } from './row.ts'
import type { Tx } from './session.ts'

export function steerWork(act: Act): Work<Committed> {
  return { rows: 1, wakes: true, execute: (tx) => steer(tx, act) }
}

function steer(tx: Tx, act: Act): Committed {
  const { statements, now } = tx
  const run = numberOf(act.run)
  const row = statements.stateOf.get(run)
  const state = row && stateOf(row.state)
  const expected = row?.generation === act.expect.generation && state !== undefined && act.expect.states.includes(state)
  // An ended run is never cancelled, whatever the operator expected: terminal states do not change.
  if (!row || !expected || (act.type === 'cancel' && isTerminal(state))) return { now, answer: 'lost' }
  if (act.type === 'retry' && !canBegin(tx, run)) return { now, answer: 'lost' }
  const moved =
    act.type === 'retry' ? beginFlowAgain(tx, run, row.generation, act) : cancel(tx, run, row.generation, act)
  wakeAfter(tx, [run])
  statements.insertNote.run(act.run, now, act.by, act.type, null)
  return { now, answer: 'ok', ...(moved ? { moved } : {}) }
}

export function reorderWork(move: Move): Work<Committed> {
  return { rows: 1, wakes: true, execute: (tx) => reorder(tx, move) }
}

function reorder(tx: Tx, move: Move): Committed {
  const { statements, now } = tx
  const { expect, dueAt } = move
  const run = numberOf(move.run)
  const row = statements.placeOf.get(run)
  const state = row && stateOf(row.state)
  const expected = row?.generation === expect.generation && state !== undefined && expect.states.includes(state)
  if (!row || !expected || (state !== 'ready' && state !== 'waiting') || row.lease !== null)
    return { now, answer: 'lost' }
  const waits = dueAt === undefined ? state === 'waiting' : dueAt > now
  const { priority = row.priority } = move
  const { submitted_at: submittedAt, place } = row
  statements.reorder.run(
    waits ? STATE_NUMBER.waiting : STATE_NUMBER.ready,
    priority,
    dueAt === undefined
      ? placeWith(priority, { priority: row.priority, submittedAt, place }, tx.ageingMs)
      : placeOf({ priority, submittedAt, dueAt }, tx.ageingMs),
    waits ? (dueAt ?? row.due_at) : null,
    dueAt === undefined ? row.why : JSON.stringify(move.why),
    dueAt === undefined ? null : now,
    run,
  )
  // Its time is the operator's now, and no longer a wait for its resource.
  if (dueAt !== undefined && tx.lanes.isAgain(row.lane)) statements.setLane.run(-row.lane, run)
  wakeAfter(tx, [run])
  recordAct(tx, run, row.generation, move)
  const what = dueAt === undefined ? 'reprioritise' : 'reschedule'
  statements.insertNote.run(move.run, now, move.by, what, JSON.stringify({ priority: move.priority, dueAt }))
  return { now, answer: 'ok' }
}

/** The lease goes with it, so the owner's next write is refused. */
function cancel(tx: Tx, run: number, generation: number, act: Act): readonly MovedRun[] | undefined {
  tx.statements.cancel.run(tx.now, JSON.stringify(act.why), run)
  recordAct(tx, run, generation, act)
  return moveDependents(tx, run)
}
