/**
 * `createFlow`, `flow` and `links` of the memory driver: runs that are steps, and who needs whom.
 * What an end does to dependents is in `needs.ts`.
 */
import type { CreatedFlow, FlowRef, FlowView, Link, Links, NeedLink, NewFlow } from '../../ports/store.ts'
import { checkFlow } from '../../run/check-flow.ts'
import { isEndedByNeed } from '../../run/need.ts'
import { placeOf } from '../../run/place.ts'
import { insert, SUBMITTER } from './create.ts'
import { beginFlowAgain, isOpen, tie } from './needs.ts'
import { copy, type FlowRow, joined, type Need, type Row, type Tables } from './rows.ts'

export function createFlow(tables: Tables, flow: NewFlow, now: number): CreatedFlow {
  checkFlow(flow)
  const name = flow.key === undefined ? undefined : joined(flow.name, flow.key)
  const known = name === undefined ? undefined : tables.flows.get(tables.flowKeys.get(name) ?? '')
  if (known) return { now, flow: again(tables, flow, known, now) }
  const steps = new Map<string, Row>()
  for (const { step, needs, onNeedFailed, ...run } of flow.steps) {
    const row = insert(tables, run, now)
    row.step = step
    for (const need of needs) tie(row, steps.get(need) as Row, onNeedFailed)
    if (row.needs.some(isOpen)) {
      row.state = 'blocked'
      row.dueAt = undefined
      row.place = placeOf(row, tables.ageingMs)
    }
    steps.set(step, row)
  }
  const rows = [...steps.values()]
  const [{ id }] = rows as [Row]
  for (const row of rows) row.flow = id
  const made: FlowRow = { id, name: flow.name, key: flow.key, fingerprint: flow.fingerprint, rows }
  tables.flows.set(id, made)
  if (name !== undefined) tables.flowKeys.set(name, id)
  return { now, flow: { ...viewOf(made), created: true } }
}

function again(tables: Tables, flow: NewFlow, known: FlowRow, now: number): CreatedFlow['flow'] {
  if (known.fingerprint !== flow.fingerprint) return 'conflict'
  if (flow.onExisting === 'retry') {
    const ended = known.rows.filter(
      ({ state, why }) => (state === 'failed' || state === 'cancelled') && !isEndedByNeed(why),
    )
    const before = new Map(known.rows.map((row) => [row, row.generation]))
    for (const row of ended) beginFlowAgain(tables, row, now, { by: SUBMITTER })
    for (const row of known.rows) {
      if (row.generation !== before.get(row))
        row.deadlineAt = flow.steps.find(({ step }) => step === row.step)?.deadlineAt
    }
  }
  return { ...viewOf(known), created: false }
}

export function flowOf(tables: Tables, ref: FlowRef): FlowView | undefined {
  const id = 'id' in ref ? ref.id : tables.flowKeys.get(joined(ref.name, ref.key))
  const found = id === undefined ? undefined : tables.flows.get(id)
  return found && viewOf(found)
}

function viewOf({ id, name, key, rows }: FlowRow): FlowView {
  const steps = rows.map(({ id: run, step, lane: { task }, state, generation }) => ({
    step,
    run,
    task,
    state,
    generation,
  }))
  return copy({ id, name, key, steps }) as FlowView
}

export function linksOf(row: Row | undefined): Links {
  return {
    needs: (row?.needs ?? []).map((need) => {
      const { output, failure, why, costUsd } = need.needed
      return copy({ ...linkOf(need, need.needed), output, failure, why, costUsd }) as NeedLink
    }),
    dependents: (row?.dependents ?? []).map((need) => copy(linkOf(need, need.dependent)) as Link),
  }
}

const linkOf = ({ kind, open, join }: Need, { id: run, lane: { task }, state, step }: Row) => ({
  ...{ run, task, state, step, kind, open, join },
})
