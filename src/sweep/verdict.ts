/**
 * What to do about a document, as pure functions: time comes in as data, and the answer is a value. Nothing here reads or writes.
 */
import type { Failure } from '../failure/failure.ts'
import { delayAfter } from '../policy/backoff.ts'
import { decide } from '../policy/decide.ts'
import { say } from '../policy/say.ts'
import { EMPTY_LEDGERS } from '../policy/situation.ts'
import type { DocumentFailure, SourceDocument } from '../ports/source.ts'
import type { Collection } from './collection.ts'

export type Verdict =
  /** Count the next attempt and send its event. */
  | { readonly act: 'begin'; readonly attempt: number }
  /** Attempts are spent: it failed for good. */
  | { readonly act: 'end'; readonly why: string }
  /** Nobody knows its age: remember that it was seen now. */
  | { readonly act: 'see' }
  /** Not yet, or not ours to touch. */
  | { readonly act: 'leave' }

/** Attempts that count: the service's own, or the deliveries where the service has lost count. */
export function attemptsOf({ attempts, marks }: SourceDocument, { countedBy }: Collection): number {
  return countedBy === 'service' ? Math.max(attempts, marks.delivered) : attempts
}

/** A document that is due or silent. It is the query's word against a fresh look: what does not hold any more is left. */
export function verdictOn(document: SourceDocument, collection: Collection, now: number): Verdict {
  const { shape, policy, stuckAgeMs } = collection
  const { marks, status, lastAttemptAt, createdAt } = document
  if (!shape.status.open.includes(status) || marks.outbox) return { act: 'leave' }
  const attempts = attemptsOf(document, collection)
  if (marks.dueAt !== undefined) {
    if (marks.dueAt > now) return { act: 'leave' }
    if (marks.ends !== undefined) return { act: 'end', why: marks.ends }
  } else {
    const since = lastAttemptAt ?? createdAt ?? marks.seenAt
    if (since === undefined) return { act: 'see' }
    if (since > now - stuckAgeMs) return { act: 'leave' }
    if (attempts >= policy.maxAttempts)
      return { act: 'end', why: `no sign of life since attempt ${attempts} of ${policy.maxAttempts}` }
  }
  if (attempts >= policy.maxAttempts) return { act: 'end', why: `attempt ${attempts} of ${policy.maxAttempts} failed` }
  return { act: 'begin', attempt: (collection.countedBy === 'service' ? attempts : document.attempts) + 1 }
}

/** The schedule is the same for everyone who computes it; what must spread, spreads by order and limit. */
const DICE = 0.5

export type FailureVerdict =
  | { readonly act: 'retry'; readonly at: number }
  | { readonly act: 'end'; readonly why: string }
  /** Heard before, of an earlier attempt, or of a document that has moved on. */
  | { readonly act: 'ignore'; readonly why: 'duplicate' | 'stale' | 'benign' }

export interface FailureNews {
  readonly failure: DocumentFailure
  readonly attempt?: number
  readonly generation?: number
  /** Delays are longer while the dependency is sick; 1 when it is well. */
  readonly stretch: number
}

/** A failure was heard of: when is the next attempt, if there is one? Delays run from the attempt, not from the news. */
export function verdictOnFailure(document: SourceDocument, collection: Collection, news: FailureNews): FailureVerdict {
  const { shape, policy } = collection
  const { marks, status } = document
  const { failure } = news
  if (failure.event !== undefined && failure.event === marks.failure?.event) return { act: 'ignore', why: 'duplicate' }
  // An event that is still to be sent has not failed; what is heard is of an attempt before it, unless it says otherwise.
  const isOld =
    (marks.outbox !== undefined && news.attempt === undefined) ||
    (news.generation !== undefined && news.generation !== marks.generation) ||
    (news.attempt !== undefined && news.attempt < attemptsOf(document, collection))
  if (!shape.status.open.includes(status) || isOld) return { act: 'ignore', why: 'stale' }
  const attempts = Math.max(1, attemptsOf(document, collection))
  const from = document.lastAttemptAt ?? failure.at
  const decision = decide({
    failure: asFailure(failure),
    policy,
    ledgers: { ...EMPTY_LEDGERS, errors: attempts - 1 },
    now: from,
    dice: DICE,
    attempt: attempts,
  })
  if (decision.act === 'ignore') return { act: 'ignore', why: 'benign' }
  if (decision.act !== 'retry' || decision.at === undefined)
    return { act: 'end', why: say(decision.why, { now: failure.at }) }
  return { act: 'retry', at: from + Math.round((decision.at - from) * news.stretch) }
}

/** The delays of a collection, for `reprise sweep status` and for the documents: after attempt 1, 2, …. */
export function scheduleOf({ policy }: Collection): readonly number[] {
  const { backoff } = policy.kinds.transient
  return Array.from({ length: policy.maxAttempts - 1 }, (_, index) => delayAfter(backoff, index + 1, DICE))
}

const asFailure = ({ kind, code, message, advice, retryAfterMs }: DocumentFailure): Failure => ({
  kind,
  code,
  message,
  advice,
  layer: 'workflow',
  rule: 'sweep/heard',
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
})
