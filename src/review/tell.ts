/**
 * The events of what people did, told after it is stored.
 */
import type { Failure } from '../failure/failure.ts'
import type { Why } from '../policy/why.ts'
import type { CommitAnswer, RunView } from '../ports/store.ts'
import type { Applied } from '../run/apply.ts'
import type { Verdict } from '../run/apply-review.ts'
import type { Emit } from '../run/event.ts'
import type { ReviewDetail, ReviewItem } from './item.ts'

const runOf = ({ run, task, key, generation }: ReviewItem) => ({
  run,
  task,
  ...(key === undefined ? {} : { key }),
  generation,
})

export function tellTaken(emit: Emit, item: ReviewItem, by: string, until: number, at: number): void {
  emit({ name: 'review.taken', at, ...runOf(item), queue: item.queue, by, until })
}

export function tellVerdict(emit: Emit, item: ReviewDetail, by: string, verdict: Verdict, at: number): void {
  const known = { at, ...runOf(item), queue: item.queue, by, waitedMs: Math.max(0, at - item.since) }
  if (verdict.act === 'answer') emit({ name: 'review.answered', ...known, how: item.asked ? verdict.how : 'given' })
  else if (verdict.act === 'reject') emit({ name: 'review.rejected', ...known, reason: verdict.reason })
  else emit({ name: 'review.sent_back', ...known, ...(verdict.to === undefined ? {} : { to: verdict.to }) })
}

/** A verdict that ended the run by itself, and what that did to the runs that need it. */
export function tellEnd(
  emit: Emit,
  run: RunView,
  { state, why, failure }: Applied,
  { moved = [], now: at }: Pick<CommitAnswer, 'moved' | 'now'>,
  by: string,
): void {
  const { id, task, key, generation, attempt, submittedAt, ledgers } = run
  const known = { at, run: id, task, ...(key === undefined ? {} : { key }), generation, attempt, worker: by }
  const sinceSubmitMs = Math.max(0, at - submittedAt)
  if (state === 'succeeded') emit({ name: 'run.succeeded', ...known, retries: ledgers.errors, ms: 0, sinceSubmitMs })
  if (state === 'failed' && failure && why)
    emit({ name: 'run.failed', ...known, failure, why, attempts: attempt, submittedAt, lastAt: at })
  for (const other of moved) {
    const theirs = { at, run: other.run, task: other.task, generation: other.generation }
    if (other.state === 'ready') emit({ name: 'run.unblocked', ...theirs, after: id })
    if (other.state === 'cancelled') emit({ name: 'run.skipped', ...theirs, why: other.why as Why })
    if (other.state === 'failed') {
      const ended = { failure: other.failure as Failure, why: other.why as Why, attempts: 0, lastAt: at }
      emit({ name: 'run.failed', ...theirs, attempt: 0, worker: by, submittedAt: other.submittedAt, ...ended })
    }
  }
}
