/**
 * What would happen if a step kept failing in one way: every decision in order, with times, calls, money and the person
 * who gets it in the end. It asks `decide` itself, so a plan cannot say anything else than what will be done.
 */
import { type Failure, KINDS, type Kind } from '../failure/failure.ts'
import { DICE_MAX } from './backoff.ts'
import { refuse } from './check.ts'
import { applyEntry, decide } from './decide.ts'
import type { Decision } from './decision.ts'
import { executionsBound } from './executions-bound.ts'
import { REVIEW } from './ladder.ts'
import type { Policy } from './policy.ts'
import { EMPTY_LEDGERS, type LedgerName, type Ledgers, type Situation } from './situation.ts'
import type { Why } from './why.ts'

/** Milliseconds from the first failure, for the luckiest, the middle and the unluckiest dice. Null: cut off by the deadline. */
export interface Span {
  readonly earliestMs: number
  readonly likelyMs: number | null
  readonly latestMs: number | null
}

export interface PlanStep {
  /** Which execution fails here, 1..n. */
  readonly execution: number
  /** The rung it ran on, when the policy has a ladder. */
  readonly rung?: string
  /** When it fails; executions themselves are taken to last no time. */
  readonly failsMs: Span
  readonly act: Decision['act']
  readonly to?: string
  /** When the next execution or the hand-over follows. Absent at the end. */
  readonly nextMs?: Span
  readonly counted: boolean
  readonly entry?: LedgerName
  readonly spent?: LedgerName
  /** With the times of the middle dice. */
  readonly why: Why
}

export interface HandOver {
  /** The person rung's name, or `review`. */
  readonly to: string
  readonly queue: string
  /** Absent for the general review desk, which promises no time. */
  readonly withinMs?: number
  readonly afterMs: Span
}

export interface Plan {
  readonly policy: string
  readonly kind: Kind
  readonly code: string
  readonly steps: readonly PlanStep[]
  /** How it ends: given up, with a person, or as a benign race. */
  readonly end: 'fail' | 'person' | 'ignore'
  /** The ledger that ran out, when one did. */
  readonly spent?: LedgerName
  readonly handOver?: HandOver
  /** Calls made at worst until then. */
  readonly callsMax: number
  readonly callsByRung: Readonly<Record<string, number>>
  /** What those calls cost at worst. Null: not known, because a rung that is called has no price. */
  readonly costMaxUsd: number | null
  /** The most executions under this policy, for any mixture of failures. */
  readonly executionsBound: number
}

export interface PlanOptions {
  /** Epoch milliseconds of the first failure; 0 when absent. Sentences and deadlines are relative to it. */
  readonly now?: number
  readonly deadlineAt?: number
  /** Where on the ladder it begins, and what was used before. */
  readonly rung?: number
  readonly ledgers?: Ledgers
  /** Overrides what the failure tells: "and if they say to wait so long?" */
  readonly retryAfterMs?: number
}

/** The three ways the dice may fall. */
const DICE = { earliest: 0, likely: 0.5, latest: DICE_MAX }
type Way = keyof typeof DICE

export function plan(failureOrKind: Failure | Kind, policy: Policy, options: PlanOptions = {}): Plan {
  const { now = 0, rung: firstRung = 0 } = options
  const failure = failureFor(failureOrKind, options)
  const steps: PlanStep[] = []
  const callsByRung: Record<string, number> = {}
  const at: Record<Way, number | null> = { earliest: now, likely: now, latest: now }
  let ledgers = options.ledgers ?? EMPTY_LEDGERS
  let rung = firstRung
  let handOver: HandOver | undefined
  let last: Decision

  do {
    const failsMs = spanOf(at, now)
    const on = policy.ladder?.[rung]
    const situation = { failure, policy, ledgers, rung, attempt: steps.length + 1, ...deadlineOf(options) }
    const ways = decideAll(situation, at)
    last = ways.earliest
    const shown = ways.likely ?? last
    const nextMs = last.at === undefined ? undefined : spanOf(at, now)
    if (on) callsByRung[on.name] = (callsByRung[on.name] ?? 0) + 1
    steps.push({
      execution: steps.length + 1,
      ...(on ? { rung: on.name } : {}),
      failsMs,
      act: last.act,
      ...(last.to === undefined ? {} : { to: last.to }),
      ...(nextMs ? { nextMs } : {}),
      counted: last.counted,
      ...(last.entry ? { entry: last.entry } : {}),
      ...(last.spent ? { spent: last.spent } : {}),
      why: shown.act === last.act ? shown.why : last.why,
    })
    if (last.act === 'escalate') {
      const target = last.rung === undefined ? undefined : policy.ladder?.[last.rung]
      if (target?.type !== 'model') {
        const desk = target ? { queue: target.queue, withinMs: target.withinMs } : { queue: REVIEW }
        handOver = { to: last.to ?? REVIEW, ...desk, afterMs: spanOf(at, now) }
      } else rung = last.rung ?? rung
    }
    ledgers = applyEntry(ledgers, last, failure)
  } while (handOver === undefined && (last.act === 'retry' || last.act === 'escalate'))

  return {
    policy: policy.name,
    kind: failure.kind,
    code: failure.code,
    steps,
    end: handOver ? 'person' : last.act === 'ignore' ? 'ignore' : 'fail',
    ...(last.spent ? { spent: last.spent } : {}),
    ...(handOver ? { handOver } : {}),
    callsMax: steps.length,
    callsByRung,
    costMaxUsd: costOf(callsByRung, policy),
    executionsBound: executionsBound(policy),
  }
}

/**
 * Decides once for each way the dice may fall and moves `at` to where each of them goes on. The luckiest way is the one
 * that makes the most calls before a deadline, so it is the worst case; the others may have ended before.
 */
function decideAll(
  situation: Omit<Situation, 'now' | 'dice'>,
  at: Record<Way, number | null>,
): { earliest: Decision; likely?: Decision } {
  const decideFor = (way: Way): Decision | undefined => {
    const now = at[way]
    if (now === null) return undefined
    const decision = decide({ ...situation, now, dice: DICE[way] })
    at[way] = decision.at ?? null
    return decision
  }
  const earliest = decide({ ...situation, now: at.earliest ?? 0, dice: DICE.earliest })
  at.earliest = earliest.at ?? at.earliest
  const likely = decideFor('likely')
  decideFor('latest')
  return likely ? { earliest, likely } : { earliest }
}

function spanOf(at: Record<Way, number | null>, now: number): Span {
  const from = (time: number | null) => (time === null ? null : time - now)
  return { earliestMs: (at.earliest ?? now) - now, likelyMs: from(at.likely), latestMs: from(at.latest) }
}

function deadlineOf({ deadlineAt }: PlanOptions): { deadlineAt?: number } {
  return deadlineAt === undefined ? {} : { deadlineAt }
}

function failureFor(given: Failure | Kind, { retryAfterMs }: PlanOptions): Failure {
  const told = retryAfterMs === undefined ? {} : { retryAfterMs }
  if (typeof given === 'object') return { ...given, ...told }
  if (!KINDS.includes(given)) refuse('kind', given, KINDS.map((kind) => `"${kind}"`).join(', '))
  return {
    kind: given,
    code: `plan.${given}`,
    layer: 'workflow',
    message: `a failure of kind ${given}`,
    advice: '',
    rule: 'plan/kind',
    ...told,
  }
}

function costOf(callsByRung: Readonly<Record<string, number>>, { ladder }: Policy): number | null {
  if (!ladder) return null
  let sum = 0
  for (const rung of ladder) {
    const calls = callsByRung[rung.name] ?? 0
    if (rung.type === 'person' || calls === 0) continue
    if (rung.maxCostUsd === undefined) return null
    sum += calls * rung.maxCostUsd
  }
  return sum
}
