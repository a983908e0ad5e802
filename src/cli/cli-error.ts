/**
 * The one error that commands throw when they cannot do what was asked: what, why, what to try, and the exit number.
 * It carries words only; how it looks is the error block's affair.
 */

/** 0 is success; 1 the command failed, 2 it was asked wrongly, 3 the store cannot be reached. */
export type ExitCode = 0 | 1 | 2 | 3

export interface CliErrorParts {
  /** Stable, upper case: `USAGE`, `FILE_UNREADABLE`, `STORE_UNAVAILABLE`. */
  readonly code: string
  /** What could not be done, with the value that was given. */
  readonly message: string
  /** The deepest useful reason: a sentence, or the error that was caught. */
  readonly cause?: unknown
  /** One thing to do, a command if possible. Words between backticks are set in bold. */
  readonly tryThis?: string
  readonly exit: Exclude<ExitCode, 0>
  /** What became of the world: "No run was touched." Left out for usage errors, where nothing began. */
  readonly touched?: string
}

export class CliError extends Error {
  override readonly name = 'CliError'
  readonly code: string
  readonly tryThis: string | undefined
  readonly exit: Exclude<ExitCode, 0>
  readonly touched: string | undefined

  constructor(parts: CliErrorParts) {
    super(parts.message, parts.cause === undefined ? undefined : { cause: parts.cause })
    this.code = parts.code
    this.tryThis = parts.tryThis
    this.exit = parts.exit
    this.touched = parts.touched ?? (parts.exit === 2 ? undefined : 'Nothing was changed.')
  }
}

/** Asked wrongly: exit 2. */
export function usageError(message: string, tryThis?: string, cause?: unknown): CliError {
  return new CliError({
    code: 'USAGE',
    message,
    exit: 2,
    ...(tryThis === undefined ? {} : { tryThis }),
    ...(cause === undefined ? {} : { cause }),
  })
}
