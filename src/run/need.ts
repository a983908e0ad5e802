/**
 * Needs between runs: when one is fulfilled, and what becomes of a run whose need ended without success. Pure, so that every
 * store answers alike; how needs are kept and found is a store's affair.
 */
import type { Failure } from '../failure/failure.ts'
import type { Why } from '../policy/why.ts'
import { isTerminal, type State } from './run.ts'

/** What a step asks for when a step that it needs ends without success: to fail, to be skipped, or to wait for an operator's retry. */
export const NEED_POLICIES = ['fail', 'skip', 'wait'] as const

export type NeedPolicy = (typeof NEED_POLICIES)[number]

/** `join`: a parent waits for its child, however that ends. */
export type NeedKind = NeedPolicy | 'join'

/** More steps than this are several flows: an end must be able to move all of them in one write. */
export const STEPS_MAX = 1_000

/** More children than this are several joins, for the same reason. */
export const CHILDREN_MAX = 1_000

/** A step needs success; a join only the end. */
export const isFulfilled = (kind: NeedKind, needed: State): boolean =>
  kind === 'join' ? isTerminal(needed) : needed === 'succeeded'

/** The need can no longer be fulfilled in this generation, and the dependent asked not to wait for another. */
export const isHopeless = (kind: NeedKind, needed: State): kind is 'fail' | 'skip' =>
  (kind === 'fail' || kind === 'skip') && (needed === 'failed' || needed === 'cancelled')

export interface EndByNeed {
  readonly state: 'failed' | 'cancelled'
  readonly why: Why
  readonly failure?: Failure
}

/** How a run ends whose need became hopeless. */
export function endByNeed(kind: 'fail' | 'skip', step: string, needed: State): EndByNeed {
  const how = needed === 'cancelled' ? 'cancelled' : 'failed'
  if (kind === 'skip') return { state: 'cancelled', why: { code: 'run.skipped', params: { step, how } } }
  const failure: Failure = {
    kind: 'final',
    code: 'need.failed',
    layer: 'workflow',
    message: `it needs ${step}, which ${how === 'failed' ? 'failed' : 'was cancelled'}`,
    advice: `Retry ${step}: this step begins again with it.`,
    rule: 'own/need',
  }
  return { state: 'failed', why: { code: 'end.need_failed', params: { step, how } }, failure }
}

/** Whether a run ended only because of a need, so that it begins again when that does. */
export const isEndedByNeed = (why: Why | undefined): boolean =>
  why?.code === 'end.need_failed' || why?.code === 'run.skipped'

/** Who is named in the history of a run that ended by its need. */
export const FLOW_ACTOR = 'flow'
