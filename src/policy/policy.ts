/**
 * Policy as data: what each kind of failure is worth, in attempts and in time.
 * Values only; `decide` reads them and `definePolicy` checks them at the door.
 */
import type { Kind } from '../failure/failure.ts'
import type { LadderShape } from './ladder.ts'

/**
 * How long to wait after the n-th failed attempt: `min(baseMs × factor^(n-1), capMs)`, then jitter.
 * `full` draws from [0, delay], `equal` from [delay/2, delay], `additive` adds [0, jitterMs] on top, `none` draws nothing.
 */
export interface Backoff {
  readonly shape: 'exponential' | 'fixed' | 'immediate'
  readonly baseMs: number
  readonly factor: number
  readonly capMs: number
  readonly jitter: 'none' | 'full' | 'equal' | 'additive'
  readonly jitterMs: number
}

/**
 * What is done about a failure of one kind.
 * `retry` waits and repeats; `repair` asks again with the errors; `escalate` goes to the next rung; `person` to the
 * next rung that is a person; `wait` sits out a told time (a budget's window); `fail` ends; `ignore` ends without an error.
 */
export type Recourse = 'retry' | 'repair' | 'escalate' | 'person' | 'wait' | 'fail' | 'ignore'

export interface KindRule {
  readonly recourse: Recourse
  /**
   * Executions (the first included) that may end in this kind before `whenSpent` applies; absent: the policy's `maxAttempts`.
   * It counts inside `maxAttempts`. Repairs on a ladder are bounded by the rung's `attempts` instead.
   */
  readonly maxAttempts?: number
  readonly backoff: Backoff
  /** When the recourse is spent or cannot be had. `escalate` and `person` without such a rung above are `fail`. */
  readonly whenSpent: 'escalate' | 'person' | 'fail'
}

/** A delay that the other side told: 0 must not spin and a year must not pin. */
export interface ToldDelay {
  readonly minMs: number
  readonly maxMs: number
  /** `clamp` waits `maxMs` and asks again; `fail` ends, because a call that sleeps for an hour helps nobody. */
  readonly beyond: 'clamp' | 'fail'
}

/** Time limits of one attempt, for whoever executes it. `decide` uses only the reserve. */
export interface Limits {
  readonly callMs?: number
  readonly attemptMs?: number
  /** Kept free at the end to store what was done. A repair that would start inside it is not started. */
  readonly finalizeReserveMs?: number
}

export interface Policy {
  readonly name: string
  /** `call`: silent, seconds, inside one attempt. `durable`: visible, stored, minutes. */
  readonly scale: 'call' | 'durable'
  /** Bound of the errors ledger: counted executions, the first included. */
  readonly maxAttempts: number
  /** Bound for failures that no rule knew, inside `maxAttempts`. */
  readonly unknownMaxAttempts: number
  readonly kinds: Readonly<Record<Kind, KindRule>>
  /** Told waits that cost no attempt. 0: a told wait is kept and counted as an error. */
  readonly rateWaitsMax: number
  /** Releases by a stop or a short deadline; past it each one counts as an error. */
  readonly interruptionsMax: number
  /** Started attempts whose lease ran out; the last one sends the run to a person. 0: each one counts as an error. */
  readonly lapsesMax: number
  readonly toldDelay: ToldDelay
  readonly limits?: Limits
  /** Rungs in order, people included. Absent: there is nothing to escalate to. */
  readonly ladder?: LadderShape
}
