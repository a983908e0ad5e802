/**
 * `create` of the Firestore driver: new runs, idempotent by task and key; each plain run is a document of its own.
 * It knows nothing of leases; a run that is submitted again is begun again by `needs.ts`.
 */
import type { Created, CreatedRun, NewRun } from '../../ports/store.ts'
import type { Lane } from '../../run/run.ts'
import { beginFlowAgain, SUBMITTER } from './needs.ts'
import { keyRef, type Place } from './place.ts'
import { type Doc, type Flow, newRow, ONLY_STEP, type Row } from './row.ts'
import { atomically, readAll, type Unit } from './unit.ts'

export function create(place: Place, runs: readonly NewRun[]): Promise<Created> {
  return atomically(place, async (unit) => ({ now: unit.now, runs: await createAll(unit, runs) }))
}

/** Checked before the first write, because a call is all or nothing. */
export async function createAll(unit: Unit, runs: readonly NewRun[]): Promise<(CreatedRun | 'conflict')[]> {
  runs.forEach(check)
  const known = await keysOf(unit.place, runs)
  const created: (CreatedRun | 'conflict')[] = []
  for (const run of runs) created.push(await createOne(unit, run, known))
  return created
}

export function check(run: NewRun, index: number): void {
  if (run.key !== undefined && run.fingerprint === undefined) {
    throw new RangeError(`runs[${index}].fingerprint: undefined; a run with a key needs the fingerprint of its input`)
  }
}

interface Known {
  readonly run: string
  readonly fingerprint: string
}

/** What the keys of these runs lead to, by the name of the key. */
async function keysOf(place: Place, runs: readonly NewRun[]): Promise<Map<string, Known>> {
  const refs = runs.flatMap(({ task, key }) => (key === undefined ? [] : [keyRef(place, task, key)]))
  const snapshots = await readAll(place, refs)
  return new Map(
    snapshots.flatMap((snapshot) => {
      const { run, fingerprint } = snapshot.data() ?? {}
      return snapshot.exists ? [[snapshot.id, { run: String(run), fingerprint: String(fingerprint) }] as const] : []
    }),
  )
}

async function createOne(unit: Unit, run: NewRun, known: Map<string, Known>): Promise<CreatedRun | 'conflict'> {
  const ref = run.key === undefined ? undefined : keyRef(unit.place, run.task, run.key)
  const before = ref && known.get(ref.id)
  if (before) return createAgain(unit, run, before)
  const row = insert(unit, run)
  if (ref && run.key !== undefined) {
    const fingerprint = run.fingerprint ?? ''
    known.set(ref.id, { run: row.id, fingerprint })
    unit.create(ref, { run: row.id, fingerprint, task: run.task, key: run.key, at: unit.now })
  }
  return { id: row.id, created: true, generation: 1 }
}

async function createAgain(unit: Unit, run: NewRun, known: Known): Promise<CreatedRun | 'conflict'> {
  if (known.fingerprint !== run.fingerprint) return 'conflict'
  const row = await unit.row(known.run)
  const isEnded = row?.state === 'failed' || row?.state === 'cancelled'
  if (row && isEnded && run.onExisting === 'retry')
    await beginFlowAgain(unit, row, { by: SUBMITTER, deadlineAt: run.deadlineAt })
  return { id: known.run, created: false, generation: row?.generation ?? 1 }
}

export function newDoc(unit: Unit, flow: Flow | undefined): Doc {
  const id = unit.place.numbers.id(flow ? 'f' : 'r', unit.now)
  const doc: Doc = {
    id,
    order: id.slice(1),
    updateTime: undefined,
    submittedAt: unit.now,
    flow,
    rows: new Map(),
    raw: {},
  }
  unit.add(doc)
  return doc
}

export function insert(unit: Unit, run: NewRun): Row {
  const row = addStep(unit, newDoc(unit, undefined), ONLY_STEP, run)
  row.key = run.key
  return row
}

export function addStep(unit: Unit, doc: Doc, step: string, run: Omit<NewRun, 'key' | 'fingerprint'>): Row {
  const isLater = run.dueAt !== undefined && run.dueAt > unit.now
  const row = newRow(doc, step, {
    state: isLater ? 'waiting' : 'ready',
    lane: laneOf(run),
    priority: run.priority,
    input: unit.text(doc.id, 'input', run.input),
  })
  row.dueAt = isLater ? run.dueAt : undefined
  row.setFor = run.dueAt
  row.deadlineAt = run.deadlineAt
  row.maxCostUsd = run.maxCostUsd
  row.concurrency = run.concurrency
  return row
}

export function laneOf({ task, category, resource }: Lane): Lane {
  return { task, ...(category === undefined ? {} : { category }), ...(resource === undefined ? {} : { resource }) }
}
