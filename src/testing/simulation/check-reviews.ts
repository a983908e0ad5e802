/**
 * What people do at a desk: nobody decides what is in another's hands, and a decision is there once, whole, and as they were told.
 */
import { type History, only } from './history.ts'
import { invariant } from './invariant.ts'
import { type Story, type StoryStep, stories } from './story.ts'

const DECISIONS: ReadonlySet<string> = new Set(['review.answered', 'review.sent_back', 'review.rejected'])

export const REVIEWS = [
  invariant(
    'desk',
    'What a person has in hand is theirs until their lease ends; what they decide is stored once, with its row and its note, and as they are told.',
    (history) => [
      ...[...stories(history).values()].flatMap((story) => [
        ...snatched(story),
        ...undone(history, story),
        ...unkept(history, story),
      ]),
      ...misheard(history),
    ],
  ),
]

const isDecision = ({ kind, before }: StoryStep): boolean => kind === 'ended' && before?.holder?.isPerson === true

/** Workers and other people who got it, or moved it, while somebody had it in hand. */
function snatched({ run, steps }: Story): string[] {
  return steps.flatMap(({ kind, before, line }) => {
    const holder = before?.holder
    if (!holder?.isPerson || holder.until <= line.at) return []
    const isOwn = line.verb === 'take' && line.by === holder.worker
    const isGiven = kind === 'claimed' || kind === 'moved' || (kind === 'taken' && !isOwn)
    return isGiven ? [`${run}: ${kind} at ${line.at}, in the hands of ${holder.worker} until ${holder.until}`] : []
  })
}

/** A person who goes away leaves no trace on the run. */
function undone(history: History, { run, steps }: Story): string[] {
  const returned = new Set(steps.flatMap(({ kind, token }) => (kind === 'returned' ? [token] : [])))
  return (history.dump.attempts[run] ?? [])
    .filter(({ token, outcome }) => outcome === 'lapsed' && returned.has(token))
    .map(({ worker }) => `${run}: ${worker} went away from it, and it was counted as a crash`)
}

/** Each decision has one row of history under its token, and one note by who made it. */
function unkept(history: History, { run, steps }: Story): string[] {
  const decisions = steps.filter(isDecision)
  const rows = history.dump.attempts[run] ?? []
  const notes = history.dump.notes.filter((note) => note.run === run && DECISIONS.has(note.what))
  const wrong = decisions.flatMap(({ token, before }) => {
    const own = rows.filter((row) => row.token === token)
    const isRight = own.length === 1 && own[0]?.outcome === 'operator' && own[0].worker === before?.holder?.worker
    return isRight ? [] : [`${run}: the decision of token ${token} has ${own.length} rows, or another's`]
  })
  return notes.length === decisions.length
    ? wrong
    : [...wrong, `${run}: ${decisions.length} decisions, ${notes.length} notes of them`]
}

/** What a person heard is what the store did. */
function misheard(history: History): string[] {
  return only(history, 'client').flatMap(({ does, phase, run = '', token, by, seq }) => {
    if (does !== 'review' || (phase !== 'ok' && phase !== 'lost')) return []
    const end = stories(history)
      .get(run)
      ?.steps.find((step) => step.kind === 'ended' && step.token === token)
    if (phase === 'ok')
      return end && end.line.seq < seq ? [] : [`${run}: ${by} was told that it is decided, and it is not`]
    return end ? [`${run}: ${by} was told that somebody else has it, and their decision is stored`] : []
  })
}
