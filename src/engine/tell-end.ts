/**
 * The events of an attempt's end, derived from the change that was committed.
 */
import type { Failure } from '../failure/failure.ts'
import type { LedgerName } from '../policy/situation.ts'
import type { Why } from '../policy/why.ts'
import type { Applied, Ending } from '../run/apply.ts'
import type { Execution } from './execution.ts'

export function tellEnd(execution: Execution, ending: Ending, applied: Applied): void {
  if (ending.type === 'unstarted') return
  tellHolds(execution, applied)
  if (applied.decision?.spent) tellSpent(execution, applied, applied.decision.spent)
  if (applied.state === 'succeeded') tellSucceeded(execution, applied)
  else if (applied.state === 'failed') tellFailed(execution, applied)
  else if (applied.state === 'review') tellReview(execution, applied)
  else if (ending.type === 'suspend' || ending.type === 'join') tellSuspended(execution, applied)
  else if (ending.type === 'failure') tellAgain(execution, applied, ending.failure)
}

function tellHolds({ run, parts }: Execution, { hold, state, admits }: Applied): void {
  const { emitter, time, worker } = parts
  const at = time.now()
  if (hold) {
    const { what, until, by, why: message } = hold
    const ends = until === undefined ? {} : { until }
    emitter.emit({ name: 'hold.set', at, what, by, message, foundBy: run.id, worker, ...ends })
  }
  if (state !== 'succeeded' && !admits) return
  for (const what of run.probes ?? []) emitter.emit({ name: 'hold.released', at, what, by: run.id, worker })
}

function tellSucceeded(execution: Execution, applied: Applied): void {
  const { run, parts, startedAt } = execution
  const now = parts.time.now()
  const costUsd = run.costUsd + execution.costUsd
  execution.emit('run.succeeded', {
    retries: applied.ledgers?.errors ?? run.ledgers.errors,
    ms: now - startedAt,
    sinceSubmitMs: Math.max(0, now - run.submittedAt),
    ...(costUsd > 0 ? { costUsd } : {}),
  })
}

function tellFailed(execution: Execution, applied: Applied): void {
  const { run, startedAt } = execution
  execution.emit('run.failed', {
    failure: applied.failure as Failure,
    why: applied.why as Why,
    ...(applied.decision?.spent ? { ledger: applied.decision.spent } : {}),
    attempts: run.attempt,
    submittedAt: run.submittedAt,
    lastAt: startedAt,
  })
}

function tellReview(execution: Execution, { why, dueAt, failure, journal }: Applied): void {
  execution.emit('run.review', {
    why: why as Why,
    ...(why?.code === 'run.handed_over' ? { queue: why.params.queue } : {}),
    ...(dueAt === undefined ? {} : { dueAt }),
    ...(failure ? { failure } : {}),
  })
  if (journal?.question === undefined || why?.code !== 'run.handed_over') return
  const { queue } = why.params
  execution.emit('review.asked', { question: journal.name, queue, ...(dueAt === undefined ? {} : { dueAt }) })
}

function tellSuspended(execution: Execution, { why, dueAt }: Applied): void {
  const on = why?.code === 'run.sleeping' || why?.code === 'run.joining' ? why.params.name : 'later'
  execution.emit('run.suspended', { on, ...(dueAt === undefined ? {} : { until: dueAt }) })
}

function tellAgain(execution: Execution, { decision, dueAt: due, ledgers }: Applied, failure: Failure): void {
  if (!decision) return
  const now = execution.parts.time.now()
  const dueAt = due ?? now
  const { why, counted } = decision
  if (failure.kind === 'interrupted') execution.emit('run.interrupted', { cause: failure.message, dueAt, counted })
  else if (decision.act === 'escalate')
    execution.emit('run.escalated', { to: decision.to ?? '', why, decision, failure })
  else {
    const retriesMax = execution.task.policy.maxAttempts - 1
    const delayMs = Math.max(0, dueAt - now)
    execution.emit('attempt.retried', {
      retry: ledgers?.errors ?? 0,
      retriesMax,
      delayMs,
      dueAt,
      why,
      decision,
      failure,
    })
  }
}

function tellSpent(execution: Execution, { ledgers, failure }: Applied, ledger: LedgerName): void {
  const { policy } = execution.task
  const max = {
    errors: policy.maxAttempts,
    rateWaits: policy.rateWaitsMax,
    interruptions: policy.interruptionsMax,
    lapses: policy.lapsesMax,
    repairs: ledgers?.repairs ?? 0,
    escalations: (policy.ladder?.length ?? 1) - 1,
  }[ledger]
  execution.emit('attempts.spent', { ledger, used: ledgers?.[ledger] ?? max, max, ...(failure ? { failure } : {}) })
}
