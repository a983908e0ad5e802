/**
 * What a person wants to do with an item, checked and made into a verdict: a value is judged by the stored schema at once.
 * What the application's own gate says about it is a worker's affair.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { Verdict } from '../run/apply-review.ts'
import type { Issue } from '../run/question.ts'
import type { ReviewDetail } from './item.ts'
import type { PolicyRung } from './policy-rungs.ts'

export type ReviewAct =
  /** The draft is right as it is. */
  | { readonly act: 'accept' }
  /** This is right instead; where no question was asked, the result of the run. */
  | { readonly act: 'correct'; readonly value: unknown }
  | { readonly act: 'back'; readonly to?: string; readonly hint?: string }
  | { readonly act: 'reject'; readonly reason: string }

/** What is wrong with a value by a JSON Schema; empty is well. */
export type Judge = (schema: unknown, value: unknown) => readonly Issue[] | Promise<readonly Issue[]>

export type Judged = { readonly verdict: Verdict } | { readonly issues: readonly Issue[] }

/** As much as the journal takes of an answer. */
const VALUE_MAX_CHARS = 1_000_000
const WORDS_MAX_CHARS = 2_000

export interface VerdictOptions {
  readonly judge: Judge
  /** Of the task's output, for runs without a question. */
  readonly schema: unknown
  /** Of the run's own policy, for runs without a question. */
  readonly ladder: readonly PolicyRung[]
}

export async function verdictOf(item: ReviewDetail, act: ReviewAct, options: VerdictOptions): Promise<Judged> {
  switch (act.act) {
    case 'accept': {
      const draft = item.question?.draft
      if (draft === undefined) throw nothingToAccept(item)
      return judged(draft, 'accepted', item, options)
    }
    case 'correct':
      return judged(act.value, 'corrected', item, options)
    case 'back':
      return { verdict: backTo(item, act, options.ladder) }
    case 'reject': {
      const reason = words('reason', act.reason)
      if (reason === undefined)
        throw new RepriseError('review.reason', 'reason is empty. Allowed: a sentence that says why.')
      return { verdict: { act: 'reject', reason } }
    }
  }
}

async function judged(
  value: unknown,
  how: 'accepted' | 'corrected',
  { question }: ReviewDetail,
  { judge, schema: output }: VerdictOptions,
): Promise<Judged> {
  const text = JSON.stringify(value) as string | undefined
  if (text === undefined || text.length > VALUE_MAX_CHARS) {
    const found = text === undefined ? String(value) : `${text.length} characters of JSON`
    throw new RepriseError('review.value', `value is ${found}. Allowed: JSON of up to ${VALUE_MAX_CHARS} characters.`)
  }
  const schema = question ? question.schema : output
  const issues = schema === undefined ? [] : await judge(schema, JSON.parse(text))
  return issues.length > 0 ? { issues } : { verdict: { act: 'answer', value: text, how } }
}

function backTo(
  { rungs, asked }: ReviewDetail,
  { to, hint }: Extract<ReviewAct, { act: 'back' }>,
  ladder: readonly PolicyRung[],
): Verdict {
  const told = words('hint', hint)
  const common = { act: 'back', ...(told === undefined ? {} : { hint: told }) } as const
  if (to === undefined) return common
  if (!rungs.includes(to)) {
    const allowed = rungs.length > 0 ? rungs.join(', ') : 'no rung; send it back without one'
    throw new RepriseError('review.rung', `to is ${JSON.stringify(to.slice(0, 200))}. Allowed: ${allowed}.`)
  }
  const rung = asked ? undefined : ladder.find(({ name }) => name === to)
  return { ...common, to, ...(rung ? { rung: { index: rung.index, lane: rung.lane } } : {}) }
}

function words(field: string, text: string | undefined): string | undefined {
  const trimmed = text?.trim()
  if (!trimmed) return undefined
  if (trimmed.length <= WORDS_MAX_CHARS) return trimmed
  throw new RepriseError(
    `review.${field}`,
    `${field} has ${trimmed.length} characters. Allowed: up to ${WORDS_MAX_CHARS}.`,
  )
}

const nothingToAccept = ({ run, question }: ReviewDetail): RepriseError =>
  new RepriseError(
    'review.accept',
    `Run ${run} has no draft that could be accepted. Allowed: ${question ? 'a value' : 'a result'}, send it back, or reject it.`,
  )
