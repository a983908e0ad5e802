/**
 * Firestore's errors in the words of the port: a race that is tried again, a store that cannot be reached, an outcome nobody knows.
 * It knows gRPC codes only.
 */
import { isRepriseError, RepriseError } from '../../failure/reprise-error.ts'

const ALREADY_EXISTS = 6
const FAILED_PRECONDITION = 9
const ABORTED = 10
const NOT_FOUND = 5

/** After these nobody knows whether a write was applied. */
const UNKNOWN = new Set([1, 2, 4, 13, 14])

const WHAT_TO_DO: Readonly<Record<number, string>> = {
  4: 'it did not answer in time; look at its status and at the network',
  7: 'the account may not use it; give it the role roles/datastore.user',
  8: 'a quota is used up; look at the quotas of the project',
  14: 'look at its status and at the network',
  16: 'there are no valid credentials; set GOOGLE_APPLICATION_CREDENTIALS or run as a service account',
}

function codeOf(error: unknown): number | undefined {
  const code = (error as { readonly code?: unknown } | null)?.code
  return typeof code === 'number' ? code : undefined
}

/** Somebody else wrote in between: read again. A document that is gone under an update is the same race. */
export function isConflict(error: unknown): boolean {
  const code = codeOf(error)
  return code === ALREADY_EXISTS || code === FAILED_PRECONDITION || code === ABORTED || code === NOT_FOUND
}

/** An index that is not there is no race, although it has the same code. */
export const isMissingIndex = (error: unknown): boolean =>
  codeOf(error) === FAILED_PRECONDITION && /requires an index/i.test((error as Error).message)

export function unavailable(error: unknown): unknown {
  const code = codeOf(error)
  if (isRepriseError(error) || code === undefined) return error
  const advice = isMissingIndex(error)
    ? 'deploy the indexes of deploy/firestore/firestore.indexes.json'
    : (WHAT_TO_DO[code] ?? 'look at its status')
  return new RepriseError(
    'store.unavailable',
    `The Firestore store cannot be used now: ${(error as Error).message}; ${advice}.`,
    { cause: error },
  )
}

export function unwritten(error: unknown): unknown {
  const code = codeOf(error)
  if (code === undefined || !UNKNOWN.has(code)) return unavailable(error)
  return new RepriseError(
    'store.unknown',
    `A write to Firestore failed (${(error as Error).message}); whether it was applied is unknown: read again before repeating.`,
    { cause: error },
  )
}

export const contended = (cause: unknown): RepriseError =>
  new RepriseError(
    'store.unavailable',
    'A document of the Firestore store is written by too many at once; try again, or spread the work over more documents.',
    { cause },
  )
