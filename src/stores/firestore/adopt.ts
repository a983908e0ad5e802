/**
 * Documents that others made: an orchestrator writes `flow_runs/{id}` with a map of steps, and this store takes it in.
 * A document that cannot be a flow gets an error of its own; its steps are left as they are.
 */
import type { Timestamp } from '@google-cloud/firestore'
import { decode, STATUS_WORDS, topOf } from './document.ts'
import { isReady } from './expire.ts'
import { read } from './look.ts'
import { type FirestoreOptions, openPlace, type Place } from './place.ts'
import { type Doc, isHeldUp, isStepName } from './row.ts'
import { isConflict, unwritten } from './trouble.ts'
import { nowOf, readRef } from './unit.ts'

export type Adopted =
  | {
      readonly answer: 'ok'
      /** Store time. */
      readonly now: number
      readonly ready: readonly string[]
      readonly blocked: readonly string[]
    }
  | { readonly answer: 'missing' }
  | { readonly answer: 'invalid'; readonly message: string }

const TRIES_MAX = 5

export async function adoptFlow(options: FirestoreOptions, id: string): Promise<Adopted> {
  const place = await openPlace(options)
  try {
    for (let tries = 1; ; tries += 1) {
      const adopted = await adoptOnce(place, id, tries === TRIES_MAX)
      if (adopted) return adopted
    }
  } finally {
    await place.close()
  }
}

/** `undefined` when somebody wrote in between. */
async function adoptOnce(place: Place, id: string, isLast: boolean): Promise<Adopted | undefined> {
  if (!isStepName(id)) return { answer: 'invalid', message: `its id ${JSON.stringify(id)} is none; ${NAMES}` }
  const snapshot = await readRef(place, place.runs.doc(id))
  const data = snapshot.data()
  const since = snapshot.updateTime as Timestamp
  if (!data) return { answer: 'missing' }
  const message = faultOf(data)
  const write = async (change: Record<string, unknown>) => {
    try {
      await snapshot.ref.update(change, { lastUpdateTime: since })
      return true
    } catch (error) {
      if (!isConflict(error)) throw unwritten(error)
      return isLast
    }
  }
  if (message !== undefined) {
    const error = { code: 'FLOW_RUN_INVALID', message }
    const isKnown = JSON.stringify(data['error']) === JSON.stringify(error)
    return isKnown || (await write({ error })) ? { answer: 'invalid', message } : undefined
  }
  const doc = decode(snapshot, data, place.foreignTtlMs)
  const isNew = data['order'] === undefined
  const top = topOf(doc)
  const isStale = Object.entries(top).some(([name, value]) => JSON.stringify(data[name]) !== JSON.stringify(value))
  if (isNew || isStale) {
    const order = isNew ? { order: place.numbers.id('', doc.submittedAt), submittedAt: doc.submittedAt } : {}
    if (!(await write({ ...top, ...order }))) return undefined
  }
  const now = await nowOf(place)
  return { answer: 'ok', now, ...standing(doc, now) }
}

function standing(doc: Doc, now: number): { readonly ready: string[]; readonly blocked: string[] } {
  const rows = [...doc.rows.values()]
  return {
    ready: rows.filter((row) => isReady(row, now)).map(({ step }) => step),
    blocked: rows
      .filter((row) => (row.state === 'blocked' || row.state === 'ready') && isHeldUp(row))
      .map(({ step }) => step),
  }
}

const NAMES = 'allowed are letters, digits, _ and -, 128 at most'

/** What keeps a document from being a flow, in one sentence. */
function faultOf(data: Readonly<Record<string, unknown>>): string | undefined {
  const steps = data['steps']
  if (typeof steps !== 'object' || steps === null || Array.isArray(steps) || Object.keys(steps).length === 0)
    return `steps is ${Array.isArray(steps) ? 'a list' : typeof steps}; allowed is a map with at least one step`
  for (const [step, value] of Object.entries(steps as Record<string, unknown>)) {
    if (!isStepName(step)) return `steps: ${JSON.stringify(step.slice(0, 60))} is no name of a step; ${NAMES}`
    if (typeof value !== 'object' || value === null) return `steps.${step} is ${typeof value}; allowed is a map`
    const { status, stepType, dependsOn } = value as Record<string, unknown>
    if (typeof stepType !== 'string' || stepType === '')
      return `steps.${step}.stepType is ${JSON.stringify(stepType) ?? 'not given'}; allowed is the name of a task`
    if (typeof status !== 'string' || !STATUS_WORDS.includes(status))
      return `steps.${step}.status is ${JSON.stringify(status) ?? 'not given'}; allowed are ${STATUS_WORDS.join(', ')}`
    const needs = dependsOn === undefined || dependsOn === null ? [] : dependsOn
    if (!Array.isArray(needs)) return `steps.${step}.dependsOn is ${typeof needs}; allowed is a list of steps`
    const unknown = needs.find((need) => !Object.hasOwn(steps, String(need)))
    if (unknown !== undefined) return `steps.${step}.dependsOn names ${JSON.stringify(unknown)}, which is no step`
  }
  return undefined
}

/** Documents in one look for those that others made. */
const LOOK_MAX = 200

export interface Strangers {
  /** Ids of documents that this store has not taken in. */
  readonly ids: readonly string[]
  /** Where the next look goes on; absent after the last document. */
  readonly next?: string
}

/** A bounded look at the collection in the order of its names, so that look after look all of it is seen. */
export async function strangers(options: FirestoreOptions, after?: string): Promise<Strangers> {
  const place = await openPlace(options)
  try {
    const byName = place.runs.orderBy(place.sdk.FieldPath.documentId()).select('order').limit(LOOK_MAX)
    const page = await read(place, after === undefined ? byName : byName.startAfter(after))
    const ids = page.docs.filter((snapshot) => snapshot.get('order') === undefined).map(({ id }) => id)
    const last = page.docs.at(-1)?.id
    return { ids, ...(page.size === LOOK_MAX && last !== undefined ? { next: last } : {}) }
  } finally {
    await place.close()
  }
}

/** Best effort, for what cannot be told otherwise: the error of a step that stays in the state it is in. */
export async function tellStep(
  options: FirestoreOptions,
  id: string,
  error: { readonly code: string; readonly message: string },
  isTold: (step: { readonly status: unknown; readonly task: unknown; readonly worker: unknown }) => boolean,
): Promise<void> {
  const place = await openPlace(options)
  try {
    const snapshot = await place.runs.doc(id).get()
    const steps = Object.entries((snapshot.get('steps') ?? {}) as Record<string, Record<string, unknown>>)
    const told = steps.filter(([, { status, stepType: task, worker }]) => isTold({ status, task, worker }))
    const paths = told.flatMap(([step]) => [new place.sdk.FieldPath('steps', step, 'error'), error])
    const [first, value, ...more] = paths
    if (first === undefined || !snapshot.updateTime) return
    await snapshot.ref.update(first as never, value, ...more, { lastUpdateTime: snapshot.updateTime })
  } catch {
    // The store that would be told is the one that fails.
  } finally {
    await place.close()
  }
}
