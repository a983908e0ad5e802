/**
 * What readers ask of a store about many runs, and what they get. There is no code here.
 */
import type { StateWord } from '../run/run.ts'
import type { RunView } from './store.ts'

/** Which runs are asked for: all of what is given must hold. */
export interface RunCriteria {
  readonly tasks?: readonly string[]
  readonly states?: readonly StateWord[]
  readonly categories?: readonly string[]
  readonly kinds?: readonly string[]
  /** A code, or a prefix that ends in `*`. */
  readonly code?: string
  readonly key?: string
  readonly submittedAfter?: number
  readonly submittedBefore?: number
  /** Ended before then. */
  readonly finishedBefore?: number
}

/** A page of them. */
export interface RunQuery extends RunCriteria {
  readonly limit: number
  readonly cursor?: string
}

export interface RunPage {
  readonly now: number
  readonly runs: readonly RunView[]
  readonly cursor?: string
}

export interface StateCount {
  readonly task: string
  readonly state: StateWord
  readonly runs: number
}
