/**
 * Needs: what the end of a run, or its next generation, does to the runs that need it, in the same transaction.
 * It does not know why a run ended; how a dependent ends follows from `run/need.ts`.
 */
import type { Failure } from '../../failure/failure.ts'
import type { Why } from '../../policy/why.ts'
import type { MovedRun } from '../../ports/store.ts'
import {
  endByNeed,
  FLOW_ACTOR,
  isEndedByNeed,
  isFulfilled,
  isHopeless,
  NEED_POLICIES,
  type NeedKind,
} from '../../run/need.ts'
import { isTerminal, type State } from '../../run/run.ts'
import { type Asked, beginAgain, recordAct } from './begin.ts'
import { idOf, jsonOrNull, STATE_NUMBER, stateOf } from './row.ts'
import type { Tx } from './session.ts'

const KINDS: readonly NeedKind[] = [...NEED_POLICIES, 'join']

/** A kind's number is its place: statements carry the numbers as literals. */
const KIND_NUMBER = Object.fromEntries(KINDS.map((kind, index) => [kind, index])) as Record<NeedKind, number>

export const kindOf = (number: number): NeedKind => KINDS[number] ?? 'wait'

/** False when no run of this file needs another. */
export function mayBeNeeded(tx: Tx): boolean {
  tx.anyNeeds ??= tx.statements.anyNeed.get() !== undefined
  return tx.anyNeeds
}

/** Ties a run to one that it needs. */
export function tie(tx: Tx, run: number, needed: number, kind: NeedKind, place: number, join?: Join): void {
  tx.statements.insertNeed.run(needed, run, KIND_NUMBER[kind], join?.generation ?? 0, join?.name ?? '', place)
  tx.anyNeeds = true
}

interface Join {
  readonly name: string
  readonly generation: number
}

/** After a run has ended: fulfils what it fulfils, ends what can no longer be, and so on through the flow. */
export function moveDependents(tx: Tx, ended: number): MovedRun[] | undefined {
  const { statements } = tx
  // Nobody needs most runs.
  if (!mayBeNeeded(tx) || statements.isNeeded.get(ended) === undefined) return undefined
  const moved: number[] = []
  const reached = [ended]
  for (const id of reached) {
    const needs = statements.openDependents.all(id)
    const needed = stateOf(statements.stateOf.get(id)?.state ?? -1)
    for (const { run, kind: number } of needs) {
      const kind = kindOf(number)
      if (isFulfilled(kind, needed)) {
        statements.fulfil.run(id, run)
        if (statements.unblock.run(tx.now, run, run).changes === 1) moved.push(run)
      } else if (isHopeless(kind, needed)) {
        const end = endByNeed(kind, statements.stepOf.get(id)?.name ?? idOf(id), needed)
        const { changes } = statements.endBlocked.run(
          STATE_NUMBER[end.state],
          tx.now,
          JSON.stringify(end.why),
          jsonOrNull(end.failure),
          run,
        )
        if (changes === 0) continue
        recordAct(tx, run, statements.stateOf.get(run)?.generation ?? 1, { by: FLOW_ACTOR, why: end.why })
        moved.push(run)
        reached.push(run)
      }
    }
  }
  return moved.length === 0 ? undefined : moved.map((run) => movedOf(tx, run))
}

/** Whether a next generation could only end by its need again. */
export const canBegin = ({ statements }: Tx, run: number): boolean => statements.hopelessNeed.get(run) === undefined

/** The next generation of a run, and of all that ended only because of it. */
export function beginFlowAgain(tx: Tx, first: number, generation: number, asked: Asked): MovedRun[] | undefined {
  const { statements } = tx
  begin(tx, first, generation, asked)
  const moved: number[] = []
  const begun = [first]
  for (const id of begun) {
    for (const need of statements.dependents.all(id)) {
      const { run } = need
      const dependent = statements.endOf.get(run)
      if (!dependent) continue
      const state = stateOf(dependent.state)
      if (mustWait(kindOf(need.kind), state, need.generation === dependent.generation)) statements.reopen.run(id, run)
      const why = dependent.why === null ? undefined : (JSON.parse(dependent.why) as Why)
      if (!isTerminal(state) || !isEndedByNeed(why) || !canBegin(tx, run)) continue
      const next = dependent.generation + 1
      begin(tx, run, dependent.generation, {
        by: asked.by,
        why: { code: 'run.again', params: { by: asked.by, generation: next } },
      })
      moved.push(run)
      begun.push(run)
    }
  }
  return moved.length === 0 ? undefined : moved.map((run) => movedOf(tx, run))
}

/** Those that wait, or will when they begin again, wait for the new generation; those under way have had what they need. */
function mustWait(kind: NeedKind, dependent: State, sameGeneration: boolean): boolean {
  return kind === 'join' ? dependent === 'blocked' && sameGeneration : dependent === 'blocked' || isTerminal(dependent)
}

function begin(tx: Tx, run: number, generation: number, asked: Asked): void {
  // The joins of the generation before are nobody's concern any more.
  tx.statements.closeJoins.run(run)
  beginAgain(tx, run, generation, asked)
  tx.statements.blockAgain.run(run, run)
}

function movedOf({ statements, lanes }: Tx, run: number): MovedRun {
  const row = statements.endOf.get(run)
  if (!row) throw new RangeError(`run ${run} is gone`)
  const step = statements.stepOf.get(run)?.name
  return {
    run: idOf(run),
    task: lanes.laneOf(row.lane).task,
    generation: row.generation,
    state: stateOf(row.state) as MovedRun['state'],
    ...(step === undefined ? {} : { step }),
    submittedAt: row.submitted_at,
    ...(row.why === null ? {} : { why: JSON.parse(row.why) as Why }),
    ...(row.failure === null ? {} : { failure: JSON.parse(row.failure) as Failure }),
  }
}
