/**
 * Decides about one failed node of a graph: the next step, the count, and the ledgers after it. Pure.
 */
import type { Failure } from '../../failure/failure.ts'
import { applyEntry, decide } from '../../policy/decide.ts'
import type { Decision } from '../../policy/decision.ts'
import { repairsOf } from '../../policy/ladder.ts'
import type { Policy } from '../../policy/policy.ts'
import { say } from '../../policy/say.ts'
import type { LoopState, NextStep, NodeFailure } from './state.ts'

export interface NodeSituation {
  readonly node: string
  readonly failure: Failure
  readonly policy: Policy
  readonly loop: LoopState
  readonly now: number
  readonly dice: number
  /** Of the failure and its answer, where there is one to compare. */
  readonly mark: string | undefined
}

export function judgeNode(situation: NodeSituation): { readonly failed: NodeFailure; readonly loop: LoopState } {
  const { node, failure, policy, loop, now, dice, mark } = situation
  const { ledgers, rung } = loop
  const { errors, repairs, rateWaits, escalations } = ledgers
  const attempt = errors + repairs + rateWaits + escalations + 1
  const noProgress = mark !== undefined && mark === loop.mark
  const decision =
    failure.layer === 'infrastructure'
      ? givenUp(failure)
      : decide({ failure, policy, ledgers, now, dice, rung, attempt, noProgress })
  const next = nextOf(decision, policy)
  const at = next === 'retry' && decision.at !== undefined ? { at: decision.at } : {}
  const to = decision.to === undefined ? {} : { to: decision.to }
  const goesOn = next === 'retry' || next === 'repair'
  const of = goesOn ? Math.max(attempt + 1, boundOf(policy, failure, rung)) : attempt
  const why = say(decision.why, { now })
  return {
    failed: { node, failure, attempt, of, next, ...at, ...to, why },
    loop: {
      ledgers: applyEntry(ledgers, decision, failure),
      rung: decision.rung ?? rung,
      ...(mark === undefined ? {} : { mark }),
    },
  }
}

/** It was tried below as often as it may be: the graph ends or hands over, and does not begin again. */
function givenUp({ message, facts }: Failure): Decision {
  const takes = facts?.['takes']
  const attempts = typeof takes === 'number' ? takes : 1
  return { act: 'fail', counted: true, entry: 'errors', why: { code: 'end.inner', params: { attempts, message } } }
}

function nextOf({ act, entry, to, rung }: Decision, { ladder }: Policy): NextStep {
  if (act === 'retry') return entry === 'repairs' ? 'repair' : 'retry'
  if (act !== 'escalate' || to === undefined) return 'fail'
  return rung === undefined || ladder?.[rung]?.type === 'person' ? 'person' : 'escalate'
}

function boundOf(policy: Policy, { kind }: Failure, rung: number): number {
  const on = policy.ladder?.[rung]
  const rule = policy.kinds[kind]
  if (rule.recourse === 'repair' && on) return repairsOf(on) + 1
  return rule.maxAttempts ?? policy.maxAttempts
}
