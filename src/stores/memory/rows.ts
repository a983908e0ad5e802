/**
 * What the memory driver holds: plain rows in maps, and how a row is shown to readers and workers.
 * It knows no verb; every change of a row is in the file of the verb that makes it.
 */
import type { Failure } from '../../failure/failure.ts'
import type { Ledgers } from '../../policy/situation.ts'
import type { Why } from '../../policy/why.ts'
import type { ClaimedRun, Note, RunView } from '../../ports/store.ts'
import type { Hold, HoldTarget } from '../../run/hold.ts'
import type { JournalEntry } from '../../run/journal.ts'
import type { NeedKind } from '../../run/need.ts'
import { AGEING_MS } from '../../run/place.ts'
import { failingOf, type RetryBucket } from '../../run/retry-bucket.ts'
import type { AttemptRecord, ConcurrencyKey, Lane, Lease, Progress, State } from '../../run/run.ts'
import type { BudgetRow, SpendRow, WindowRow } from './budgets.ts'

export interface Need {
  readonly dependent: Row
  readonly needed: Row
  readonly kind: NeedKind
  readonly join: { readonly name: string; readonly generation: number; readonly index: number } | undefined
  open: boolean
}

export interface FlowRow {
  readonly id: string
  readonly name: string
  readonly key: string | undefined
  readonly fingerprint: string | undefined
  readonly rows: readonly Row[]
}

export interface Row {
  /** Order of creation: the number in the id. */
  readonly seq: number
  readonly id: string
  readonly key: string | undefined
  readonly submittedAt: number
  lane: Lane
  /** What it was submitted into, and what every generation begins in. */
  readonly home: Lane
  readonly concurrency: ConcurrencyKey | undefined
  /** Of `run/place.ts`. */
  place: number
  /** Its last try met the trouble of its resource: the next one is a retry to the bucket. */
  again: boolean
  state: State
  generation: number
  priority: number
  dueAt: number | undefined
  /** Since when it can be claimed, while it is ready and nobody has it. */
  readyAt: number
  lease: HeldLease | undefined
  endedBy: number | undefined
  attempt: number
  ledgers: Ledgers
  suspensions: number
  suspect: boolean
  /** Shared crashes that are not in `ledgers.lapses`: they are added when the suspect lapses alone. */
  uncounted: number
  /** How the lease before the present one ended by itself. */
  lapsed: { readonly worker: string; readonly counted: boolean } | undefined
  rung: number
  why: Why | undefined
  failure: Failure | undefined
  input: string
  output: string | undefined
  deadlineAt: number | undefined
  maxCostUsd: number | undefined
  costUsd: number
  progress: Progress | undefined
  finishedAt: number | undefined
  flow: string | undefined
  step: string | undefined
  /** What it needs, and what needs it: the same objects from both ends. */
  readonly needs: Need[]
  readonly dependents: Need[]
  /** All generations, oldest first. */
  readonly history: AttemptRecord[]
  /** By generation, then by name and input hash, in the order of the first intent. */
  readonly journals: Map<number, Map<string, JournalEntry>>
}

export interface HeldLease extends Lease {
  readonly alone: boolean
  readonly claimedAt: number
}

export interface Tables {
  readonly runs: Map<string, Row>
  /** Runs that are not finished: all that a claim has to look at. */
  readonly open: Set<Row>
  /** By task and key. */
  readonly keys: Map<string, KeyRow>
  /** By the id of their first step's run. */
  readonly flows: Map<string, FlowRow>
  /** By name and key, the flow's id. */
  readonly flowKeys: Map<string, string>
  /** Claims that leased something, by token. */
  readonly claims: Map<number, ClaimRow>
  /** By nonce, the token that its claim was given. */
  readonly tokens: Map<string, number>
  readonly notes: (Note & { readonly at: number })[]
  readonly policies: Map<string, string>
  readonly holds: Map<HoldTarget, Hold>
  /** By resource. */
  readonly buckets: Map<string, RetryBucket>
  /** By what is limited and the interval: when all that was given out is paid off. */
  readonly rates: Map<string, number>
  /** By name. */
  readonly budgets: Map<string, BudgetRow>
  /** By budget, kind of window and its key. */
  readonly windows: Map<string, WindowRow>
  /** By call: what it took from each budget. */
  readonly spends: Map<string, SpendRow[]>
  /** Calls with a reservation that may still expire: a few, however many there were. */
  readonly reserved: Set<string>
  /** What a step of priority is worth. */
  readonly ageingMs: number
  /** The last numbers that were given out; none is ever given again. */
  readonly last: { run: number; token: number }
}

export interface KeyRow {
  readonly run: string
  readonly fingerprint: string
  /** When its age begins: at its submit, and from when its run is gone at the end of that. */
  readonly at: number
}

export interface ClaimRow {
  readonly worker: string
  readonly nonce: string
  readonly at: number
  readonly runs: readonly string[]
}

export const emptyTables = (ageingMs = AGEING_MS): Tables => ({
  ageingMs,
  runs: new Map(),
  open: new Set(),
  keys: new Map(),
  flows: new Map(),
  flowKeys: new Map(),
  claims: new Map(),
  tokens: new Map(),
  notes: [],
  policies: new Map(),
  last: { run: 0, token: 0 },
  holds: new Map(),
  buckets: new Map(),
  rates: new Map(),
  budgets: new Map(),
  windows: new Map(),
  spends: new Map(),
  reserved: new Set(),
})

/** The order of claims. */
export const inOrder = (a: Row, b: Row): number => a.place - b.place || a.seq - b.seq

/** One text for several: no choice of strings gives the text of another choice. */
export const joined = (...parts: readonly string[]): string => JSON.stringify(parts)

/** The journal of a generation, made when it is first written to. */
export function journalOf(row: Row, generation: number): Map<string, JournalEntry> {
  const found = row.journals.get(generation)
  if (found) return found
  const made = new Map<string, JournalEntry>()
  row.journals.set(generation, made)
  return made
}

/** What other drivers do by writing and reading: nothing handed in or out is shared, and absent stays absent. */
export function copy<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copy) as T
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(entries.map(([name, inner]) => [name, copy(inner)])) as T
}

export function viewOf(row: Row): RunView {
  const { lease } = row
  return copy({
    ...claimedPart(row),
    state: row.state,
    priority: row.priority,
    dueAt: row.dueAt,
    lease: lease && { token: lease.token, worker: lease.worker, until: lease.until },
    suspect: row.suspect,
    why: row.why,
    output: row.output,
    progress: row.progress,
    finishedAt: row.finishedAt,
    endedBy: row.endedBy,
    concurrency: row.concurrency,
  }) as RunView
}

export function claimedOf(row: Row, lease: Lease, { holds, buckets }: Tables): ClaimedRun {
  const probes = [...holds.values()].filter(({ probing }) => probing?.run === row.id && probing.token === lease.token)
  return copy({
    ...claimedPart(row),
    leaseUntil: lease.until,
    journaled: (row.journals.get(row.generation)?.size ?? 0) > 0,
    needs: row.step !== undefined && row.needs.some(({ join }) => join === undefined) ? true : undefined,
    lapsed: row.lapsed,
    probes: probes.length > 0 ? probes.map(({ what }) => what).sort() : undefined,
    ...failingOf(buckets.values()),
  }) as ClaimedRun
}

/** What readers and workers both see. */
function claimedPart(row: Row) {
  const { id, key, generation, attempt, submittedAt, ledgers, suspensions, rung } = row
  const { input, deadlineAt, maxCostUsd, costUsd, failure, flow, step } = row
  return {
    ...row.lane,
    ...{ id, key, generation, attempt, submittedAt, ledgers, suspensions, rung },
    ...{ input, deadlineAt, maxCostUsd, costUsd, failure, flow, step },
  }
}
