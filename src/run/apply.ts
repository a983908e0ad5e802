/**
 * How an attempt's end becomes the run's next state: the only place where a run's state changes, as a pure function.
 * It knows neither how the attempt was executed nor how the change is stored.
 */

import type { Failure } from '../failure/failure.ts'
import { applyEntry, decide } from '../policy/decide.ts'
import type { Decision } from '../policy/decision.ts'
import type { Policy } from '../policy/policy.ts'
import type { Ledgers } from '../policy/situation.ts'
import type { Why } from '../policy/why.ts'
import type { HoldTarget } from './hold.ts'
import { holdAfter } from './hold-after.ts'
import type { JournalEntry } from './journal.ts'
import type { NextState } from './next-state.ts'
import { type AttemptRecord, isTerminal, type Lane, type Outcome, SUSPENSIONS_MAX } from './run.ts'

/** A run to begin: what it is made of is the engine's and the store's affair. */
type Child = Lane & { readonly input: string; readonly priority: number; readonly key?: string }

/** The run as its owner holds it: what the end of an attempt depends on. */
export interface HeldRun extends Lane {
  readonly id: string
  readonly generation: number
  readonly attempt: number
  readonly ledgers: Ledgers
  readonly suspensions: number
  readonly rung: number
  readonly deadlineAt?: number
  readonly failure?: Failure
  readonly probes?: readonly HoldTarget[]
}

/** Who executed the attempt and when, in store time. */
export interface Execution {
  readonly token: number
  readonly worker: string
  readonly startedAt: number
  readonly now: number
  readonly takes: number
  readonly costUsd: number
}

/** What an execution came to, before anything is decided about it. */
export type Ending =
  | { readonly type: 'value'; readonly output?: string; readonly children?: readonly Child[] }
  | {
      readonly type: 'failure'
      readonly failure: Failure
      readonly dice: number
      readonly policy: Policy
      readonly policyHash: string
      /** What the call needed that failed, if it was a call and said so. */
      readonly resource?: string
    }
  | { readonly type: 'suspend'; readonly dueAt: number; readonly why: Why; readonly journal?: JournalEntry }
  | {
      readonly type: 'join'
      readonly join: { readonly name: string; readonly children: readonly Child[] }
      readonly journal: JournalEntry
    }
  | { readonly type: 'person'; readonly why: Why; readonly dueAt?: number; readonly journal?: JournalEntry }
  | { readonly type: 'unstarted' }

/** The run's next state with the row of history; a store adds the fence and keeps it. */
export interface Applied extends NextState<Child> {
  /** For those who tell of it: what is kept of it is in the attempt. */
  readonly decision?: Decision
}

export function apply(run: HeldRun, execution: Execution, ending: Ending): Applied {
  const applied = next(run, execution, ending)
  assertLegal(run, applied)
  return applied
}

function next(run: HeldRun, execution: Execution, ending: Ending): Applied {
  switch (ending.type) {
    case 'value':
      return {
        state: 'succeeded',
        ...(ending.output === undefined ? {} : { output: ending.output }),
        ...(ending.children === undefined ? {} : { children: ending.children }),
        ...(run.attempt > 1 ? { attempt: record(run, execution, 'succeeded') } : {}),
      }
    case 'unstarted':
      return { state: 'ready', unstarted: true }
    case 'suspend':
      return suspended(run, execution, ending)
    case 'join':
      return joined(run, execution, ending)
    case 'person':
      return handedOver(run, execution, ending)
    case 'failure':
      return failed(run, execution, ending)
  }
}

function suspended(run: HeldRun, execution: Execution, ending: Extract<Ending, { type: 'suspend' }>): Applied {
  const { why, dueAt, journal } = ending
  const waits = { why, suspensions: 1, attempt: record(run, execution, 'suspended', { why }) }
  if (run.suspensions < SUSPENSIONS_MAX) return { ...waits, state: 'waiting', dueAt, ...(journal ? { journal } : {}) }
  return neverAgain(run, execution)
}

function handedOver(run: HeldRun, execution: Execution, ending: Extract<Ending, { type: 'person' }>): Applied {
  const { why, dueAt, journal } = ending
  if (run.suspensions >= SUSPENSIONS_MAX) return neverAgain(run, execution)
  return {
    state: 'review',
    ...(dueAt === undefined ? {} : { dueAt }),
    why,
    suspensions: 1,
    attempt: record(run, execution, 'suspended', { why }),
    ...(journal ? { journal } : {}),
  }
}

function joined(run: HeldRun, execution: Execution, ending: Extract<Ending, { type: 'join' }>): Applied {
  const { join, journal } = ending
  if (run.suspensions >= SUSPENSIONS_MAX) return neverAgain(run, execution)
  const why: Why = { code: 'run.joining', params: { name: join.name, children: join.children.length } }
  const attempt = record(run, execution, 'suspended', { why })
  return { state: 'blocked', why, suspensions: 1, attempt, journal, join }
}

function neverAgain(run: HeldRun, execution: Execution): Applied {
  const spent: Why = { code: 'end.suspensions_spent', params: { max: SUSPENSIONS_MAX } }
  const failure = suspendedForEver()
  return {
    state: 'failed',
    why: spent,
    failure,
    suspensions: 1,
    attempt: record(run, execution, 'failed', { why: spent, failure }),
  }
}

const suspendedForEver = (): Failure => ({
  kind: 'exhausted',
  code: 'suspensions.spent',
  layer: 'workflow',
  message: `The handler suspended ${SUSPENSIONS_MAX} times and got nowhere.`,
  advice: 'Look at what the handler waits for.',
  rule: 'own/suspensions',
})

function failed(run: HeldRun, execution: Execution, ending: Extract<Ending, { type: 'failure' }>): Applied {
  const { failure, dice, policy, policyHash } = ending
  // Word for word the same: a fingerprint leaves numbers out, and another wrong total is another answer.
  const noProgress = run.failure?.code === failure.code && run.failure.message === failure.message
  const decision = decide({
    failure,
    policy,
    ledgers: run.ledgers,
    now: execution.now,
    dice,
    rung: run.rung,
    noProgress,
    attempt: run.attempt,
    ...(run.deadlineAt === undefined ? {} : { deadlineAt: run.deadlineAt }),
  })
  const outcome: Outcome =
    failure.kind === 'interrupted' ? 'interrupted' : decision.act === 'ignore' ? 'succeeded' : 'failed'
  const attempt = record(run, execution, outcome, {
    failure,
    dice,
    policy: policyHash,
    rung: run.rung,
    noProgress,
    ...(run.deadlineAt === undefined ? {} : { deadlineAt: run.deadlineAt }),
    decision,
  })
  const ledgers = applyEntry(run.ledgers, decision, failure)
  const { why } = decision
  const resource = ending.resource ?? run.resource
  const held = holdAfter({ failure, decision, resource, probes: run.probes, now: execution.now })
  const common = { why, ledgers, attempt, decision, ...held }
  switch (decision.act) {
    case 'ignore':
      // Someone else did it: the work is done, and a benign race is never stored as an error.
      return { ...common, state: 'succeeded' }
    case 'fail':
      return { ...common, state: 'failed', failure }
    case 'escalate': {
      const rung = decision.rung === undefined ? undefined : policy.ladder?.[decision.rung]
      const moved = { ...common, failure, ...(decision.rung === undefined ? {} : { rung: decision.rung }) }
      if (rung?.type === 'model') return { ...moved, state: 'ready', lane: laneOf(run, rung.name) }
      return { ...moved, state: 'review', ...(rung ? { dueAt: execution.now + rung.withinMs } : {}) }
    }
    case 'retry': {
      const dueAt = decision.at ?? execution.now
      // The journal replays what went well, so the next call of the run is the one that failed: it waits in that one's lane.
      const lane = resource === undefined || resource === run.resource ? {} : { lane: laneOf(run, resource) }
      const next = dueAt > execution.now ? ({ state: 'waiting', dueAt } as const) : ({ state: 'ready' } as const)
      return { ...common, failure, ...next, ...lane }
    }
  }
}

const laneOf = (run: Lane, resource: string): Lane => ({
  task: run.task,
  ...(run.category === undefined ? {} : { category: run.category }),
  resource,
})

function record(
  run: HeldRun,
  execution: Execution,
  outcome: Outcome,
  extra: Partial<AttemptRecord> = {},
): AttemptRecord {
  return {
    generation: run.generation,
    attempt: run.attempt,
    token: execution.token,
    worker: execution.worker,
    startedAt: execution.startedAt,
    endedAt: execution.now,
    outcome,
    ...(execution.takes > 0 ? { takes: execution.takes } : {}),
    ...(execution.costUsd > 0 ? { costUsd: execution.costUsd } : {}),
    ...extra,
  }
}

/** What must hold and what must not, kept on in production: a wrong change is refused before it is stored. */
function assertLegal(run: HeldRun, applied: Applied): void {
  const broken =
    (applied.output !== undefined && applied.state !== 'succeeded' && 'output without success') ||
    (applied.dueAt !== undefined &&
      applied.state !== 'waiting' &&
      applied.state !== 'review' &&
      'due time without a wait') ||
    ((applied.state === 'blocked') !== (applied.join !== undefined) && 'blocked without a join') ||
    (applied.children !== undefined && applied.state !== 'succeeded' && 'children without success') ||
    (applied.state === 'waiting' && applied.dueAt === undefined && 'wait without a due time') ||
    (applied.state === 'failed' &&
      (applied.why === undefined || applied.failure === undefined) &&
      'end without a reason') ||
    (applied.attempt === undefined && applied.state !== 'succeeded' && !applied.unstarted && 'no row of history') ||
    (applied.state === 'succeeded' && applied.failure !== undefined && 'success with a failure') ||
    (applied.unstarted && isTerminal(applied.state) && 'an end without a start')
  if (broken) throw new Error(`run ${run.id}: illegal change to ${applied.state}: ${broken}`)
}
