/**
 * Needs in the memory driver: what the end of a run, or its next generation, does to the runs that need it.
 * It does not know why a run ended; how a dependent ends follows from `run/need.ts`.
 */
import type { MovedRun } from '../../ports/store.ts'
import { endByNeed, FLOW_ACTOR, isEndedByNeed, isFulfilled, isHopeless, type NeedKind } from '../../run/need.ts'
import { isTerminal } from '../../run/run.ts'
import { beginAgain, recordAct } from './begin.ts'
import { copy, type Need, type Row, type Tables } from './rows.ts'

/** Ties a run to one that it needs. Joins say which, flows do not. */
export function tie(dependent: Row, needed: Row, kind: NeedKind, join?: Need['join']): void {
  const need: Need = { dependent, needed, kind, join, open: !isFulfilled(kind, needed.state) }
  dependent.needs.push(need)
  needed.dependents.push(need)
}

export const isOpen = (need: Need): boolean => need.open

/** After a run has ended: fulfils what it fulfils, ends what can no longer be, and so on through the flow. */
export function moveDependents(tables: Tables, ended: Row, now: number): MovedRun[] {
  const moved: MovedRun[] = []
  const reached = [ended]
  for (const row of reached) {
    for (const need of row.dependents.filter(isOpen)) {
      const { dependent, kind } = need
      if (isFulfilled(kind, row.state)) {
        need.open = false
        if (dependent.state === 'blocked' && !dependent.needs.some(isOpen)) moved.push(unblock(dependent, now))
      } else if (dependent.state === 'blocked' && isHopeless(kind, row.state)) {
        moved.push(endWith(tables, dependent, endByNeed(kind, row.step ?? row.id, row.state), now))
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

function endWith(tables: Tables, row: Row, end: ReturnType<typeof endByNeed>, now: number): MovedRun {
  row.state = end.state
  row.why = end.why
  row.failure = end.failure
  row.finishedAt = now
  tables.open.delete(row)
  recordAct(row, now, { by: FLOW_ACTOR, why: end.why })
  return movedOf(row)
}

/** Whether a next generation could only end by its need again. */
export const canBegin = (row: Row): boolean =>
  !row.needs.some(({ open, kind, needed }) => open && isHopeless(kind, needed.state))

/** The next generation of a run, and of all that ended only because of it. */
export function beginFlowAgain(
  tables: Tables,
  first: Row,
  now: number,
  act: Parameters<typeof beginAgain>[3],
): MovedRun[] {
  begin(tables, first, now, act)
  const moved: MovedRun[] = []
  const begun = [first]
  for (const row of begun) {
    for (const need of row.dependents) {
      const { dependent } = need
      reopen(need)
      if (!isTerminal(dependent.state) || !isEndedByNeed(dependent.why) || !canBegin(dependent)) continue
      begin(tables, dependent, now, {
        by: act.by,
        why: { code: 'run.again', params: { by: act.by, generation: dependent.generation + 1 } },
      })
      moved.push(movedOf(dependent))
      begun.push(dependent)
    }
  }
  return moved
}

/** Those that wait, or will when they begin again, wait for the new generation; those under way have had what they need. */
function reopen(need: Need): void {
  const { dependent, join } = need
  if (join ? dependent.state === 'blocked' && join.generation === dependent.generation : isIdle(dependent))
    need.open = true
}

const isIdle = ({ state }: Row): boolean => state === 'blocked' || isTerminal(state)

function begin(tables: Tables, row: Row, now: number, act: Parameters<typeof beginAgain>[3]): void {
  // The joins of the generation before are nobody's concern any more.
  for (const need of row.needs) if (need.join) need.open = false
  beginAgain(tables, row, now, act)
  if (row.needs.some(isOpen)) row.state = 'blocked'
}

function movedOf(row: Row): MovedRun {
  const { id: run, generation, step, submittedAt, why, failure } = row
  const state = row.state as MovedRun['state']
  return copy({ run, task: row.lane.task, generation, state, step, submittedAt, why, failure }) as MovedRun
}
