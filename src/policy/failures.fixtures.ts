/**
 * Failures made by hand for the tests of this room.
 */
import type { Failure, Kind } from '../failure/failure.ts'

export function failureOf(kind: Kind, rest: Partial<Failure> = {}): Failure {
  return {
    kind,
    code: `test.${kind}`,
    layer: 'workflow',
    message: `it was ${kind}`,
    advice: 'Look at it.',
    rule: 'test/made',
    ...rest,
  }
}
