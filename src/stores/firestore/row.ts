/**
 * A run as the Firestore driver works with it: a step of a document, what it is called, and when a claim could do something with it.
 * How it stands in the document is `document.ts`'s affair.
 */
import type { Timestamp } from '@google-cloud/firestore'
import type { Failure } from '../../failure/failure.ts'
import type { Ledgers } from '../../policy/situation.ts'
import type { Why } from '../../policy/why.ts'
import type { HoldTarget } from '../../run/hold.ts'
import { isFulfilled, type NeedKind } from '../../run/need.ts'
import type { ConcurrencyKey, Lane, Progress, State } from '../../run/run.ts'
import type { Text } from './texts.ts'

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
export interface Rest {
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
  concurrency?: ConcurrencyKey | undefined
  /** What it was submitted into, if its lane is another by now: every generation begins there. */
  home?: Lane | undefined
  /** The time that was set for it, by its submit or an operator. */
  setFor?: number | undefined
  /** Since when it can be claimed, while it is ready and nobody has it. Absent: since it was submitted. */
  readyAt?: number | undefined
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
  /** How it stood to its concurrency key when it was read. */
  turnAsRead?: string
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

export const runId = (doc: string, step: string, flow: Flow | undefined): string =>
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

/** Another worker may have ended what is needed without a word to those that need it: what stands in the document counts. */
export function isHeldUp(row: Row): boolean {
  return (row.needs ?? []).some(({ open, kind, run }) => {
    const needed = open ? row.doc.rows.get(splitId(run)?.step ?? '') : undefined
    return open && !(needed?.id === run && isFulfilled(kind, needed.state))
  })
}

/** Waiting for room in its concurrency key, not for a time. */
export const isParked = ({ state, dueAt }: Row): boolean => state === 'waiting' && dueAt === undefined

/** In a worker's hands; what a person has in hand is in review, and not out. */
export const isOut = ({ state, lease }: Pick<Row, 'state' | 'lease'>): boolean =>
  lease !== undefined && state === 'ready'

/** What a run is to the line of its concurrency key; nobody waits for a suspect. */
export function standingOf(row: Row): 'out' | 'parked' | 'ready' | 'none' {
  if (isOut(row)) return 'out'
  if (isParked(row)) return 'parked'
  return row.state === 'ready' && !row.suspect ? 'ready' : 'none'
}

/** All that its place in the line is made of. */
export const turnMark = (row: Row): string =>
  JSON.stringify([standingOf(row), row.priority, row.setFor, row.lane, row.again])

/** When a claim could do something with it. What is ready counts from its submit: an old run's retry goes before newer runs. */
export function actsAt(row: Row): number | undefined {
  if (row.lease && row.state === 'review')
    return row.dueAt === undefined ? undefined : Math.max(row.lease.until, row.dueAt)
  if (row.lease) return row.lease.until
  if (row.state === 'ready') return row.submittedAt
  if (row.state === 'blocked') return isHeldUp(row) ? undefined : row.submittedAt
  return row.state === 'waiting' || row.state === 'review' ? row.dueAt : undefined
}
