/**
 * What readers ask of a store about many runs, and what they get. There is no code here.
 */
import type { State } from '../run/run.ts'
import type { RunView } from './store.ts'

export interface RunQuery {
  readonly tasks?: readonly string[]
  /** `running` is a word of readers: ready with a live lease. `ready` then means without one. */
  readonly states?: readonly (State | 'running')[]
  readonly categories?: readonly string[]
  readonly kinds?: readonly string[]
  /** A code, or a prefix that ends in `*`. */
  readonly code?: string
  readonly key?: string
  readonly submittedAfter?: number
  readonly submittedBefore?: number
  /** Ended before then. */
  readonly finishedBefore?: number
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
  readonly state: State | 'running'
  readonly runs: number
}
