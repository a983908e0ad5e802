/**
 * The two policies that hold where nobody chose one: `inCall` for `retry`, `daemon` for stored runs.
 * Data only: one table each.
 */
import { exponential, fixed, immediate } from './backoff.ts'
import { completePolicy } from './complete-policy.ts'
import type { Policy } from './policy.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Inside one call: seconds, silent. The default of `retry`. */
export const inCall: Policy = completePolicy(
  {},
  {
    name: 'inCall',
    scale: 'call',
    maxAttempts: 5,
    unknownMaxAttempts: 3,
    kinds: {
      rate_limited: {
        recourse: 'retry',
        backoff: exponential({ base: SECOND, cap: 32 * SECOND, jitter: 'additive', jitterMs: 2 * SECOND }),
        whenSpent: 'fail',
      },
      transient: { recourse: 'retry', maxAttempts: 3, backoff: fixed(2 * SECOND), whenSpent: 'fail' },
      syntax: { recourse: 'repair', maxAttempts: 2, backoff: immediate(), whenSpent: 'escalate' },
      semantic: { recourse: 'repair', maxAttempts: 3, backoff: immediate(), whenSpent: 'escalate' },
      refused: { recourse: 'person', backoff: immediate(), whenSpent: 'fail' },
      final: { recourse: 'fail', backoff: immediate(), whenSpent: 'fail' },
      conflict: { recourse: 'ignore', backoff: immediate(), whenSpent: 'fail' },
      exhausted: { recourse: 'escalate', backoff: immediate(), whenSpent: 'fail' },
      // Our own stop belongs to whoever stopped us, not to the call.
      interrupted: { recourse: 'fail', backoff: immediate(), whenSpent: 'fail' },
    },
    // A told wait is kept, and counted like the others: a call has five tries in all.
    rateWaitsMax: 0,
    interruptionsMax: 0,
    lapsesMax: 0,
    toldDelay: { minMs: SECOND, maxMs: MINUTE, beyond: 'fail' },
  },
)

const durableBackoff = exponential({ base: MINUTE, cap: HOUR })

/** Stored runs: minutes, visible. The default of every task. */
export const daemon: Policy = completePolicy(
  {},
  {
    name: 'daemon',
    scale: 'durable',
    maxAttempts: 8,
    unknownMaxAttempts: 3,
    kinds: {
      rate_limited: { recourse: 'retry', backoff: durableBackoff, whenSpent: 'fail' },
      transient: { recourse: 'retry', backoff: durableBackoff, whenSpent: 'fail' },
      // A ladder decides about its own answers (`asked`); only answers that no ladder judged are asked for again here.
      syntax: { recourse: 'repair', maxAttempts: 3, backoff: immediate(), whenSpent: 'escalate' },
      semantic: { recourse: 'repair', maxAttempts: 3, backoff: immediate(), whenSpent: 'escalate' },
      refused: { recourse: 'person', backoff: immediate(), whenSpent: 'fail' },
      final: { recourse: 'fail', backoff: immediate(), whenSpent: 'fail' },
      conflict: { recourse: 'ignore', backoff: immediate(), whenSpent: 'fail' },
      exhausted: { recourse: 'escalate', backoff: immediate(), whenSpent: 'fail' },
      // Nothing is wrong with the run: whoever is free may go on at once. The ledger bounds it.
      interrupted: { recourse: 'retry', backoff: immediate(), whenSpent: 'fail' },
    },
    rateWaitsMax: 20,
    interruptionsMax: 5,
    lapsesMax: 3,
    toldDelay: { minMs: SECOND, maxMs: 24 * HOUR, beyond: 'clamp' },
  },
)
