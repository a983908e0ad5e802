/**
 * Documents that others made: an orchestrator writes `flow_runs/{id}` with a map of steps, and this store takes it in.
 * A document that cannot be a flow gets an error of its own; its steps are left as they are.
 */
import type { QueryDocumentSnapshot, Timestamp } from '@google-cloud/firestore'
import { decode, STATUS_WORDS, topOf } from './document.ts'
import { isReady } from './expire.ts'
import { read } from './look.ts'
import { type FirestoreOptions, openPlace, type Place } from './place.ts'
import { type Doc, isHeldUp, isStepName } from './row.ts'
import { bodyIn } from './texts.ts'
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
const INVALID = 'FLOW_RUN_INVALID'
/** No document can have such an id. */
const UNNAMEABLE = /^(\.{1,2}|__.*__)$/

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
  if (UNNAMEABLE.test(id)) return { answer: 'missing' }
  const snapshot = await readRef(place, place.runs.doc(id))
  const data = snapshot.data()
  const since = snapshot.updateTime as Timestamp
  if (!data) return { answer: 'missing' }
  const message = faultOf(id, data)
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
    const error = { code: INVALID, message }
    const isKnown = JSON.stringify(data['error']) === JSON.stringify(error)
    return isKnown || (await write({ error })) ? { answer: 'invalid', message } : undefined
  }
  const doc = decode(snapshot, data, place.foreignTtlMs)
  const isNew = data['order'] === undefined
  const top = topOf(doc)
  const isStale = isBehind(data, top)
  const isMended = data['error']?.code === INVALID
  if (isNew || isStale || isMended) {
    const order = isNew ? { order: place.numbers.id('', doc.submittedAt), submittedAt: doc.submittedAt } : {}
    const error = isMended ? { error: place.sdk.FieldValue.delete() } : {}
    if (!(await write({ ...top, ...order, ...error }))) return undefined
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

const isBehind = (data: Readonly<Record<string, unknown>>, top: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(top).some(([name, value]) => JSON.stringify(data[name]) !== JSON.stringify(value))

const NAMES = 'allowed are letters, digits, _ and -, 128 at most'

type Data = Readonly<Record<string, unknown>>

/** What keeps a document from being a flow, in one sentence. */
function faultOf(id: string, data: Data): string | undefined {
  if (!isStepName(id)) return `its id ${JSON.stringify(id.slice(0, 60))} is none; ${NAMES}`
  const steps = data['steps']
  if (typeof steps !== 'object' || steps === null || Array.isArray(steps) || Object.keys(steps).length === 0)
    return `steps is ${Array.isArray(steps) ? 'a list' : typeof steps}; allowed is a map with at least one step`
  for (const [step, value] of Object.entries(steps as Data)) {
    if (!isStepName(step)) return `steps: ${JSON.stringify(step.slice(0, 60))} is no name of a step; ${NAMES}`
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return `steps.${step} is ${shown(value)}; allowed is a map`
    const fault = faultOfStep(value as Data, steps as Data)
    if (fault !== undefined) return `steps.${step}.${fault}`
  }
  return circleIn(steps as Readonly<Record<string, Data>>)
}

function faultOfStep(data: Data, steps: Data): string | undefined {
  const { status, stepType, dependsOn } = data
  if (typeof stepType !== 'string' || stepType === '')
    return `stepType is ${shown(stepType)}; allowed is the name of a task`
  if (typeof status !== 'string' || !STATUS_WORDS.includes(status))
    return `status is ${shown(status)}; allowed are ${STATUS_WORDS.join(', ')}`
  const needs = dependsOn === undefined || dependsOn === null ? [] : dependsOn
  if (!Array.isArray(needs)) return `dependsOn is ${typeof needs}; allowed is a list of steps`
  const unknown = needs.find((need) => !Object.hasOwn(steps, String(need)))
  if (unknown !== undefined) return `dependsOn names ${JSON.stringify(unknown)}, which is no step`
  for (const field of ['rest', 'input', 'output'])
    if (typeof data[field] === 'string' && !isJson(data[field], field === 'rest'))
      return `${field} is ${shown(data[field])}; allowed is what this store wrote there`
  for (const field of ['inputBody', 'outputBody'])
    if (data[field] !== undefined && !bodyIn(data[field]))
      return `${field} is ${shown(data[field])}; allowed is what this store wrote there`
  return undefined
}

const shown = (value: unknown): string => (value === undefined ? 'not given' : JSON.stringify(value).slice(0, 80))

function isJson(text: string, isMap: boolean): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return !isMap || (typeof value === 'object' && value !== null && !Array.isArray(value))
  } catch {
    return false
  }
}

/** Steps that need each other would wait for ever. */
function circleIn(steps: Readonly<Record<string, Data>>): string | undefined {
  const free = new Set<string>()
  let waiting = Object.keys(steps)
  for (;;) {
    const needsOf = (step: string) => (steps[step]?.['dependsOn'] ?? []) as readonly unknown[]
    const left = waiting.filter((step) => !needsOf(step).every((need) => free.has(String(need))))
    if (left.length === 0) return undefined
    if (left.length === waiting.length) return `steps.${left[0]}.dependsOn leads back to steps that wait for it`
    for (const step of waiting) if (!left.includes(step)) free.add(step)
    waiting = left
  }
}

/** Documents in one look for those that others made. */
const LOOK_MAX = 200

export interface Strangers {
  /** Ids of documents that this store has not taken in, or that others changed since so that no claim would find them. */
  readonly ids: readonly string[]
  /** Where the next look goes on; absent after the last document. */
  readonly next?: string
}

/** A bounded look at the collection in the order of its names, so that look after look all of it is seen. */
export async function strangers(options: FirestoreOptions, after?: string): Promise<Strangers> {
  const place = await openPlace(options)
  try {
    const byName = place.runs.orderBy(place.sdk.FieldPath.documentId()).limit(LOOK_MAX)
    const page = await read(place, after === undefined ? byName : byName.startAfter(after))
    const ids = page.docs.filter((snapshot) => isStrange(place, snapshot)).map(({ id }) => id)
    const last = page.docs.at(-1)?.id
    return { ids, ...(page.size === LOOK_MAX && last !== undefined ? { next: last } : {}) }
  } finally {
    await place.close()
  }
}

function isStrange(place: Place, snapshot: QueryDocumentSnapshot): boolean {
  const data = snapshot.data()
  return (
    data['order'] === undefined ||
    isBehind(data, topOf(decode(snapshot, data, place.foreignTtlMs))) ||
    faultOf(snapshot.id, data) !== undefined
  )
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
