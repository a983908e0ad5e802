/**
 * A flow document as rows, and back: each step is a run, and a plain run is a document with one step.
 * What other workers of such flows read stands in fields of their own; what only this store needs is one JSON text per step.
 */
import type { Timestamp } from '@google-cloud/firestore'
import { isFulfilled } from '../../run/need.ts'
import { isTerminal, STATES, type State } from '../../run/run.ts'
import { instantOfText } from '../../time/instant.ts'
import { actsAt, type Doc, type Flow, type Need, newRow, type Rest, type Row, runId, splitId, turnMark } from './row.ts'
import { bodyIn, decodeText, encodeText } from './texts.ts'

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
  const steps = Object.entries(mapOf(raw['steps']) ?? {}).map(([step, data]) => [step, mapOf(data) ?? {}] as const)
  const placed = steps
    .map(([step, data]) => ({ step, data, n: numberOf(data['n']) ?? 0 }))
    .sort((a, b) => a.n - b.n || (a.step < b.step ? -1 : 1))
  for (const { step, data, n } of placed) doc.rows.set(step, decodeStep(doc, step, data, n, foreignTtlMs))
  for (const row of doc.rows.values()) {
    const named = row.needs ? undefined : needsOf(doc, steps, row.step)
    if (named) Object.assign(row, { needs: named, derivesNeeds: true })
    row.asRead = JSON.stringify(encodeStep(row))
    row.turnAsRead = turnMark(row)
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
  const rest = restIn(data['rest'])
  // In nobody's reach until others have mended it: what is not understood is neither claimed nor written.
  if (!rest || !isUnderstood(data)) return unreadable(doc, step, data, n)
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

/** `undefined` for what this store did not write. */
function restIn(text: unknown): Rest | undefined {
  if (typeof text !== 'string') return {}
  try {
    return mapOf(JSON.parse(text)) as Rest | undefined
  } catch {
    return undefined
  }
}

const isUnderstood = ({ status, inputBody, outputBody }: Data): boolean =>
  STATUS_WORDS.includes(String(status)) && [inputBody, outputBody].every((body) => body === undefined || bodyIn(body))

function unreadable(doc: Doc, step: string, { status, stepType }: Data, n: number): Row {
  const state = STATUS_WORDS.includes(String(status)) ? 'unreadable' : String(status)
  const row = newRow(doc, step, {
    state: state as State,
    lane: { task: String(stepType ?? '') },
    priority: 0,
    input: '{}',
  })
  return { ...row, n }
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
    concurrency: row.concurrency,
    home: row.home,
    setFor: row.setFor,
    readyAt: row.readyAt,
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
  const acting = open.filter((row) => actsAt(row) !== undefined)
  const dues = acting.map(actsAt).filter((at) => at !== undefined)
  // Only of those with which a claim could do something: what waits for other steps is none of its affair.
  const lanes = acting.flatMap(({ lane }) => [
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

function mapOf(value: unknown): Data | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Data) : undefined
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

/** Instants of ours are numbers; others write Firestore's own, or texts. */
function millis(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value === 'string') return instantOfText(value)
  return typeof value === 'object' && value !== null && 'toMillis' in value && typeof value.toMillis === 'function'
    ? (value.toMillis() as number)
    : undefined
}
