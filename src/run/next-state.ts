/**
 * What the end of an attempt makes of a run: what `apply` comes to, and what a store writes under its fence.
 * It has no code, and knows neither who decided it nor how it is kept.
 */
import type { Failure } from '../failure/failure.ts'
import type { Ledgers } from '../policy/situation.ts'
import type { Why } from '../policy/why.ts'
import type { HoldOrder } from './hold.ts'
import type { JournalEntry } from './journal.ts'
import type { AttemptRecord, Lane, State } from './run.ts'

/** `Child`: what a run to begin is made of, as far as the reader of this cares. */
export interface NextState<Child> {
  /** `blocked` exactly with a `join`. */
  readonly state: State
  readonly output?: string
  readonly dueAt?: number
  readonly lane?: Lane
  readonly rung?: number
  /** Absent: unchanged. */
  readonly ledgers?: Ledgers
  /** Added to the run's count. */
  readonly suspensions?: number
  readonly why?: Why
  readonly failure?: Failure
  /** Absent for a first-try success. */
  readonly attempt?: AttemptRecord
  /** The run was given back before its handler was called: its attempt number is given back too. */
  readonly unstarted?: boolean
  /** A sleep or a wait that this attempt suspends on, written with the end. */
  readonly journal?: JournalEntry
  /** Runs that begin with this end; idempotent by key as `create` is. */
  readonly children?: readonly Child[]
  /** Runs that begin with this end, and whose ends the run waits for: at least one, without keys. */
  readonly join?: { readonly name: string; readonly children: readonly Child[] }
  /** Put on a resource in the same write; the longer of it and the hold that is there. Ends the probe of that hold, if this is it. */
  readonly hold?: HoldOrder
  /** The resource answered, though the attempt failed: as the end of a probe it lets the others in, as a success does. */
  readonly admits?: boolean
  /**
   * The resource that failed, as opposed to one that answered wrongly: counted against its health, and the run's next try is a retry
   * to its bucket. A success counts for the resource of the run's lane.
   */
  readonly trouble?: string
  /** It waits for the sake of its resource, which is not in trouble but said so: it is a retry too. */
  readonly again?: boolean
}
