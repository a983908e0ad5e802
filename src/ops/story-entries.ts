/**
 * What happened to a run, as entries in time order: attempts, calls, operators' acts, notes.
 * Pure: rows in, entries out; the sentences are `say`'s.
 */
import type { Failure, Kind } from '../failure/failure.ts'
import type { Policy } from '../policy/policy.ts'
import { type SayOptions, say } from '../policy/say.ts'
import type { Why } from '../policy/why.ts'
import type { Note, RunView } from '../ports/store.ts'
import type { JournalEntry } from '../run/journal.ts'
import { PERSON_HASH } from '../run/question.ts'
import type { AttemptRecord, Outcome, State } from '../run/run.ts'
import { type TakeStory, takeStories } from './take-story.ts'

/** The input hash under which the journal keeps sleeps: no call has it. */
const SLEEP = 'sleep'
/** The same for joins. */
const JOIN = 'join'

interface At {
  /** When it began, store time. */
  readonly at: number
  readonly generation: number
}

export interface AttemptEntry extends At {
  readonly type: 'attempt'
  readonly attempt: number
  readonly outcome: Outcome | 'running'
  readonly endedAt?: number
  readonly worker?: string
  readonly rung?: string
  readonly failure?: Failure
  /** What was decided and why, in words. */
  readonly sentence?: string
  readonly counted?: boolean
  readonly takes?: number
  readonly costUsd?: number
}

export interface CallEntry extends At {
  readonly type: 'call'
  readonly name: string
  readonly takes: number
  /** `open`: sent, and nobody knows yet what came of it. */
  readonly result: 'answered' | 'failed' | 'open'
  readonly answeredAt?: number
  readonly failure?: Failure
  /** The answer came after its owner's lease: a receipt. */
  readonly late: boolean
  readonly costUsd?: number
  /** Of a call to a model by a ladder: who was asked, and what became of the answer. */
  readonly take?: TakeStory
}

export interface SleepEntry extends At {
  readonly type: 'sleep'
  readonly name: string
  readonly until: number
}

export interface JoinEntry extends At {
  readonly type: 'join'
  readonly name: string
  /** When the parent had the results; absent while it waits. */
  readonly answeredAt?: number
}

/** A person is asked; what they did about it is an act of theirs. */
export interface QuestionEntry extends At {
  readonly type: 'question'
  readonly name: string
  /** Absent while nobody has answered. */
  readonly answeredAt?: number
}

/** An operator's act, or a note: something that is not an execution. */
export interface ActEntry extends At {
  readonly type: 'act' | 'note'
  readonly by: string
  readonly what: string
  readonly sentence: string
}

export type StoryEntry = AttemptEntry | CallEntry | SleepEntry | JoinEntry | QuestionEntry | ActEntry

export interface StoryRows {
  readonly run: RunView
  readonly history: readonly AttemptRecord[]
  /** By generation. */
  readonly journals: ReadonlyMap<number, readonly JournalEntry[]>
  readonly notes: readonly (Note & { readonly at: number })[]
  readonly policies: ReadonlyMap<string, Policy>
}

export function storyEntries(rows: StoryRows, now: number, options: SayOptions = {}): StoryEntry[] {
  const { run, history, journals, notes, policies } = rows
  const acts = history.filter(({ outcome }) => outcome === 'operator')
  const entries: StoryEntry[] = [
    ...acts.map((record) => actOf(record, options)),
    ...history.filter(({ outcome }) => outcome !== 'operator').map((record) => attemptOf(record, policies, options)),
    ...present(run, journals.get(run.generation) ?? [], now),
    ...[...journals].flatMap(([generation, journal]) => callsOf(journal, generation, run)),
    ...notes.filter((note) => !isTold(note, acts)).map((note) => noteOf(note, run.generation, options)),
  ]
  // Sorting is stable, so what happened in one instant stays in the order above.
  return entries.sort((a, b) => a.at - b.at)
}

/** Signs for a list: one per attempt, what it failed with or how it ended. */
export function marksOf(history: readonly AttemptRecord[], max = MARKS_MAX): (Kind | State)[] {
  const marks = history.filter(({ outcome }) => outcome !== 'operator').map(markOf)
  return marks.slice(-max)
}

const MARKS_MAX = 16

function markOf({ failure, outcome }: AttemptRecord): Kind | State {
  if (failure) return failure.kind
  switch (outcome) {
    case 'lapsed':
    case 'interrupted':
      return 'interrupted'
    case 'suspended':
      return 'waiting'
    case 'failed':
    case 'cancelled':
      return outcome
    default:
      return 'succeeded'
  }
}

function attemptOf(record: AttemptRecord, policies: StoryRows['policies'], options: SayOptions): AttemptEntry {
  const { generation, attempt, outcome, startedAt, endedAt, worker, failure, decision, takes, costUsd } = record
  const rung = policies.get(record.policy ?? '')?.ladder?.[record.rung ?? 0]?.name
  const why = decision?.why ?? record.why
  return {
    type: 'attempt',
    at: startedAt,
    ...{ generation, attempt, endedAt, worker },
    outcome: outcome === 'operator' ? 'cancelled' : outcome,
    ...(rung === undefined ? {} : { rung }),
    ...(failure ? { failure } : {}),
    ...sentenceOf(outcome === 'lapsed' ? LAPSED : why, endedAt, options),
    ...(decision ? { counted: decision.counted } : {}),
    ...(takes === undefined ? {} : { takes }),
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

/** The claim that found the lease expired decides nothing, so its row has no reason of its own. */
const LAPSED = 'No sign of life; its lease ended and the run was claimed again.'

function sentenceOf(why: Why | string | undefined, now: number, options: SayOptions): { sentence?: string } {
  if (why === undefined) return {}
  return { sentence: typeof why === 'string' ? why : say(why, { ...options, now }) }
}

/** What has no row: the attempt that runs now, and a success at the first try. They began with their first call at the latest. */
function present(run: RunView, journal: readonly JournalEntry[], now: number): AttemptEntry[] {
  const { generation, attempt, lease, state, finishedAt } = run
  const since = (token: number | undefined, at: number) =>
    Math.min(at, ...journal.filter((entry) => entry.token === token).map(({ intentAt }) => intentAt))
  const common = { type: 'attempt', generation, attempt } as const
  if (state === 'ready' && lease && lease.until > now)
    return [{ ...common, at: since(lease.token, now), outcome: 'running', worker: lease.worker }]
  if (state !== 'succeeded' || attempt !== 1 || finishedAt === undefined) return []
  return [{ ...common, at: since(run.endedBy, finishedAt), endedAt: finishedAt, outcome: 'succeeded' }]
}

function callsOf(journal: readonly JournalEntry[], generation: number, run: RunView) {
  const takes = takeStories(journal, generation === run.generation && run.state === 'succeeded')
  return journal.map((entry) => callOf(entry, generation, takes.get(entry)))
}

function callOf(
  entry: JournalEntry,
  generation: number,
  take: TakeStory | undefined,
): CallEntry | SleepEntry | JoinEntry | QuestionEntry {
  const { name, intentAt: at, answer, answeredAt, failure, takes, late = false, costUsd } = entry
  const answered = answeredAt === undefined ? {} : { answeredAt }
  if (entry.inputHash === JOIN) return { type: 'join', at, generation, name, ...answered }
  if (entry.inputHash.startsWith(PERSON_HASH)) return { type: 'question', at, generation, name, ...answered }
  if (entry.inputHash === SLEEP) return { type: 'sleep', at, generation, name, until: Number(answer ?? at) }
  return {
    type: 'call',
    ...{ at, generation, name, takes, late },
    result: failure ? 'failed' : answer === undefined ? 'open' : 'answered',
    ...answered,
    ...(failure ? { failure } : {}),
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(take === undefined ? {} : { take }),
  }
}

function actOf({ endedAt: at, generation, worker: by, why }: AttemptRecord, options: SayOptions): ActEntry {
  const sentence = why ? say(why, { ...options, now: at }) : `Begun again by ${by}; generation ${generation}.`
  return { type: 'act', at, generation, by, what: why?.code ?? 'run.again', sentence }
}

/** A store notes each act beside its row of history; the row says more. */
function isTold({ what, at, by }: Note & { readonly at: number }, acts: readonly AttemptRecord[]): boolean {
  if (acts.some(({ why, worker }) => why?.code === what && worker === by)) return true
  return STEERED.has(what) && acts.some(({ endedAt, worker }) => endedAt === at && worker === by)
}

/** The notes that a store adds to an operator's act. */
const STEERED: ReadonlySet<string> = new Set(['retry', 'cancel', 'reprioritise', 'reschedule'])

/** What happens at a desk before a decision. */
const DESK_WORDS: Readonly<Record<string, string>> = {
  'review.taken': 'Taken',
  'review.given_back': 'Given back',
}

function noteOf(note: Note & { readonly at: number }, generation: number, options: SayOptions): ActEntry {
  const { at, by, what, data } = note
  const stale: Why = { code: 'write.stale', params: { worker: by } }
  const details = Object.entries(data ?? {}).map(([name, value]) => `${name} ${value}`)
  if (Object.hasOwn(DESK_WORDS, what))
    return { type: 'note', at, generation, by, what, sentence: `${DESK_WORDS[what]} by ${by}.` }
  const plain = `${what} by ${by}${details.length > 0 ? ` (${details.join(', ')})` : ''}.`
  return { type: 'note', at, generation, by, what, sentence: what === stale.code ? say(stale, options) : plain }
}
