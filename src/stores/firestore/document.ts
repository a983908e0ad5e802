/**
 * A flow document as rows, and back: each step is a run, and a plain run is a document with one step.
 * What other workers of such flows read stands in fields of their own; what only this store needs is one JSON text per step.
 */
import type { Timestamp } from '@google-cloud/firestore'
import type { Failure } from '../../failure/failure.ts'
import type { Ledgers } from '../../policy/situation.ts'
import type { Why } from '../../policy/why.ts'
import type { HoldTarget } from '../../run/hold.ts'
import { isFulfilled, type NeedKind } from '../../run/need.ts'
import { isTerminal, type Lane, type Progress, STATES, type State } from '../../run/run.ts'
import { decodeText, encodeText, type Text } from './texts.ts'

/** The one step of a document that is a plain run. */
export const ONLY_STEP = 'run'
/** Names of steps stand in field paths and in ids. */
const STEP = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/

export interface HeldLease {
  readonly worker: string
  readonly until: number
  readonly alone: boolean
  readonly claimedAt: number
  readonly nonce?: string
}

export interface Need {
  readonly run: string
  readonly kind: NeedKind
  open: boolean
  readonly join?: { readonly name: string; readonly generation: number; readonly index: number }
}

/** What only this store reads. Absent is the default. */
interface Rest {
  ledgers?: Ledgers | undefined
  suspensions?: number | undefined
  suspect?: true | undefined
  /** Shared crashes that are not in `ledgers.lapses`: they are added when the suspect lapses alone. */
  uncounted?: number | undefined
  lapsed?: { readonly worker: string; readonly counted: boolean } | undefined
  rung?: number | undefined
  why?: Why | undefined
  failure?: Failure | undefined
  progress?: Progress | undefined
  deadlineAt?: number | undefined
  maxCostUsd?: number | undefined
  costUsd?: number | undefined
  endedBy?: number | undefined
  again?: true | undefined
  alone?: true | undefined
  nonce?: string | undefined
  needs?: readonly Need[] | undefined
  /** Whose child it is by a join. */
  parent?: { readonly run: string } | undefined
  /** Rows of history and entries of journals so far: the places of the next ones. */
  history?: number | undefined
  entries?: number | undefined
  /** The latest generation whose journal has entries. */
  journaled?: number | undefined
  /** Holds that this lease is the probe of, and whether its resource's health is watched. */
  probes?: readonly HoldTarget[] | undefined
  watched?: true | undefined
  /** Who had it last, for the note about a write that comes too late. */
  lastWorker?: string | undefined
  key?: string | undefined
}

export interface Row extends Rest {
  readonly doc: Doc
  readonly step: string
  readonly id: string
  /** Its place among the steps. */
  readonly n: number
  readonly submittedAt: number
  lane: Lane
  state: State
  generation: number
  priority: number
  attempt: number
  dueAt: number | undefined
  lease: HeldLease | undefined
  /** The last that was given for it, for ever. */
  token: number
  startedAt: number | undefined
  finishedAt: number | undefined
  input: Text
  output: Text | undefined
  /** Its needs are what `dependsOn` says: others move those steps, so how they stand is never stored here. */
  derivesNeeds?: true
  /** As it was read; what is not changed here is not written, whoever made it. */
  asRead?: string
}

export interface Flow {
  readonly name: string
  readonly key?: string
  readonly fingerprint?: string
}

export interface Doc {
  readonly id: string
  /** Absent: it is to be created. */
  readonly updateTime: Timestamp | undefined
  readonly submittedAt: number
  /** Its place among all documents: later ones sort after earlier ones. */
  readonly order: string
  readonly flow: Flow | undefined
  readonly rows: Map<string, Row>
  readonly raw: Readonly<Record<string, unknown>>
}

/** A run's id tells its document: that of a plain run is the document's, a step's has its name behind a dot. */
export function splitId(run: string): { readonly doc: string; readonly step: string } | undefined {
  const dot = run.lastIndexOf('.')
  const doc = dot < 0 ? run : run.slice(0, dot)
  const step = dot < 0 ? ONLY_STEP : run.slice(dot + 1)
  return isDocId(doc) && STEP.test(step) ? { doc, step } : undefined
}

/** Ids are names of documents: what Firestore would take for a path or a reserved name is none. */
const isDocId = (id: string): boolean => /^[A-Za-z0-9][A-Za-z0-9_-]{0,199}$/.test(id)

export const isStepName = (name: string): boolean => STEP.test(name)

export function checkStep(step: string): void {
  if (!STEP.test(step))
    throw new RangeError(`step: ${JSON.stringify(step)}; allowed are letters, digits, _ and -, 128 at most`)
}

const runId = (doc: string, step: string, flow: Flow | undefined): string =>
  flow === undefined && step === ONLY_STEP ? doc : `${doc}.${step}`

export function newRow(
  doc: Doc,
  step: string,
  run: { readonly state: State; readonly lane: Lane; readonly priority: number; readonly input: Text },
): Row {
  const row: Row = {
    doc,
    step,
    id: runId(doc.id, step, doc.flow),
    n: doc.rows.size,
    submittedAt: doc.submittedAt,
    lane: run.lane,
    state: run.state,
    generation: 1,
    priority: run.priority,
    attempt: 0,
    dueAt: undefined,
    lease: undefined,
    token: 0,
    startedAt: undefined,
    finishedAt: undefined,
    input: run.input,
    output: undefined,
  }
  doc.rows.set(step, row)
  return row
}

const WORDS: Readonly<Record<State, string>> = {
  blocked: 'BLOCKED',
  ready: 'READY',
  waiting: 'WAITING',
  review: 'REVIEW',
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
}

/** What `status` of a step may be. */
export const STATUS_WORDS: readonly string[] = [...Object.values(WORDS), 'RUNNING']

/** A run in a worker's hands is RUNNING to others; to us it is ready with a lease. */
const wordOf = ({ state, lease }: Row): string => (state === 'ready' && lease ? 'RUNNING' : WORDS[state])

const stateOf = (word: unknown): State =>
  word === 'RUNNING' ? 'ready' : (STATES.find((state) => WORDS[state] === word) ?? (String(word) as State))

type Data = Readonly<Record<string, unknown>>

export function decode(
  snapshot: {
    readonly id: string
    readonly updateTime?: Timestamp | undefined
    readonly createTime?: Timestamp | undefined
  },
  raw: Data,
  foreignTtlMs: number,
): Doc {
  const flow = flowOf(raw)
  const submittedAt = millis(raw['submittedAt']) ?? snapshot.createTime?.toMillis() ?? 0
  const order = String(raw['order'] ?? snapshot.id)
  const { id, updateTime } = snapshot
  const doc: Doc = { id, updateTime, submittedAt, order, flow, rows: new Map(), raw }
  const steps = Object.entries((raw['steps'] ?? {}) as Record<string, Data>)
  const placed = steps
    .map(([step, data]) => ({ step, data, n: numberOf(data['n']) ?? 0 }))
    .sort((a, b) => a.n - b.n || (a.step < b.step ? -1 : 1))
  for (const { step, data, n } of placed) doc.rows.set(step, decodeStep(doc, step, data, n, foreignTtlMs))
  for (const row of doc.rows.values()) {
    const named = row.needs ? undefined : needsOf(doc, steps, row.step)
    if (named) Object.assign(row, { needs: named, derivesNeeds: true })
    row.asRead = JSON.stringify(encodeStep(row))
  }
  return doc
}

/** A document that others made has neither a name nor one of ours: it is a flow all the same. */
function flowOf(raw: Data): Flow | undefined {
  if (raw['single'] === true) return undefined
  const { name, flowKey, fingerprint } = raw
  return {
    name: typeof name === 'string' ? name : 'flow',
    ...(typeof flowKey === 'string' ? { key: flowKey } : {}),
    ...(typeof fingerprint === 'string' ? { fingerprint } : {}),
  }
}

function decodeStep(doc: Doc, step: string, data: Data, n: number, foreignTtlMs: number): Row {
  const rest = (typeof data['rest'] === 'string' ? JSON.parse(data['rest']) : {}) as Rest
  const state = stateOf(data['status'])
  const startedAt = millis(data['startedAt'])
  const row: Row = {
    ...rest,
    doc,
    step,
    id: runId(doc.id, step, doc.flow),
    n,
    submittedAt: doc.submittedAt,
    lane: {
      task: String(data['stepType'] ?? ''),
      ...(typeof data['category'] === 'string' ? { category: data['category'] } : {}),
      ...(typeof data['resource'] === 'string' ? { resource: data['resource'] } : {}),
    },
    state,
    generation: numberOf(data['generation']) ?? 1,
    priority: numberOf(data['priority']) ?? 0,
    attempt: numberOf(data['attempts']) ?? 0,
    dueAt: millis(data['dueAt']),
    lease: undefined,
    token: numberOf(data['token']) ?? 0,
    startedAt,
    finishedAt: millis(data['finishedAt']),
    input: decodeText('inputs', data) ?? '{}',
    output: decodeText('outputs', data),
  }
  const until = millis(data['leaseUntil'])
  const foreign = until === undefined && data['status'] === 'RUNNING'
  if (until !== undefined || foreign) {
    row.lease = {
      worker: typeof data['worker'] === 'string' ? data['worker'] : 'unknown',
      // Another worker's step, which has no lease: its time is counted from its start, and it was nobody's neighbour.
      until: until ?? (startedAt ?? doc.submittedAt) + foreignTtlMs,
      alone: foreign || rest.alone === true,
      claimedAt: startedAt ?? 0,
      ...(rest.nonce === undefined ? {} : { nonce: rest.nonce }),
    }
  }
  return row
}

/** Of a document that others made: it says what a step depends on, and nothing of how that stands. */
function needsOf(doc: Doc, steps: readonly (readonly [string, Data])[], step: string): Need[] | undefined {
  const named = steps.find(([name]) => name === step)?.[1]['dependsOn']
  if (!Array.isArray(named) || named.length === 0) return undefined
  return named.map((name) => {
    const needed = doc.rows.get(String(name))
    return {
      run: runId(doc.id, String(name), doc.flow),
      kind: 'wait',
      open: !needed || !isFulfilled('wait', needed.state),
    }
  })
}

function encodeStep(row: Row): Data {
  const { lane, lease, failure, state } = row
  const error = failure && state !== 'succeeded' ? { code: failure.code, message: failure.message } : undefined
  const inDocument = (row.needs ?? []).filter(({ join }) => join === undefined)
  return compact({
    status: wordOf(row),
    stepType: lane.task,
    category: lane.category,
    resource: lane.resource,
    priority: row.priority || undefined,
    n: row.n || undefined,
    generation: row.generation === 1 ? undefined : row.generation,
    attempts: row.attempt || undefined,
    token: row.token || undefined,
    worker: lease?.worker,
    leaseUntil: lease?.until,
    startedAt: row.startedAt,
    dueAt: row.dueAt,
    finishedAt: row.finishedAt,
    error,
    dependsOn: inDocument.length > 0 ? inDocument.map(({ run }) => splitId(run)?.step ?? run) : undefined,
    rest: restOf(row),
    ...encodeText('outputs', row.output),
  })
}

function restOf(row: Row): string | undefined {
  const rest: Rest = {
    ledgers: row.ledgers,
    suspensions: row.suspensions || undefined,
    suspect: row.suspect,
    uncounted: row.uncounted || undefined,
    lapsed: row.lapsed,
    rung: row.rung || undefined,
    why: row.why,
    failure: row.failure,
    progress: row.progress,
    deadlineAt: row.deadlineAt,
    maxCostUsd: row.maxCostUsd,
    costUsd: row.costUsd || undefined,
    endedBy: row.endedBy,
    again: row.again,
    alone: row.lease?.alone ? true : undefined,
    nonce: row.lease?.nonce,
    needs: row.derivesNeeds ? undefined : row.needs,
    parent: row.parent,
    history: row.history || undefined,
    entries: row.entries || undefined,
    journaled: row.journaled,
    probes: row.lease ? row.probes : undefined,
    watched: row.lease ? row.watched : undefined,
    lastWorker: row.lastWorker,
    key: row.key,
  }
  const text = JSON.stringify(rest)
  return text === '{}' ? undefined : text
}

/** The fields of a step that this store owns; others may add their own, which stay. */
const STEP_FIELDS = [
  ...['status', 'stepType', 'category', 'resource', 'priority', 'n', 'generation', 'attempts', 'token', 'worker'],
  ...['leaseUntil', 'startedAt', 'dueAt', 'finishedAt', 'error', 'dependsOn', 'rest'],
  ...['outputs', 'output', 'outputBody'],
]

/** What claims and readers ask for without looking into the steps. */
export function topOf(doc: Doc): Data {
  const rows = [...doc.rows.values()]
  const open = rows.filter(({ state }) => !isTerminal(state))
  const dues = open.map(actsAt).filter((at) => at !== undefined)
  const lanes = open.flatMap(({ lane }) => [
    `task:${lane.task}`,
    ...(lane.category === undefined ? [] : [`category:${lane.category}`]),
    ...(lane.resource === undefined ? [] : [`resource:${lane.resource}`]),
  ])
  return {
    open: open.length > 0,
    dueAt: dues.length > 0 ? Math.min(...dues) : null,
    tasks: unique(rows.map(({ lane }) => lane.task)),
    lanes: unique(lanes),
    keys: unique(rows.flatMap(({ key }) => key ?? [])),
    nonces: unique(rows.flatMap(({ lease }) => lease?.nonce ?? [])),
    leased: rows.some(({ lease }) => lease !== undefined),
  }
}

/** Another worker may have ended what is needed without a word to those that need it: what stands in the document counts. */
export function isHeldUp(row: Row): boolean {
  return (row.needs ?? []).some(({ open, kind, run }) => {
    const needed = open ? row.doc.rows.get(splitId(run)?.step ?? '') : undefined
    return open && !(needed?.id === run && isFulfilled(kind, needed.state))
  })
}

/** When a claim could do something with it. What is ready counts from its submit: an old run's retry goes before newer runs. */
export function actsAt(row: Row): number | undefined {
  if (row.lease && row.state === 'review')
    return row.dueAt === undefined ? undefined : Math.max(row.lease.until, row.dueAt)
  if (row.lease) return row.lease.until
  if (row.state === 'ready') return row.submittedAt
  if (row.state === 'blocked') return isHeldUp(row) ? undefined : row.submittedAt
  return row.state === 'waiting' || row.state === 'review' ? row.dueAt : undefined
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)].sort()

/** The whole of a new document. */
export function encodeNew(doc: Doc): Record<string, unknown> {
  const steps = [...doc.rows.values()].map((row) => [
    row.step,
    { ...encodeStep(row), ...encodeText('inputs', row.input) },
  ])
  const { flow } = doc
  return compact({
    order: doc.order,
    submittedAt: doc.submittedAt,
    single: flow ? undefined : true,
    name: flow?.name,
    flowKey: flow?.key,
    fingerprint: flow?.fingerprint,
    ...topOf(doc),
    steps: Object.fromEntries(steps),
  })
}

/** What differs from the stored document, by field path; `undefined` takes a field away. */
export function changesOf(doc: Doc): (readonly [path: readonly string[], value: unknown])[] {
  const changes: (readonly [readonly string[], unknown])[] = []
  const stored = (doc.raw['steps'] ?? {}) as Record<string, Data>
  for (const row of doc.rows.values()) {
    const before = stored[row.step] ?? {}
    const after = encodeStep(row)
    if (JSON.stringify(after) === row.asRead) continue
    for (const field of STEP_FIELDS)
      if (!same(before[field], after[field])) changes.push([['steps', row.step, field], after[field]])
  }
  for (const [field, value] of Object.entries(topOf(doc)))
    if (!same(doc.raw[field], value)) changes.push([[field], value])
  return changes
}

function same(a: unknown, b: unknown): boolean {
  if (a === b || (a === null && b === undefined)) return a === b
  const [left, right] = [millis(a), millis(b)]
  if (typeof a !== typeof b && left !== undefined) return left === right
  return JSON.stringify(order(a)) === JSON.stringify(order(b))
}

function order(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(order)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, inner]) => [name, order(inner)]))
}

function compact(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined))
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

/** Instants of ours are numbers; others write Firestore's own. */
function millis(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'object' && value !== null && 'toMillis' in value && typeof value.toMillis === 'function'
    ? (value.toMillis() as number)
    : undefined
}
