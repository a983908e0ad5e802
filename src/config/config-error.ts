/**
 * The one error of bad configuration: everything that is wrong with it at once, each with the place it came from.
 */
import { maskSecrets } from '../failure/mask-secrets.ts'
import { RepriseError } from '../failure/reprise-error.ts'

export interface ConfigProblem {
  /** `file:/srv/app/reprise.config.ts`, `env:REPRISE_LEASE`, `flag:--lease`. */
  readonly origin: string
  /** Names the field, the value and what is allowed. */
  readonly message: string
}

export class ConfigError extends RepriseError {
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[], options?: ErrorOptions) {
    const masked = problems.map(({ origin, message }) => ({ origin, message: maskSecrets(message) }))
    super('config.invalid', masked.map(({ origin, message }) => `${message} (${origin})`).join('\n'), options)
    this.name = 'ConfigError'
    this.problems = masked
  }
}
