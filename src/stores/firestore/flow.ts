/**
 * `createFlow`, `flow` and `links` of the Firestore driver: a flow is one document, and its steps are runs in it.
 * What an end does to dependents is in `needs.ts`.
 */
import type { CreatedFlow, FlowRef, FlowView, Link, Links, NeedLink, NewFlow } from '../../ports/store.ts'
import { checkFlow } from '../../run/check-flow.ts'
import { isEndedByNeed } from '../../run/need.ts'
import { addStep, newDoc } from './create.ts'
import { beginFlowAgain, dependentsOf, isOpen, SUBMITTER } from './needs.ts'
import { flowKeyRef, type Place } from './place.ts'
import { checkStep, type Doc, type Need, type Row, splitId } from './row.ts'
import { readText } from './texts.ts'
import { atomically, nowOf, readDoc, readRef, Unit } from './unit.ts'
import { compact } from './views.ts'

export async function createFlow(place: Place, flow: NewFlow): Promise<CreatedFlow> {
  checkFlow(flow)
  for (const { step } of flow.steps) checkStep(step)
  const ref = flow.key === undefined ? undefined : flowKeyRef(place, flow.name, flow.key)
  return atomically(place, async (unit) => {
    const known = ref && (await readRef(place, ref))
    if (known?.exists) return { now: unit.now, flow: await again(unit, flow, String(known.get('flow'))) }
    const doc = insertFlow(unit, flow)
    if (ref) unit.create(ref, { flow: doc.id, name: flow.name, key: flow.key, at: unit.now })
    return { now: unit.now, flow: { ...viewOf(doc), created: true } }
  })
}

function insertFlow(unit: Unit, flow: NewFlow): Doc {
  const { name, key, fingerprint } = flow
  const doc = newDoc(unit, {
    name,
    ...(key === undefined ? {} : { key }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
  })
  for (const { step, needs, onNeedFailed, ...run } of flow.steps) {
    const row = addStep(unit, doc, step, run)
    if (needs.length === 0) continue
    row.needs = needs.map((need) => ({ run: `${doc.id}.${need}`, kind: onNeedFailed, open: true }))
    row.state = 'blocked'
    row.dueAt = undefined
    row.setFor = undefined
  }
  return doc
}

async function again(unit: Unit, flow: NewFlow, id: string): Promise<CreatedFlow['flow']> {
  const doc = await unit.doc(id)
  if (!doc || doc.flow?.fingerprint !== flow.fingerprint) return 'conflict'
  if (flow.onExisting === 'retry') {
    const ended = [...doc.rows.values()].filter(
      ({ state, why }) => (state === 'failed' || state === 'cancelled') && !isEndedByNeed(why),
    )
    const before = new Map([...doc.rows.values()].map((row) => [row, row.generation]))
    for (const row of ended) await beginFlowAgain(unit, row, { by: SUBMITTER })
    for (const [row, generation] of before) {
      if (row.generation !== generation) row.deadlineAt = flow.steps.find(({ step }) => step === row.step)?.deadlineAt
    }
  }
  return { ...viewOf(doc), created: false }
}

function viewOf(doc: Doc): FlowView {
  const steps = [...doc.rows.values()].map(({ id: run, step, lane: { task }, state, generation }) => ({
    ...{ step, run, task, state, generation },
  }))
  return compact({
    id: steps[0]?.run ?? doc.id,
    name: doc.flow?.name,
    key: doc.flow?.key,
    steps,
  }) as unknown as FlowView
}

export async function flowOf(place: Place, ref: FlowRef): Promise<FlowView | undefined> {
  const id = 'id' in ref ? splitId(ref.id)?.doc : await flowByKey(place, ref.name, ref.key)
  const doc = id === undefined ? undefined : await readDoc(place, id)
  if (!doc?.flow) return undefined
  const view = viewOf(doc)
  return 'id' in ref && view.id !== ref.id ? undefined : view
}

async function flowByKey(place: Place, name: string, key: string): Promise<string | undefined> {
  const known = await readRef(place, flowKeyRef(place, name, key))
  return known.exists ? String(known.get('flow')) : undefined
}

export async function linksOf(place: Place, run: string): Promise<Links> {
  const unit = new Unit(place, await nowOf(place))
  const row = await unit.row(run)
  if (!row) return { needs: [], dependents: [] }
  await unit.docs((row.needs ?? []).flatMap((need) => splitId(need.run)?.doc ?? []))
  const needs: NeedLink[] = []
  for (const need of row.needs ?? []) {
    const needed = await unit.row(need.run)
    if (!needed) continue
    const { output, failure, why, costUsd = 0 } = needed
    const text = output === undefined ? undefined : await readText(place, needed.doc.id, output)
    needs.push(compact({ ...linkOf(need, needed), output: text, failure, why, costUsd }) as unknown as NeedLink)
  }
  const dependents = (await dependentsOf(unit, row)).map(
    ({ dependent, need }) => compact(linkOf(need, dependent)) as unknown as Link,
  )
  return { needs, dependents }
}

const linkOf = (need: Need, { id: run, lane: { task }, state, step, doc }: Row) => ({
  ...{ run, task, state, kind: need.kind, open: isOpen(need), join: need.join },
  step: doc.flow ? step : undefined,
})
