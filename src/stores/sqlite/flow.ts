/**
 * `createFlow`, `flow` and `links`: runs that are steps, and who needs whom.
 * What an end does to dependents is in `needs.ts`.
 */
import type { Failure } from '../../failure/failure.ts'
import type { Why } from '../../policy/why.ts'
import type { CreatedFlow, FlowRef, FlowView, Link, Links, NeedLink, NewFlow } from '../../ports/store.ts'
import { checkFlow } from '../../run/check-flow.ts'
import { isEndedByNeed } from '../../run/need.ts'
import { insert, SUBMITTER } from './create.ts'
import type { Work } from './group-commit.ts'
import { beginFlowAgain, kindOf, tie } from './needs.ts'
import { READ_SQL, type Readers } from './read.ts'
import { idOf, numberOf, readMore, stateOf, writeMore } from './row.ts'
import type { Tx } from './session.ts'
import type { StepRow } from './statements.ts'

export function createFlowWork(flow: NewFlow): Work<CreatedFlow> {
  checkFlow(flow)
  return { rows: flow.steps.length, wakes: true, execute: (tx) => ({ now: tx.now, flow: createFlow(tx, flow) }) }
}

function createFlow(tx: Tx, flow: NewFlow): CreatedFlow['flow'] {
  const { statements, now } = tx
  const { name, key, fingerprint = null } = flow
  const known = key === undefined ? undefined : statements.findFlow.get(name, key)
  if (known) return createAgain(tx, flow, known)
  const runs = new Map<string, number>()
  for (const { step, needs, onNeedFailed, ...run } of flow.steps) {
    const id = insert(tx, run, { blocked: needs.length > 0 })
    runs.set(step, id)
    const [first = id] = runs.values()
    statements.insertStep.run(id, first, step)
    for (const [place, need] of needs.entries()) {
      tie(tx, id, runs.get(need) ?? 0, onNeedFailed, place)
    }
  }
  const [id = 0] = runs.values()
  statements.insertFlow.run(id, name, key ?? null, fingerprint, now)
  return { ...viewOf({ id, name, key: key ?? null }, statements.stepsOf.all(id)), created: true }
}

function createAgain(tx: Tx, flow: NewFlow, known: { id: number; fingerprint: string }): CreatedFlow['flow'] {
  if (known.fingerprint !== flow.fingerprint) return 'conflict'
  if (flow.onExisting === 'retry') {
    const before = inOrder(tx.statements.stepsOf.all(known.id))
    for (const { run } of before) retryStep(tx, run)
    setDeadlines(tx, flow, before)
  }
  const { name, key = null } = flow
  return { ...viewOf({ id: known.id, name, key }, tx.statements.stepsOf.all(known.id)), created: false }
}

/** Of all that have begun again, whether they failed or ended by their need. */
function setDeadlines({ statements }: Tx, { steps }: NewFlow, before: readonly StepRow[]): void {
  const deadlines = new Map(steps.map(({ step, deadlineAt }) => [step, deadlineAt]))
  for (const { run, name, generation } of before) {
    const deadlineAt = deadlines.get(name)
    if (deadlineAt === undefined || statements.stateOf.get(run)?.generation === generation) continue
    const { more = null } = statements.moreOf.get(run) ?? {}
    statements.setMore.run(writeMore({ ...readMore(more), deadlineAt }), run)
  }
}

/** Steps that ended by their need begin again with it, so only those that ended by themselves are asked. */
function retryStep(tx: Tx, run: number): void {
  const row = tx.statements.endOf.get(run)
  const state = row && stateOf(row.state)
  if (!row || (state !== 'failed' && state !== 'cancelled')) return
  const why = row.why === null ? undefined : (JSON.parse(row.why) as Why)
  if (!isEndedByNeed(why)) beginFlowAgain(tx, run, row.generation, { by: SUBMITTER })
}

interface FlowRow {
  readonly id: number
  readonly name: string
  readonly key: string | null
}

const inOrder = (steps: readonly StepRow[]): StepRow[] => [...steps].sort((a, b) => a.run - b.run)

function viewOf({ id, name, key }: FlowRow, steps: readonly StepRow[]): FlowView {
  return {
    id: idOf(id),
    name,
    ...(key === null ? {} : { key }),
    steps: inOrder(steps).map(({ run, name: step, state, generation, task }) => ({
      step,
      run: idOf(run),
      task,
      state: stateOf(state),
      generation,
    })),
  }
}

export function flowOf(readers: Readers, ref: FlowRef): FlowView | undefined {
  const [row] =
    'id' in ref
      ? readers.all<FlowRow>(READ_SQL.flowById, numberOf(ref.id))
      : readers.all<FlowRow>(READ_SQL.flowByKey, ref.name, ref.key)
  return row && viewOf(row, readers.all<StepRow>(READ_SQL.steps, row.id))
}

interface LinkRow {
  readonly run: number
  readonly task: string
  readonly state: number
  readonly step: string | null
  readonly kind: number
  readonly open: number
  readonly generation: number
  readonly name: string
  readonly place: number
}

interface NeedRow extends LinkRow {
  readonly more: string | null
  readonly why: string | null
  readonly failure: string | null
  readonly output: string | null
}

export function linksOf(readers: Readers, run: string): Links {
  const id = numberOf(run)
  const needs = readers.all<NeedRow>(READ_SQL.needs, id)
  return {
    // As said for a step; of joins the earlier first, which is the order of their children.
    needs: needs
      .sort((a, b) => a.generation - b.generation || (a.name === '' ? a.place - b.place : a.run - b.run))
      .map(needOf),
    dependents: readers.all<LinkRow>(READ_SQL.dependents, id).map(linkOf),
  }
}

function needOf(row: NeedRow): NeedLink {
  const { output, failure, why } = row
  return {
    ...linkOf(row),
    ...(output === null ? {} : { output }),
    ...(failure === null ? {} : { failure: JSON.parse(failure) as Failure }),
    ...(why === null ? {} : { why: JSON.parse(why) as Why }),
    costUsd: readMore(row.more).costUsd ?? 0,
  }
}

function linkOf({ run, task, state, step, kind: number, open, generation, name, place }: LinkRow): Link {
  const kind = kindOf(number)
  return {
    run: idOf(run),
    task,
    state: stateOf(state),
    ...(step === null ? {} : { step }),
    kind,
    open: open === 1,
    ...(kind === 'join' ? { join: { name, generation, index: place } } : {}),
  }
}
