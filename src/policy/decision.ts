/**
 * The answer of `decide`: one act, when, to whom, what it costs, and why.
 * `why` is a code with parameters; `say` turns it into the sentence that people read.
 */
import type { LedgerName } from './situation.ts'

/** A reason as data. The codes and their parameters are listed, with their sentences, in `say.ts`. */
export interface Why {
  readonly code: string
  readonly params: Readonly<Record<string, string | number>>
}

export interface Decision {
  readonly act: 'retry' | 'escalate' | 'fail' | 'ignore'
  /** When a retry may start, epoch milliseconds. Equal to `now` for an immediate one. */
  readonly at?: number
  /** The rung's name that an escalation goes to. */
  readonly to?: string
  /** True when this execution used up one of `maxAttempts`. */
  readonly counted: boolean
  /** The ledger in which this execution makes its entry, if it makes one. */
  readonly entry?: LedgerName
  /** The ledger that ran out, when one did. */
  readonly spent?: LedgerName
  readonly why: Why
}
