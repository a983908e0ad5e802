/**
 * Which metrics there are and which events move them: one table, so that a reader sees at once where a number comes from.
 * It counts what this process tells; what the store holds is in `store-gauges.ts`.
 */
import { Counter, Histogram, type Registry } from 'prom-client'
import type { EventName, EventOf } from '../../run/event.ts'
import { boundedLabel } from './bounded-label.ts'

/** Tasks and codes are names of the application's and of ours; a hundred of each fit on any board. */
const TASKS_MAX = 100
const CODES_MAX = 200
const RESOURCES_MAX = 100
/** Rungs, budgets and desks are configured by hand. */
const NAMES_MAX = 100

/** From a no-op to a model that thinks for ten minutes. */
const SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]
/** From submit to the end, waits and people included. */
const LONG_SECONDS = [0.1, 1, 5, 30, 60, 300, 900, 3_600, 14_400, 86_400, 604_800]

type Hear = { readonly [Name in EventName]?: (event: EventOf<Name>) => void }

export function eventMetrics(register: Registry): Hear {
  const task = boundedLabel(TASKS_MAX)
  const code = boundedLabel(CODES_MAX)
  const resource = boundedLabel(RESOURCES_MAX)
  const rung = boundedLabel(NAMES_MAX)
  const budget = boundedLabel(NAMES_MAX)
  const queue = boundedLabel(NAMES_MAX)
  const sdk = boundedLabel(NAMES_MAX)
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name: `reprise_${name}`, help, labelNames: [...labelNames], registers: [register] })
  const seconds = (name: string, help: string, buckets: number[]) =>
    new Histogram({ name: `reprise_${name}`, help, labelNames: ['task'], buckets, registers: [register] })

  const submitted = counter('runs_submitted_total', 'Runs submitted by this process, existing ones not counted.', [
    'task',
  ])
  const attempts = counter('attempts_total', 'Executions begun, counted or not.', ['task'])
  const ended = counter('runs_ended_total', 'Runs that ended, by how.', ['task', 'state'])
  const failures = counter('failures_total', 'Attempts that failed, by kind and code.', ['task', 'kind', 'code'])
  const decisions = counter('decisions_total', 'What was done about a failed attempt.', ['task', 'act'])
  const spent = counter('ledgers_spent_total', 'Ledgers of runs that ran out.', ['task', 'ledger'])
  const suspended = counter('suspensions_total', 'Attempts that ended to wait for something.', ['task'])
  const lapses = counter('lapses_total', 'Leases that ended by themselves: crashes and hangs.', ['task', 'counted'])
  const stale = counter('writes_refused_total', 'Writes that came after their lease and changed nothing.', ['task'])
  const calls = counter('calls_total', 'Physical sends of journalled calls.', ['task'])
  const repeats = counter('call_repeats_total', 'Sends repeated inside an attempt.', ['task', 'code'])
  const replays = counter('calls_replayed_total', 'Calls answered from the journal: not bought again.', ['task'])
  const resends = counter('calls_ambiguous_total', 'Sends whose outcome nobody knows.', ['task', 'recourse'])
  const money = counter('cost_usd_total', 'Money that calls told, in US dollars.', ['task'])
  const sends = counter('model_sends_total', 'Physical sends to models, by rung and how it was asked.', ['rung', 'how'])
  const refused = counter('answers_refused_total', 'Answers that are no result, by what is wrong.', ['rung', 'how'])
  const repaired = counter('answers_repaired_total', 'Answers that were repaired here, without another call.', ['rung'])
  const left = counter('rungs_left_total', 'Asks that went on at another rung, and why.', ['rung', 'to', 'reason'])
  const solved = counter('asks_ended_total', 'Asks that ended, by the recourse that got the answer.', ['solved_by'])
  const overBudget = counter('budget_refused_total', 'Calls not sent because a budget is used up.', [
    'budget',
    'window',
  ])
  const overshot = counter('budget_overshot_total', 'Calls that cost more than was reserved for them.', ['budget'])
  const reviews = counter('reviews_total', 'What people were asked and did.', ['queue', 'act'])
  const overdue = counter('reviews_overdue_total', 'Questions that were not answered in time.', ['queue'])
  const clientRepeats = counter('client_repeats_total', 'Requests that an adapter repeated in silence.', [
    'sdk',
    'code',
  ])
  const clientFailures = counter('client_failures_total', 'Failures that an adapter could not cure.', ['sdk', 'kind'])
  const hidden = counter('hidden_retries_total', 'Requests on the wire that are in no journal.', ['sdk'])
  const holds = counter('holds_total', 'Holds put on a task, resource or category.', ['what'])
  const troubles = counter('store_troubles_total', 'Times that the store did not answer.', ['code'])
  const attemptSeconds = seconds('attempt_seconds', 'Length of attempts that succeeded.', SECONDS)
  const callSeconds = seconds('call_seconds', 'From a send to its answer.', SECONDS)
  const runSeconds = seconds('run_seconds', 'From submit to success, waits included.', LONG_SECONDS)

  const failed = (event: EventOf<'attempt.retried' | 'run.escalated' | 'run.failed'>, act: string): void => {
    const { kind, code: failureCode } = event.failure
    failures.inc({ task: task(event.task), kind, code: code(failureCode) })
    decisions.inc({ task: task(event.task), act })
  }

  return {
    'run.submitted': (event) => submitted.inc({ task: task(event.task) }),
    'attempt.started': (event) => attempts.inc({ task: task(event.task) }),
    'attempt.retried': (event) => failed(event, 'retry'),
    'run.escalated': (event) => failed(event, 'escalate'),
    'run.failed': (event) => {
      failed(event, 'fail')
      ended.inc({ task: task(event.task), state: 'failed' })
    },
    'run.review': (event) => {
      decisions.inc({ task: task(event.task), act: 'person' })
      if (event.failure)
        failures.inc({ task: task(event.task), kind: event.failure.kind, code: code(event.failure.code) })
    },
    'run.succeeded': (event) => {
      const of = { task: task(event.task) }
      ended.inc({ ...of, state: 'succeeded' })
      attemptSeconds.observe(of, event.ms / 1_000)
      runSeconds.observe(of, event.sinceSubmitMs / 1_000)
    },
    'run.skipped': (event) => ended.inc({ task: task(event.task), state: 'cancelled' }),
    'run.cancelled': (event) => ended.inc({ task: task(event.task), state: 'cancelled' }),
    'run.suspended': (event) => suspended.inc({ task: task(event.task) }),
    'run.interrupted': (event) => decisions.inc({ task: task(event.task), act: 'release' }),
    'run.lapsed': (event) => lapses.inc({ task: task(event.task), counted: String(event.counted) }),
    'attempts.spent': (event) => spent.inc({ task: task(event.task), ledger: event.ledger }),
    'write.refused': (event) => stale.inc({ task: task(event.task) }),
    'call.sent': (event) => calls.inc({ task: task(event.task) }),
    'call.repeated': (event) => repeats.inc({ task: task(event.task), code: code(event.code) }),
    'call.replayed': (event) => replays.inc({ task: task(event.task) }),
    'call.ambiguous': (event) => resends.inc({ task: task(event.task), recourse: event.recourse }),
    'call.answered': (event) => {
      const of = { task: task(event.task) }
      callSeconds.observe(of, event.ms / 1_000)
      if (event.costUsd !== undefined) money.inc(of, event.costUsd)
    },
    'model.asked': (event) => sends.inc({ rung: rung(event.rung), how: event.how }),
    'answer.refused': (event) => refused.inc({ rung: rung(event.rung), how: event.how }),
    'answer.repaired': (event) => repaired.inc({ rung: rung(event.rung) }),
    'rung.left': (event) => left.inc({ rung: rung(event.rung), to: rung(event.to), reason: event.reason }),
    'ask.ended': (event) => solved.inc({ solved_by: event.solvedBy }),
    'budget.refused': (event) => overBudget.inc({ budget: budget(event.budget), window: event.window }),
    'budget.overshot': (event) => overshot.inc({ budget: budget(event.budget) }),
    'review.asked': (event) => reviews.inc({ queue: queue(event.queue), act: 'asked' }),
    'review.overdue': (event) => overdue.inc({ queue: queue(event.queue) }),
    'client.repeated': (event) => clientRepeats.inc({ sdk: sdk(event.sdk), code: code(event.code) }),
    'client.failed': (event) => clientFailures.inc({ sdk: sdk(event.sdk), kind: event.failure.kind }),
    'client.hidden_retries': (event) => hidden.inc({ sdk: sdk(event.sdk) }, event.hidden),
    'hold.set': (event) => holds.inc({ what: resource(event.what) }),
    'store.trouble': (event) => troubles.inc({ code: code(event.code) }),
  }
}
