/**
 * Needs in the Firestore driver: what the end of a run, or its next generation, does to the runs that need it, in its own document
 * and, for joins, in that of the parent. How a dependent ends follows from `run/need.ts`.
 */
import type { Why } from '../../policy/why.ts'
import type { MovedRun } from '../../ports/store.ts'
import { endByNeed, FLOW_ACTOR, isEndedByNeed, isFulfilled, isHopeless } from '../../run/need.ts'
import { EMPTY_LEDGERS, isTerminal } from '../../run/run.ts'
import type { Need, Row } from './row.ts'
import type { Unit } from './unit.ts'
import { movedOf } from './views.ts'

/** Who is named in history when a submit, not an operator, begins a run again. */
export const SUBMITTER = 'submit'

export interface Beginning {
  readonly by: string
  readonly why?: Why
  readonly deadlineAt?: number | undefined
}

export const isOpen = (need: Need): boolean => need.open

interface Tie {
  readonly dependent: Row
  readonly need: Need
}

/** Who needs a run: steps of its own document, and the parent of a join. */
export async function dependentsOf(unit: Unit, row: Row): Promise<Tie[]> {
  const parent = row.parent && (await unit.row(row.parent.run))
  const rows = [...row.doc.rows.values(), ...(parent && parent.doc !== row.doc ? [parent] : [])]
  return rows.flatMap((dependent) =>
    (dependent.needs ?? []).filter(({ run }) => run === row.id).map((need) => ({ dependent, need })),
  )
}

/** After a run has ended: fulfils what it fulfils, ends what can no longer be, and so on through the flow. */
export async function moveDependents(unit: Unit, ended: Row): Promise<MovedRun[]> {
  const moved: MovedRun[] = []
  const reached = [ended]
  for (const row of reached) {
    for (const { dependent, need } of await dependentsOf(unit, row)) {
      if (!need.open) continue
      if (isFulfilled(need.kind, row.state)) {
        need.open = false
        if (dependent.state === 'blocked' && !dependent.needs?.some(isOpen)) moved.push(unblock(dependent, unit.now))
      } else if (dependent.state === 'blocked' && isHopeless(need.kind, row.state)) {
        const end = endByNeed(need.kind, row.doc.flow ? row.step : row.id, row.state)
        Object.assign(dependent, { state: end.state, why: end.why, failure: end.failure, finishedAt: unit.now })
        recordAct(unit, dependent, { by: FLOW_ACTOR, why: end.why })
        moved.push(movedOf(dependent))
        reached.push(dependent)
      }
    }
  }
  return moved
}

function unblock(row: Row, now: number): MovedRun {
  row.state = 'ready'
  row.readyAt = now
  row.why = undefined
  return movedOf(row)
}

/** Whether a next generation could only end by its need again. */
export async function canBegin(unit: Unit, row: Row): Promise<boolean> {
  for (const { open, kind, run } of row.needs ?? []) {
    const needed = open ? await unit.row(run) : undefined
    if (needed && isHopeless(kind, needed.state)) return false
  }
  return true
}

/** The next generation of a run, and of all that ended only because of it. */
export async function beginFlowAgain(unit: Unit, first: Row, act: Beginning): Promise<MovedRun[]> {
  begin(unit, first, act)
  const moved: MovedRun[] = []
  const begun = [first]
  for (const row of begun) {
    for (const { dependent, need } of await dependentsOf(unit, row)) {
      reopen(dependent, need)
      const isEnded = isTerminal(dependent.state) && isEndedByNeed(dependent.why)
      if (!isEnded || !(await canBegin(unit, dependent))) continue
      const why: Why = { code: 'run.again', params: { by: act.by, generation: dependent.generation + 1 } }
      begin(unit, dependent, { by: act.by, why })
      moved.push(movedOf(dependent))
      begun.push(dependent)
    }
  }
  return moved
}

/** Those that wait, or will when they begin again, wait for the new generation; those under way have had what they need. */
function reopen(dependent: Row, need: Need): void {
  const isIdle = dependent.state === 'blocked' || isTerminal(dependent.state)
  const { join } = need
  if (join ? dependent.state === 'blocked' && join.generation === dependent.generation : isIdle) need.open = true
}

function begin(unit: Unit, row: Row, act: Beginning): void {
  // The joins of the generation before are nobody's concern any more.
  for (const need of row.needs ?? []) if (need.join) need.open = false
  Object.assign(row, {
    generation: row.generation + 1,
    lane: row.home ?? row.lane,
    home: undefined,
    deadlineAt: act.deadlineAt,
    state: row.needs?.some(isOpen) ? 'blocked' : 'ready',
    again: undefined,
    dueAt: undefined,
    readyAt: unit.now,
    lease: undefined,
    attempt: 0,
    ledgers: EMPTY_LEDGERS,
    suspensions: 0,
    suspect: undefined,
    uncounted: 0,
    lapsed: undefined,
    rung: 0,
    why: act.why,
    failure: undefined,
    output: undefined,
    progress: undefined,
    finishedAt: undefined,
  })
  recordAct(unit, row, act)
}

/** An act in the history of the run: not an execution, so it has neither attempt nor token. */
export function recordAct(unit: Unit, row: Row, act: { readonly by: string; readonly why?: Why }): void {
  unit.record(row, {
    generation: row.generation,
    attempt: 0,
    token: 0,
    worker: act.by,
    startedAt: unit.now,
    endedAt: unit.now,
    outcome: 'operator',
    ...(act.why ? { why: act.why } : {}),
  })
}
