/**
 * What became of each answer of a model in a run's journal: right, or what was wrong with it and what was done next.
 * An answer's fault is stored with the send that follows it, or with the question to a person; here the two are put together again.
 */
import type { Kind } from '../failure/failure.ts'
import type { JournalEntry } from '../run/journal.ts'
import { REFUSAL_KINDS } from '../run/ladder-events.ts'
import type { Issue, Question } from '../run/question.ts'

/** One take of an ask. */
export interface TakeStory {
  readonly ask: string
  readonly rung: string
  /** Absent while nobody has judged it. */
  readonly verdict?: 'right' | Kind
  readonly issue?: Issue
  /** How many more issues it had. */
  readonly more?: number
  /** What was done about it. */
  readonly next?: string
}

interface Told {
  readonly rung: string
  readonly take: number
  readonly kind: string
  readonly issues: readonly Issue[]
}

interface Send extends JournalEntry {
  readonly about: { readonly ask: string; readonly rung: string; readonly take: number; readonly told?: Told }
  readonly isRefused: boolean
}

/** By the journal's entry. `isDone`: the run has succeeded, so the last answer of each ask was right, unless a person gave it. */
export function takeStories(journal: readonly JournalEntry[], isDone: boolean): ReadonlyMap<JournalEntry, TakeStory> {
  const stories = new Map<JournalEntry, TakeStory>()
  const sends = journal.flatMap((entry) => sendOf(entry) ?? []).sort((a, b) => a.intentAt - b.intentAt)
  for (const [index, send] of sends.entries()) {
    const { ask, rung } = send.about
    const following = sends.slice(index + 1).find(({ about }) => about.ask === ask)
    const question = questionAfter(journal, send)
    const entry = journal.find(({ name, inputHash }) => name === send.name && inputHash === send.inputHash)
    if (!entry) continue
    const base = { ask, rung }
    if (following) stories.set(entry, { ...base, ...wrong(following.about.told, send), next: nextOf(send, following) })
    else if (question) {
      const told = toldBy(question, send)
      stories.set(entry, { ...base, ...wrong(told, send), next: 'a person is asked' })
    } else stories.set(entry, isDone ? { ...base, verdict: 'right' } : base)
  }
  return stories
}

function wrong(told: Told | undefined, { isRefused }: Send): Partial<TakeStory> {
  if (isRefused) return { verdict: 'refused' }
  if (!told) return {}
  const [issue, ...others] = told.issues
  return {
    verdict: (REFUSAL_KINDS as Readonly<Record<string, Kind>>)[told.kind] ?? 'semantic',
    ...(issue ? { issue } : {}),
    ...(others.length > 0 ? { more: others.length } : {}),
  }
}

function nextOf(send: Send, following: Send): string {
  if (following.about.rung !== send.about.rung) return `next rung: ${following.about.rung}`
  return 'asked again with the error'
}

function sendOf(entry: JournalEntry): Send | undefined {
  if (entry.answer === undefined || entry.question !== undefined || !entry.answer.startsWith('{')) return undefined
  const sent = JSON.parse(entry.answer) as {
    readonly asked?: unknown
    readonly finish?: unknown
    readonly failure?: { readonly kind?: unknown }
    readonly about?: Partial<Send['about']>
  }
  const { about } = sent
  if (typeof sent.asked !== 'string' || typeof about?.ask !== 'string' || typeof about.rung !== 'string')
    return undefined
  const isRefused = sent.failure?.kind === 'refused' || sent.finish === 'content-filter'
  return { ...entry, about: about as Send['about'], isRefused }
}

function questionAfter(journal: readonly JournalEntry[], send: Send): Question | undefined {
  const asked = journal
    .filter(
      ({ question, name, intentAt }) =>
        question !== undefined && name.startsWith(`${send.about.ask}/`) && intentAt >= send.intentAt,
    )
    .sort((a, b) => a.intentAt - b.intentAt)
  const text = asked[0]?.question
  return text === undefined ? undefined : (JSON.parse(text) as Question)
}

function toldBy({ answers = [] }: Question, { about, answer }: Send): Told | undefined {
  const given = answers.find(({ rung, take }) => rung === about.rung && take === about.take)
  if (!given) return undefined
  const isUnread = given.issues.some(({ code }) => code.startsWith('answer.'))
  return { ...given, kind: isUnread && answer !== undefined ? 'syntax' : 'semantic' }
}
