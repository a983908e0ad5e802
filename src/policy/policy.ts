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

/** What is done about a failure of one kind while its attempts last, and what when they are spent. */
export interface KindRule {
  /** `retry` waits and repeats, `repair` asks again with the errors, `escalate` goes to the next rung, `ignore` ends without an error. */
  readonly recourse: 'retry' | 'repair' | 'escalate' | 'fail' | 'ignore'
  /** Executions (the first included) that may end in this kind before `then` applies. */
  readonly maxAttempts: number
  readonly backoff: Backoff
  /** When the attempts of this kind are spent. `escalate` without a higher rung is `fail`. */
  readonly then: 'escalate' | 'fail'
}

export interface Policy {
  readonly name: string
  /** `call`: silent, seconds, inside one attempt. `durable`: visible, stored, minutes. */
  readonly scale: 'call' | 'durable'
  /** Bound of the errors ledger: counted executions, the first included. */
  readonly maxAttempts: number
  /** Bound for failures that no rule knew. */
  readonly unknownMaxAttempts: number
  readonly kinds: Readonly<Record<Kind, KindRule>>
  /** Told waits that cost no attempt. 0 means that a told wait is counted as an error. */
  readonly rateWaitsMax: number
  /** Releases by a stop or a short deadline; past it each one counts as an error. */
  readonly interruptionsMax: number
  /** Started attempts whose lease ran out; past it a person looks at the run. */
  readonly lapsesMax: number
  /** A told delay is clamped into this range: 0 must not spin and a year must not pin. */
  readonly toldDelay: { readonly minMs: number; readonly maxMs: number }
  /** Rungs in order, people included. Absent: there is nothing to escalate to. */
  readonly ladder?: LadderShape
}
