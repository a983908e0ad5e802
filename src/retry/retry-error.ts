/**
 * What `retry` throws when asked to wrap: the last error as `cause`, the whole history, and the reason as a code.
 * Without `wrap` nobody ever sees one of these.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { Decision } from '../policy/decision.ts'
import { say } from '../policy/say.ts'
import type { RetryHistory } from './history.ts'

export class RetryError extends RepriseError {
  readonly history: RetryHistory
  /** The last decision: why it ended, and where it would have gone on if there were a ladder. */
  readonly decision: Decision

  constructor(decision: Decision, history: RetryHistory, cause: unknown) {
    const { code } = decision.why
    super(`retry.${code.slice(code.indexOf('.') + 1)}`, say(decision.why), { cause })
    this.name = 'RetryError'
    this.history = history
    this.decision = decision
  }
}
