/**
 * What is thrown when we are wrong or the world is gone: a stable code and a message that says what to do.
 * Failed work is a `Failure` and a race is a return value; neither is ever one of these.
 */

/** Registered globally so that two copies of the package know each other's errors. */
const BRAND = Symbol.for('reprise.error')

export class RepriseError extends Error {
  /** Stable and namespaced: `store.unavailable`. Never renamed. */
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RepriseError'
    this.code = code
    Object.defineProperty(this, BRAND, { value: true })
  }
}

export function isRepriseError(value: unknown): value is RepriseError {
  return value instanceof Error && BRAND in value
}
