/**
 * How a person's verdict becomes the run's next state: `apply` for reviewers, as a pure function.
 * It knows neither how the person was asked nor how the change is stored.
 */
import type { Failure } from '../failure/failure.ts'
import type { Why } from '../policy/why.ts'
import type { Applied } from './apply.ts'
import type { JournalEntry } from './journal.ts'
import type { Reply } from './question.ts'
import type { AttemptRecord, Lane } from './run.ts'

/** The run as a reviewer finds it. */
export interface ReviewedRun {
  readonly id: string
  readonly generation: number
  readonly failure?: Failure
}

/** Who has it in hand, and since when; store time. */
export interface Reviewer {
  readonly by: string
  readonly token: number
  readonly takenAt: number
  readonly now: number
}

export type Verdict =
  /** `value` is JSON text. */
  | { readonly act: 'answer'; readonly value: string; readonly how: 'accepted' | 'corrected' }
  | {
      readonly act: 'back'
      readonly to?: string
      readonly hint?: string
      /** Where `to` is on the ladder of the run's own policy; a handler that asked a question finds its rung itself. */
      readonly rung?: { readonly index: number; readonly lane: Lane }
    }
  | { readonly act: 'reject'; readonly reason: string }

/**
 * With a question, the verdict is its reply and the handler goes on: what a rejection means is the handler's to say.
 * Without one nobody would read a reply: the answer is the run's output, a rejection its end, and only what is sent back goes on.
 */
export function applyReview(run: ReviewedRun, reviewer: Reviewer, verdict: Verdict, asked?: JournalEntry): Applied {
  const why = whyOf(reviewer, verdict, asked !== undefined)
  const attempt = record(run, reviewer, why)
  const kept = run.failure ? { failure: run.failure } : {}
  if (asked) {
    const answer = JSON.stringify(replyOf(reviewer, verdict))
    return { state: 'ready', why, ...kept, attempt, journal: { ...asked, answer, answeredAt: reviewer.now } }
  }
  switch (verdict.act) {
    case 'answer':
      return { state: 'succeeded', why, output: verdict.value, attempt }
    case 'reject':
      return { state: 'failed', why, failure: rejected(verdict.reason), attempt }
    case 'back': {
      const { rung } = verdict
      const moved = rung ? { rung: rung.index, lane: rung.lane } : {}
      return { state: 'ready', why, ...kept, ...moved, attempt }
    }
  }
}

function replyOf({ by, now: at }: Reviewer, verdict: Verdict): Reply {
  switch (verdict.act) {
    case 'answer':
      return { act: 'answer', value: JSON.parse(verdict.value) as unknown, how: verdict.how, by, at }
    case 'back': {
      const { to, hint = '' } = verdict
      return { act: 'back', ...(to === undefined ? {} : { to }), hint, by, at }
    }
    case 'reject':
      return { act: 'reject', reason: verdict.reason, by, at }
  }
}

function whyOf({ by }: Reviewer, verdict: Verdict, isAsked: boolean): Why {
  switch (verdict.act) {
    case 'answer':
      return { code: 'review.answered', params: { by, how: isAsked ? verdict.how : 'given' } }
    case 'back': {
      const { to, hint } = verdict
      const params = { by, ...(to === undefined ? {} : { to }), ...(hint ? { hint } : {}) }
      return { code: 'review.sent_back', params }
    }
    case 'reject':
      return { code: 'review.rejected', params: { by, reason: verdict.reason } }
  }
}

/** A person's act is not an execution, so it has no attempt; the token is theirs. */
const record = ({ generation }: ReviewedRun, { by, token, takenAt, now }: Reviewer, why: Why): AttemptRecord => ({
  generation,
  attempt: 0,
  token,
  worker: by,
  startedAt: takenAt,
  endedAt: now,
  outcome: 'operator',
  why,
})

const rejected = (reason: string): Failure => ({
  kind: 'final',
  code: 'review.rejected',
  layer: 'workflow',
  message: reason,
  advice: 'A person decided this; submit it anew if the reason no longer holds.',
  rule: 'own/review',
})
