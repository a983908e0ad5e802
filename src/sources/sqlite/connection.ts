/**
 * The connection to the file of an embedded source: library, settings, and waiting for a lock without blocking the event loop.
 * It knows no table.
 */
import { createRequire } from 'node:module'
import { isRepriseError, RepriseError } from '../../failure/reprise-error.ts'
import type { Clock } from '../../time/clock.ts'

export type SqlValue = string | number | null

/** The part of a better-sqlite3 statement that this driver uses. */
export interface Statement {
  run(...values: SqlValue[]): { readonly changes: number }
  get(...values: SqlValue[]): unknown
  all(...values: SqlValue[]): unknown[]
}

/** The part of a better-sqlite3 database that this driver uses. */
export interface Connection {
  readonly inTransaction: boolean
  prepare(sql: string): Statement
  exec(sql: string): unknown
  pragma(sql: string, options?: { readonly simple?: boolean }): unknown
  close(): unknown
}

type Open = new (file: string, options: { readonly timeout: number }) => Connection

const PACKAGE = 'better-sqlite3'

/** SQLite itself may wait this long and block the event loop; longer waits are ours. */
const BUSY_TIMEOUT_MS = 2
const PAUSE_MS = 3

/** Longer than any honest transaction. */
const BUSY_MAX_MS = 10_000

export function connect(file: string): Connection {
  let Database: Open
  try {
    Database = createRequire(import.meta.url)(PACKAGE) as Open
  } catch (cause) {
    throw new RepriseError(
      'sqlite.package',
      `The SQLite source needs the package ${PACKAGE}, which could not be loaded (${(cause as Error).message.split('\n')[0]}). Install it: npm install ${PACKAGE}`,
      { cause },
    )
  }
  const connection = new Database(file, { timeout: BUSY_TIMEOUT_MS })
  connection.pragma('journal_mode = WAL')
  connection.pragma('synchronous = FULL')
  connection.pragma('fullfsync = 1')
  return connection
}

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown } | null)?.code ?? '')

/** Answers with what `attempt` answers; waits while another connection holds the lock; tells everything else as unavailable. */
export async function patiently<T>(clock: Clock, file: string, attempt: () => T): Promise<T> {
  const startedAt = clock.monotonic()
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      const isBusy = /^SQLITE_(BUSY|LOCKED)/.test(codeOf(error))
      if (!isBusy || clock.monotonic() - startedAt >= BUSY_MAX_MS) throw trouble(file, error)
    }
    await clock.sleep(PAUSE_MS)
  }
}

function trouble(file: string, error: unknown): unknown {
  const isTheirs = codeOf(error).startsWith('SQLITE_') || /directory does not exist/.test(String(error))
  if (isRepriseError(error) || !isTheirs) return error
  return new RepriseError(
    'source.unavailable',
    `The SQLite source ${file} cannot be used now: ${(error as Error).message}. Look at the file and at its disk.`,
    { cause: error },
  )
}
