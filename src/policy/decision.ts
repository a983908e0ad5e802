/**
 * The answer of `decide`: one act, when, to whom, what it costs, and why.
 * `why` is a code with parameters; `say` turns it into the sentence that people read.
 */
import type { LedgerName } from './situation.ts'
import type { Why } from './why.ts'

export interface Decision {
  /**
   * `retry`: execute again at `at`, on the same rung. With `entry: 'repairs'` it is a correction: ask with the errors.
   * `escalate`: go on at `to`. `fail`: the end, stored as failed. `ignore`: the end of this execution, nothing is stored.
   */
  readonly act: 'retry' | 'escalate' | 'fail' | 'ignore'
  /** When a retry or an escalation may start, epoch milliseconds. Equal to `now` for an immediate one. */
  readonly at?: number
  /** The rung's name that an escalation goes to, or `REVIEW` when a person must look and the ladder names none. */
  readonly to?: string
  /** The position of `to` on the ladder. Absent when `to` is `REVIEW`. */
  readonly rung?: number
  /** True when this execution used up one of `maxAttempts`: its entry is in `errors`. */
  readonly counted: boolean
  /** The ledger in which this execution makes its entry. Absent only for `ignore`. */
  readonly entry?: LedgerName
  /** The ledger that ran out, when one did. */
  readonly spent?: LedgerName
  readonly why: Why
}
