/**
 * The most executions that a policy can ever cause: the sum of its six ledgers.
 * It counts what `decide` allows and nothing else; people who send a run back, and operators, add more.
 */
import { repairsOf } from './ladder.ts'
import type { Policy } from './policy.ts'

export interface Bounds {
  readonly errors: number
  readonly rateWaits: number
  readonly interruptions: number
  readonly lapses: number
  /** Over all rungs. */
  readonly repairs: number
  readonly escalations: number
}

/** Each ledger's own bound. */
export function ledgerBounds(policy: Policy): Bounds {
  return {
    errors: policy.maxAttempts,
    rateWaits: policy.rateWaitsMax,
    interruptions: policy.interruptionsMax,
    lapses: policy.lapsesMax,
    repairs: repairsMax(policy),
    escalations: Math.max(0, (policy.ladder?.length ?? 1) - 1),
  }
}

export function executionsBound(policy: Policy): number {
  return Object.values(ledgerBounds(policy)).reduce((sum, bound) => sum + bound, 0)
}

function repairsMax({ kinds, ladder, maxAttempts }: Policy): number {
  const repairing = Object.values(kinds).filter((rule) => rule.recourse === 'repair')
  if (repairing.length === 0) return 0
  if (ladder) return ladder.reduce((sum, rung) => sum + repairsOf(rung), 0)
  return Math.max(...repairing.map((rule) => (rule.maxAttempts ?? maxAttempts) - 1))
}
