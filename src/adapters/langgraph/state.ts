/**
 * What a graph's state holds of failures: the last one with its count and next step, and the ledgers that bound the loops.
 * Plain data that any checkpointer can keep; it decides nothing.
 */
import type { Failure } from '../../failure/failure.ts'
import { EMPTY_LEDGERS, type Ledgers } from '../../policy/situation.ts'

export const NEXT_STEPS = ['retry', 'repair', 'escalate', 'person', 'fail'] as const

export type NextStep = (typeof NEXT_STEPS)[number]

/** A failed node as the user may see it. */
export interface NodeFailure {
  readonly node: string
  readonly failure: Failure
  /** Number of the attempt that failed, 1 for the first, over all nodes that share the ledger. */
  readonly attempt: number
  /** Attempts that there may be for this kind of failure. */
  readonly of: number
  readonly next: NextStep
  /** When a retry may begin, epoch milliseconds. */
  readonly at?: number
  /** The rung that an escalation goes to. */
  readonly to?: string
  /** Why, in one sentence. */
  readonly why: string
}

/** How far one loop is. */
export interface LoopState {
  readonly ledgers: Ledgers
  /** Position on the policy's ladder. */
  readonly rung: number
  /** Of the failure and the answer before: the same again is no progress. */
  readonly mark?: string
}

export interface RepriseState {
  /** Absent after a node that succeeded. */
  readonly last?: NodeFailure
  readonly loops: Readonly<Record<string, LoopState>>
}

export type RepriseUpdate =
  | { readonly type: 'failed'; readonly failed: NodeFailure; readonly ledger: string; readonly loop: LoopState }
  /** What the node saw when it began is over; a failure that came up beside it is not. */
  | { readonly type: 'succeeded'; readonly clears?: Pick<NodeFailure, 'node' | 'attempt'> }
  | { readonly type: 'over' }

const NOTHING: RepriseState = Object.freeze({ loops: Object.freeze({}) })

export const FIRST_LOOP: LoopState = Object.freeze({ ledgers: EMPTY_LEDGERS, rung: 0 })

/** To be given with the input of a new question on an old thread: counting begins anew. */
export const startOver: RepriseUpdate = Object.freeze({ type: 'over' })

/**
 * The channel for a state that nodes of `withReprise` write to.
 * @example const State = Annotation.Root({ question: Annotation<string>(), reprise: Annotation(repriseState) })
 */
export const repriseState: {
  readonly reducer: (before: RepriseState, update: RepriseUpdate) => RepriseState
  readonly default: () => RepriseState
} = {
  reducer: (before, update) => {
    switch (update.type) {
      case 'failed':
        return { last: update.failed, loops: { ...before.loops, [update.ledger]: update.loop } }
      case 'succeeded':
        return isSame(before.last, update.clears) ? { loops: before.loops } : before
      case 'over':
        return NOTHING
    }
  },
  default: () => NOTHING,
}

const isSame = (last: NodeFailure | undefined, seen: Pick<NodeFailure, 'node' | 'attempt'> | undefined): boolean =>
  last !== undefined && last.node === seen?.node && last.attempt === seen.attempt
