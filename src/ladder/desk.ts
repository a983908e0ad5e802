/**
 * A desk's part of an ask: what a person is shown, and how their reply becomes a take that the same gate judges.
 * How it reaches the person is the review's affair.
 */
import type { Gate } from '../gate/gate.ts'
import type { Issue } from '../gate/issue.ts'
import type { Question, Reply } from '../run/question.ts'
import type { AskPlan } from './ask-options.ts'
import type { Step } from './climb.ts'
import type { Rung } from './rung.ts'
import { judged, type Taken } from './taken.ts'

/** Bounds of what a desk is sent, in characters; the whole must fit into one row. */
const ANSWER_MAX = 8_000
const ANSWERS_MAX = 8
const DRAFT_MAX = 60_000
const DOCUMENT_MAX = 120_000

const QUESTION_MAX = 800_000

/** What a person is asked. Texts that JSON has to escape take several times their length, so they are cut until the whole fits. */
export function questionOf(step: Extract<Step, { do: 'person' }>, plan: AskPlan, takes: readonly Taken[]): Question {
  const whole = questionWith(1, step, plan, takes)
  return JSON.stringify(whole).length <= QUESTION_MAX ? whole : questionWith(1 / 8, step, plan, takes)
}

function questionWith(
  share: number,
  step: Extract<Step, { do: 'person' }>,
  { title, schema, document, sha256, ladder }: AskPlan,
  takes: readonly Taken[],
): Question {
  const cut = (text: string, max: number) => text.slice(0, max * share)
  const best = takes.findLast(({ draft }) => draft !== undefined)
  const last = takes.findLast(({ kind }) => kind !== 'overdue' && kind !== 'back')
  return {
    title,
    reason: reasonOf(step, takes),
    ...(schema ? { schema } : {}),
    ...(best && JSON.stringify(best.draft).length <= DRAFT_MAX ? { draft: best.draft } : {}),
    issues: (best ?? last)?.issues.map(forPeople) ?? [],
    answers: takes
      .filter(({ sent, by }) => sent !== undefined || by !== undefined)
      .slice(-ANSWERS_MAX)
      .map(({ on, number, text, issues }) => ({
        ...{ rung: on, take: number, text: cut(text, ANSWER_MAX) },
        issues: issues.map(forPeople),
      })),
    document: {
      ...document,
      ...(document?.text === undefined ? {} : { text: cut(document.text, DOCUMENT_MAX) }),
      sha256,
    },
    rungs: ladder.rungs.filter(({ type }) => type === 'model').map(({ name }) => name),
  }
}

/** People see the values too. */
const forPeople = ({ path, code, message, detail }: Issue) => ({
  path,
  code,
  message: detail === undefined ? message : `${message}: ${detail}`,
})

/** Why a person is asked, in one sentence or two. */
export function reasonOf({ left, isLate, round }: Extract<Step, { do: 'person' }>, takes: readonly Taken[]): string {
  const last = takes.at(-1)
  const first = last?.issues[0]
  const issue = first ? `${first.code}${first.path ? ` at ${first.path}` : ''}` : 'no issue'
  if (takes.length === 0) return 'A person is asked first.'
  if (isLate) return 'Overdue, and nobody comes after this desk.'
  if (!left && round > 1) return `The gate refused the answer: ${issue}.`
  switch (left?.reason) {
    case 'refused':
      return 'The provider refused (safety). Never asked twice; a person decides.'
    case 'exhausted':
      return `${first?.message ?? 'The budget is used up'}. To a person now.`
    case 'bug':
      return `The answer cannot be judged: ${first?.detail ?? 'a rule threw'}.`
    case 'overdue':
      return `${last?.on ?? 'The desk before'} did not answer in time.`
    case 'no_progress':
      return `Same failure, same answer from ${last?.on ?? 'the model'}: ${issue}. Another try cannot help.`
    default:
      return `No model gave an answer that passes the gate; the last issue: ${issue}.`
  }
}

type Place = Pick<Taken, 'rung' | 'on' | 'number'>

export async function takenFromReply(
  reply: Reply,
  place: Place,
  rungs: readonly Rung[],
  gate: Gate,
  input: unknown,
): Promise<Taken> {
  const plain = { ...place, text: '', issues: [], isRepaired: false }
  switch (reply.act) {
    case 'answer':
      return judged(
        { ...plain, text: JSON.stringify(reply.value) ?? 'null', draft: reply.value, by: reply.by },
        gate,
        input,
      )
    case 'back':
      return { ...plain, kind: 'back', to: rungNamed(reply.to, place.rung, rungs), hint: reply.hint, by: reply.by }
    case 'reject':
      return { ...plain, kind: 'rejected', text: reply.reason, by: reply.by }
    case 'overdue':
      return { ...plain, kind: 'overdue' }
  }
}

/** The rung that was named, else the last model before the desk. */
function rungNamed(name: string | undefined, desk: number, rungs: readonly Rung[]): number {
  const named = rungs.findIndex((rung) => rung.type === 'model' && rung.name === name)
  if (named >= 0) return named
  const before = rungs.findLastIndex((rung, index) => rung.type === 'model' && index < desk)
  return Math.max(0, before)
}
