/**
 * What became of one document and what it took, read from the store alone: the run, its journal and its history.
 * So the story is the same in the process that did the work, in the next one, and after a crash.
 */
import type { Kind } from '../failure/failure.ts'
import type { Asked } from '../ladder/ask.ts'
import type { Ladder } from '../ladder/ladder.ts'
import { idOf } from '../ladder/model-id.ts'
import { factsOf, type Prices, type Tokens } from '../ladder/prices.ts'
import { readAnswer } from '../ladder/read-answer.ts'
import type { Sent } from '../ladder/send.ts'
import type { RunView, Store } from '../ports/store.ts'
import type { JournalEntry } from '../run/journal.ts'
import type { Question } from '../run/question.ts'
import { EXTRACT_ASK, type ExtractionInput } from './extraction.ts'

/** What got the answer, from the cheapest to the dearest: the dearest that was needed counts. */
export const RECOURSES = ['first', 'waited', 'repaired', 'asked', 'stronger', 'person', 'nothing'] as const
export type Recourse = (typeof RECOURSES)[number]

export interface Account {
  readonly name: string
  readonly run: string
  readonly key?: string
  /** `right`: its value passed the gate. `person`: it lies on a desk. `open`: it is not over. */
  readonly outcome: 'right' | 'person' | 'failed' | 'open'
  readonly recourse?: Recourse
  readonly value?: unknown
  /** Of the rung whose answer it is. */
  readonly rung?: string
  /** Physical sends, and how many of them were repeats inside a call. */
  readonly calls: number
  readonly hidden: number
  /** Sends by the rung that was asked. */
  readonly asked: Readonly<Record<string, number>>
  readonly usd: number
  /** What went wrong on the way, each once. */
  readonly kinds: readonly Kind[]
  /** Codes of what was wrong, each once. */
  readonly codes: readonly string[]
  /** Why it has no answer, in one sentence. */
  readonly reason?: string
  readonly answers: readonly SendAccount[]
}

/** One answer of a model. */
export interface SendAccount {
  readonly rung: string
  readonly tokens: Tokens & { readonly reasoning?: number }
  readonly usd: number
}

export async function accountOf(store: Store, run: RunView): Promise<Account> {
  const journal = await store.journal(run.id, run.generation)
  const sends = journal.filter((entry) => isSend(entry)).sort((a, b) => a.intentAt - b.intentAt)
  const answers = sends.flatMap((entry) => (entry.answer === undefined ? [] : [JSON.parse(entry.answer) as Sent]))
  const asked = run.output === undefined ? undefined : (JSON.parse(run.output) as Asked)
  const calls = sends.reduce((sum, { takes }) => sum + takes, 0)
  const hidden = calls - sends.length
  const outcome = outcomeOf(run)
  const wrong = outcome === 'right' && asked && isModel(asked) ? answers.slice(0, -1) : answers
  const failed = await failuresOf(store, run, sends)
  const question = questionOf(journal)
  const reason = run.state === 'review' ? (question?.reason ?? run.failure?.message) : run.failure?.message
  const recourse = recourseOf(run, asked, hidden + failed.length)
  return {
    name: (JSON.parse(run.input) as ExtractionInput).name,
    run: run.id,
    ...(run.key === undefined ? {} : { key: run.key }),
    outcome,
    ...(recourse === undefined ? {} : { recourse }),
    ...(asked === undefined ? {} : { value: asked.value, rung: asked.rung }),
    calls,
    hidden,
    asked: countBy(sends),
    usd: run.costUsd,
    kinds: [...new Set([...failed.map(({ kind }) => kind), ...wrong.map(kindOf)])],
    codes: [...new Set([...failed.map(({ code }) => code), ...codesOf(asked, question, run)])],
    ...(outcome === 'right' || reason === undefined ? {} : { reason }),
    answers: answers.map(({ tokens, usd = 0, about }) => ({ rung: String(about?.['rung'] ?? ''), tokens, usd })),
  }
}

/** Calls of the ask, without what was kept or asked of people. */
const isSend = ({ name, question, inputHash }: JournalEntry): boolean =>
  question === undefined && inputHash !== 'kept' && /\.\d+$/.test(name) && name.startsWith(`${EXTRACT_ASK}/`)

const rungOf = ({ name }: JournalEntry): string => name.slice(EXTRACT_ASK.length + 1).replace(/\.\d+$/, '')

function countBy(sends: readonly JournalEntry[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const entry of sends) counts[rungOf(entry)] = (counts[rungOf(entry)] ?? 0) + entry.takes
  return counts
}

function outcomeOf({ state }: RunView): Account['outcome'] {
  if (state === 'succeeded') return 'right'
  if (state === 'review') return 'person'
  return state === 'failed' || state === 'cancelled' ? 'failed' : 'open'
}

/** The answer that passed came from a model and not from a person. */
const isModel = ({ takes }: Asked): boolean => takes.at(-1)?.by === undefined

function recourseOf({ state }: RunView, asked: Asked | undefined, waits: number): Recourse | undefined {
  if (state === 'failed' || state === 'cancelled') return 'nothing'
  if (state === 'review') return 'person'
  if (!asked) return undefined
  const sends = asked.takes.filter(({ model }) => model !== undefined)
  if (!isModel(asked)) return 'person'
  if (new Set(sends.map(({ rung }) => rung)).size > 1) return 'stronger'
  if (sends.length > 1) return 'asked'
  if (sends[0]?.repaired) return 'repaired'
  return waits > 0 ? 'waited' : 'first'
}

/** Failures that were neither an answer nor the end: those of earlier attempts, and of sends that failed last. */
async function failuresOf(store: Store, run: RunView, sends: readonly JournalEntry[]) {
  const inside = sends.flatMap(({ failure }) => (failure ? [failure] : []))
  if (run.attempt <= 1 && run.state !== 'failed') return inside
  const rows = (await store.attempts(run.id)).filter(
    ({ generation, outcome }) => generation === run.generation && outcome === 'failed',
  )
  return [...inside, ...rows.flatMap(({ failure }) => (failure ? [failure] : []))]
}

/** What was wrong with an answer that was no result. */
function kindOf({ failure, finish, text }: Sent): Kind {
  if (failure) return failure.kind
  if (finish === 'content-filter') return 'refused'
  return readAnswer(text, finish === 'length').ok ? 'semantic' : 'syntax'
}

function questionOf(journal: readonly JournalEntry[]): Question | undefined {
  const asked = journal.filter(({ question }) => question !== undefined).sort((a, b) => a.intentAt - b.intentAt)
  const text = asked.at(-1)?.question
  return text === undefined ? undefined : (JSON.parse(text) as Question)
}

function codesOf(asked: Asked | undefined, question: Question | undefined, run: RunView): readonly string[] {
  if (asked) return asked.takes.flatMap(({ codes }) => codes)
  if (question) return (question.answers ?? []).flatMap(({ issues }) => issues.map(({ code }) => code))
  return run.failure ? [run.failure.code] : []
}

/** The last model of a ladder: what somebody without a ladder would ask about everything. */
export function strongestOf({ rungs }: Ladder) {
  const rung = rungs.findLast(({ type }) => type === 'model')
  return rung?.type === 'model' ? rung : undefined
}

/** What somebody without a ladder would have paid. */
export interface AlwaysStrongest {
  readonly rung: string
  readonly usd: number
  /** The strongest model was never heard here, so nobody knows how long it thinks: it costs this much at least. */
  readonly isFloor: boolean
}

/**
 * About what the same documents cost if the strongest model were asked once about each: the tokens of the first answer at its prices,
 * and as much thought as it was seen to take here. Absent without a price. Documents that nobody was asked about count as nothing.
 */
export function alwaysStrongest(
  accounts: readonly Pick<Account, 'answers' | 'calls'>[],
  ladder: Ladder,
  prices?: Prices,
): AlwaysStrongest | undefined {
  const strongest = strongestOf(ladder)
  if (!strongest) return undefined
  const { input, output } = strongest.price ?? factsOf(idOf(strongest.model), prices)
  if (input === undefined || output === undefined) return undefined
  const thoughts = accounts
    .flatMap(({ answers }) => answers)
    .filter(({ rung, tokens }) => rung === strongest.name && tokens.output !== undefined)
    .map(({ tokens }) => tokens.reasoning ?? 0)
  const thought = meanOf(thoughts)
  const costs = accounts.flatMap(({ answers }) => {
    const first = answers.find(({ tokens }) => (tokens.output ?? 0) > 0)?.tokens
    if (!first) return []
    const { input: read = 0, output: written = 0, reasoning = 0 } = first
    return [(read * input + (written - reasoning + thought) * output) / 1_000_000]
  })
  if (costs.length === 0) return undefined
  // Of a document that was refused there are no tokens; it is taken for an ordinary one.
  const askedAbout = accounts.filter(({ calls }) => calls > 0).length
  return { rung: strongest.name, usd: meanOf(costs) * askedAbout, isFloor: thoughts.length === 0 }
}

const meanOf = (figures: readonly number[]): number =>
  figures.reduce((sum, each) => sum + each, 0) / Math.max(1, figures.length)
