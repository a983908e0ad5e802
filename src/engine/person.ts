/**
 * A question to a person: asked by ending the attempt in review, answered by the journal when the handler runs again.
 * What the desk does with it, and what is done about a person who does not answer, is not known here.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import { REVIEW } from '../policy/ladder.ts'
import type { JournalEntry } from '../run/journal.ts'
import { PERSON_HASH, type Question, type Reply } from '../run/question.ts'
import { type Duration, parseDuration } from '../time/duration.ts'
import { type Execution, journalKey } from './execution.ts'
import { fromJson, hashOf, toJson } from './json.ts'

export interface PersonOptions {
  /** The desk that it lies on. @default 'review' */
  readonly queue?: string
  /** When the person is overdue. Absent: never. */
  readonly within?: Duration
  readonly question: Question
  /** What the question depends on: a reply is reused only for the same input. @default the question */
  readonly input?: unknown
}

const QUEUE_MAX_CHARS = 200

export async function journalledPerson(execution: Execution, name: string, options: PersonOptions): Promise<Reply> {
  execution.check()
  const { queue = REVIEW, question, input = question } = options
  check(name, queue, question)
  const withinMs = options.within === undefined ? undefined : parseDuration(options.within, `within of "${name}"`)
  const inputHash = `${PERSON_HASH}${hashOf(input)}`
  // The next round of the same question has the same name: its input tells it apart.
  execution.takeName(name, inputHash)
  const stored = (await execution.journal()).get(journalKey(name, inputHash))
  if (stored?.answer !== undefined) return replay(execution, stored, stored.answer)
  if (stored) return overdue(execution, stored, queue, withinMs)
  const text = toJson(question, `question "${name}"`) as string
  const limit = withinMs === undefined ? {} : { withinMs }
  const asked = { name, inputHash, question: text }
  throw execution.suspend({ type: 'person', queue, reason: question.reason, ...limit, asked }, question.reason)
}

function replay(execution: Execution, entry: JournalEntry, answer: string): Reply {
  const answeredAt = entry.answeredAt ?? entry.intentAt
  execution.emit('call.replayed', { call: entry.name, answeredAt, late: false })
  return fromJson(answer) as Reply
}

/** Nobody answered in time, or the run would not be here. Kept as the reply, so that every later attempt hears the same. */
async function overdue(
  execution: Execution,
  { name, inputHash, intentAt }: JournalEntry,
  queue: string,
  withinMs: number | undefined,
): Promise<Reply> {
  const since = withinMs === undefined ? execution.parts.time.now() : intentAt + withinMs
  const reply: Reply = { act: 'overdue', since }
  await execution.write({ type: 'answer', name, inputHash, answer: JSON.stringify(reply) })
  execution.emit('review.overdue', { question: name, queue, since })
  return reply
}

function check(name: string, queue: unknown, question: unknown): void {
  if (typeof queue !== 'string' || queue.length === 0 || queue.length > QUEUE_MAX_CHARS) {
    const found = JSON.stringify(queue)
    throw new RepriseError(
      'person.queue',
      `queue of person "${name}" is ${found}. Allowed: text of 1 to ${QUEUE_MAX_CHARS} characters.`,
    )
  }
  const asked: { readonly title?: unknown; readonly reason?: unknown } =
    typeof question === 'object' && question !== null ? question : {}
  for (const field of ['title', 'reason'] as const) {
    const found = asked[field]
    if (typeof found === 'string' && found.trim() !== '') continue
    throw new RepriseError(
      'person.question',
      `question.${field} of person "${name}" is ${JSON.stringify(found)}. Allowed: text that tells the person what they look at and why.`,
    )
  }
}
