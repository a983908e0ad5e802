/**
 * Between rows and the port's data: states as numbers, ids as text, what is rare as one JSON column.
 * It runs no statement.
 */
import type { Failure } from '../../failure/failure.ts'
import type { Ledgers } from '../../policy/situation.ts'
import type { Why } from '../../policy/why.ts'
import type { RunView } from '../../ports/store.ts'
import type { JournalEntry } from '../../run/journal.ts'
import { type AttemptRecord, EMPTY_LEDGERS, type Lane, type Progress, STATES, type State } from '../../run/run.ts'

/** A state's number is its place in `STATES`; statements carry the numbers as literals, because partial indexes need them so. */
export const STATE_NUMBER = Object.fromEntries(STATES.map((state, index) => [state, index])) as Record<State, number>

export const idOf = (run: number): string => `r${run}`

/** The number in an id, or 0, which no run has, for a text that is no id of this store. */
export function numberOf(id: string): number {
  const run = id.charCodeAt(0) === 114 ? Number(id.slice(1)) : 0
  return Number.isSafeInteger(run) && run > 0 && idOf(run) === id ? run : 0
}

/** What most runs never have: kept in one nullable column, so that the row that every claim and commit rewrites stays short. */
export interface More {
  rateWaits?: number
  interruptions?: number
  repairs?: number
  escalations?: number
  errorsByKind?: Ledgers['errorsByKind']
  suspensions?: number
  rung?: number
  costUsd?: number
  deadlineAt?: number
  maxCostUsd?: number
  progress?: Progress
  /** Given back with a journal, so that even its next first attempt has one to read. */
  journaled?: true
  /** It is a step of a flow, and one that needs others. */
  step?: true
  needs?: true
  /** How the lease before the present one ended by itself. */
  lapsed?: { readonly worker: string; readonly counted: boolean }
  /** The lane that it was submitted into, when an end has moved it to another. */
  home?: number
}

export const readMore = (text: string | null): More => (text === null ? {} : (JSON.parse(text) as More))

/** A count of zero and no errors by kind are left out, so that a run without anything rare has no text at all. */
export function writeMore(more: More): string | null {
  const kept = Object.entries(more).filter(
    ([name, value]) => value !== undefined && !(LIMITS.has(name) ? false : value === 0 || isEmpty(value)),
  )
  return kept.length === 0 ? null : JSON.stringify(Object.fromEntries(kept))
}

/** What a submitter asked for: zero is a wish, not an absence. */
const LIMITS: ReadonlySet<string> = new Set(['deadlineAt', 'maxCostUsd'])

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0

export function ledgersOf(errors: number, lapses: number, more: More | undefined): Ledgers {
  if (more === undefined && errors === 0 && lapses === 0) return EMPTY_LEDGERS
  const {
    rateWaits = 0,
    interruptions = 0,
    repairs = 0,
    escalations = 0,
    errorsByKind = EMPTY_LEDGERS.errorsByKind,
  } = more ?? {}
  return { errors, rateWaits, interruptions, lapses, repairs, escalations, errorsByKind }
}

/** The ledgers without the two that have columns of their own. */
export function rareLedgers(ledgers: Ledgers): Partial<More> {
  const { errors: _errors, lapses: _lapses, ...rare } = ledgers
  return rare
}

/** A row as readers select it: joined with its lane, its claim and its step. */
export interface ViewRow {
  readonly id: number
  readonly state: number
  readonly priority: number
  readonly submitted_at: number
  readonly lease: number | null
  readonly lease_until: number | null
  readonly worker: string | null
  readonly due_at: number | null
  readonly suspect: number
  readonly generation: number
  readonly attempt: number
  readonly errors: number
  readonly lapses: number
  readonly ended_by: number | null
  readonly finished_at: number | null
  readonly key: string | null
  readonly concurrency_key: string | null
  readonly concurrency_max: number | null
  readonly more: string | null
  readonly why: string | null
  readonly failure: string | null
  readonly input: string
  readonly output: string | null
  readonly task: string
  readonly category: string | null
  readonly resource: string | null
  readonly flow: number | null
  readonly step: string | null
}

export function viewOf(row: ViewRow): RunView {
  const more = readMore(row.more)
  const { suspensions = 0, rung = 0, costUsd = 0, deadlineAt, maxCostUsd, progress } = more
  const { lease, lease_until: until } = row
  return {
    ...laneOf(row),
    id: idOf(row.id),
    ...(row.key === null ? {} : { key: row.key }),
    state: stateOf(row.state),
    generation: row.generation,
    priority: row.priority,
    submittedAt: row.submitted_at,
    ...(row.due_at === null ? {} : { dueAt: row.due_at }),
    ...(lease === null || until === null ? {} : { lease: { token: lease, worker: row.worker ?? 'unknown', until } }),
    attempt: row.attempt,
    ledgers: ledgersOf(row.errors, row.lapses, more),
    suspensions,
    suspect: row.suspect > 0,
    rung,
    ...(row.why === null ? {} : { why: JSON.parse(row.why) as Why }),
    ...(row.failure === null ? {} : { failure: JSON.parse(row.failure) as Failure }),
    input: row.input,
    ...(row.output === null ? {} : { output: row.output }),
    ...(deadlineAt === undefined ? {} : { deadlineAt }),
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
    costUsd,
    ...(progress === undefined ? {} : { progress }),
    ...(row.finished_at === null ? {} : { finishedAt: row.finished_at }),
    ...(row.flow === null ? {} : { flow: idOf(row.flow) }),
    ...(row.step === null ? {} : { step: row.step }),
    ...concurrencyOf(row),
    ...(row.ended_by === null ? {} : { endedBy: row.ended_by }),
  }
}

function concurrencyOf({ concurrency_key: text, concurrency_max: max }: ViewRow): Pick<RunView, 'concurrency'> {
  return text === null || max === null ? {} : { concurrency: { key: keyOf(text), max } }
}

export function stateOf(number: number): State {
  const state = STATES[number]
  if (state === undefined) throw new RangeError(`state ${number} is none of ${STATES.join(', ')}; run verify`)
  return state
}

interface LaneColumns {
  readonly task: string
  readonly category: string | null
  readonly resource: string | null
}

export const laneOf = ({ task, category, resource }: LaneColumns): Lane => ({
  task,
  ...(category === null ? {} : { category }),
  ...(resource === null ? {} : { resource }),
})

export interface AttemptRow {
  readonly generation: number
  readonly attempt: number
  readonly token: number
  readonly worker: string
  readonly started_at: number
  readonly ended_at: number
  readonly outcome: AttemptRecord['outcome']
  readonly more: string | null
}

export function attemptOf(row: AttemptRow): AttemptRecord {
  return {
    generation: row.generation,
    attempt: row.attempt,
    token: row.token,
    worker: row.worker,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    outcome: row.outcome,
    ...(row.more === null ? {} : (JSON.parse(row.more) as Partial<AttemptRecord>)),
  }
}

export interface JournalRow {
  readonly name: string
  readonly input_hash: string
  readonly token: number
  readonly takes: number
  readonly intent_at: number
  readonly answered_at: number | null
  readonly late: number | null
  readonly cost_usd: number | null
  readonly failure: string | null
  readonly answer: string | null
  readonly question: string | null
}

export function entryOf(row: JournalRow): JournalEntry {
  return {
    name: row.name,
    inputHash: row.input_hash,
    token: row.token,
    takes: row.takes,
    intentAt: row.intent_at,
    ...(row.answer === null ? {} : { answer: row.answer }),
    ...(row.answered_at === null ? {} : { answeredAt: row.answered_at }),
    ...(row.failure === null ? {} : { failure: JSON.parse(row.failure) as Failure }),
    ...(row.late === null ? {} : { late: row.late === 1 }),
    ...(row.cost_usd === null ? {} : { costUsd: row.cost_usd }),
    ...(row.question === null ? {} : { question: row.question }),
  }
}

/** Concurrency keys are of a task: two tasks that use the same text have nothing to do with each other. */
export const keyText = (task: string, key: string): string => JSON.stringify([task, key])

const keyOf = (text: string): string => (JSON.parse(text) as [string, string])[1]

/** JSON for a nullable column. */
export const jsonOrNull = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value))
