/**
 * SQLite's errors in the words of the port: the store cannot be reached, or nobody knows whether it wrote.
 * It knows codes only; what to do about them is decided by whoever runs the transaction.
 */
import { isRepriseError, RepriseError } from '../../failure/reprise-error.ts'

/** Primary result codes that mean that the file, the disk or the lock is not to be had at the moment. */
const UNREACHABLE =
  /^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|NOTADB|CORRUPT|NOMEM|PERM|PROTOCOL|NOLFS|AUTH)(_|$)/

/** After these a connection may stay broken although the file has been repaired: it is opened anew. */
const CONNECTION_SPENT = /^SQLITE_(IOERR|READONLY|CANTOPEN|NOTADB|CORRUPT|PROTOCOL)(_|$)/

const WHAT_TO_DO: ReadonlyArray<readonly [pattern: RegExp, advice: string]> = [
  [
    /^SQLITE_BUSY_SNAPSHOT/,
    'the transaction has read before it wrote, and another one has written meanwhile; begin it with BEGIN IMMEDIATE and do it again',
  ],
  [/^SQLITE_(BUSY|LOCKED)/, 'another connection holds its write lock; look for a long transaction on the file'],
  [/^SQLITE_FULL/, 'the disk or the file is full; make room'],
  [/^SQLITE_READONLY/, 'the file cannot be written; check its permissions and those of its folder'],
  [/^SQLITE_CANTOPEN/, 'the file cannot be opened; check its path and permissions'],
  [/^SQLITE_(NOTADB|CORRUPT)/, 'the file is damaged or is no SQLite database; restore it from a copy'],
]

export function sqliteCode(error: unknown): string {
  const code = (error as { readonly code?: unknown } | null)?.code
  return typeof code === 'string' ? code : ''
}

export const isBusy = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)(_|$)/.test(sqliteCode(error))

export const isConnectionSpent = (error: unknown): boolean => CONNECTION_SPENT.test(sqliteCode(error))

export const isUnreachable = (error: unknown): boolean => isRepriseError(error) || UNREACHABLE.test(sqliteCode(error))

export function unavailable(file: string, cause: unknown): RepriseError {
  if (isRepriseError(cause)) return cause
  const code = sqliteCode(cause)
  const advice = WHAT_TO_DO.find(([pattern]) => pattern.test(code))?.[1] ?? 'look at the disk and at the file'
  return new RepriseError(
    'store.unavailable',
    `The SQLite store ${file} cannot be used now: ${(cause as Error).message} (${code || 'no code'}); ${advice}.`,
    { cause },
  )
}

export function unknownOutcome(file: string, cause: unknown): RepriseError {
  return new RepriseError(
    'store.unknown',
    `COMMIT on the SQLite store ${file} failed (${(cause as Error).message}); whether it was written is unknown: read again before repeating.`,
    { cause },
  )
}
