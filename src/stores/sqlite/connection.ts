/**
 * Connections to the file: which library, which version of SQLite, which settings.
 * It knows no table; what is done on a connection is in the files of the verbs.
 */
import { createRequire } from 'node:module'
import { RepriseError } from '../../failure/reprise-error.ts'

export type SqlValue = string | number | bigint | Uint8Array | null

/** The part of a better-sqlite3 statement that this driver uses. */
export interface Statement<Row = unknown> {
  run(...values: SqlValue[]): { readonly changes: number; readonly lastInsertRowid: number | bigint }
  get(...values: SqlValue[]): Row | undefined
  all(...values: SqlValue[]): Row[]
  /** Rows as arrays: the library makes them in half the time. */
  raw?(on: boolean): Statement<Row>
}

/** The part of a better-sqlite3 database that this driver uses. */
export interface Connection {
  readonly name: string
  readonly memory: boolean
  readonly inTransaction: boolean
  prepare(sql: string): Statement
  exec(sql: string): unknown
  pragma(sql: string, options?: { readonly simple?: boolean }): unknown
  close(): unknown
}

type Open = new (file: string, options: { readonly timeout: number; readonly readonly?: boolean }) => Connection

/** `power`: a commit survives the loss of power. `process`: it survives the end of the process, not of the machine. */
export type Durability = 'power' | 'process'

/** Before this version, connections that write and checkpoint at the same time can corrupt a file in WAL mode. */
export const SQLITE_MIN = '3.51.3'

/** How long SQLite itself may wait for a lock, blocking the event loop; longer waits are ours and let others run. */
export const BUSY_TIMEOUT_MS = 2

/** Large enough that a row with a spilled body and its neighbours share a page; set before the file's first page is written. */
const PAGE_BYTES = 8_192

const PACKAGE = 'better-sqlite3'

/** The `Database` of the library. Loaded at the first use, so that an application without SQLite does not need the package. */
export function loadLibrary(load: (name: string) => unknown = createRequire(import.meta.url)): Open {
  try {
    return load(PACKAGE) as Open
  } catch (cause) {
    throw new RepriseError(
      'sqlite.package',
      `The SQLite store needs the package ${PACKAGE}, which could not be loaded (${(cause as Error).message.split('\n')[0]}). Install it: npm install ${PACKAGE}`,
      { cause },
    )
  }
}

export function openWriter(file: string, load?: (name: string) => unknown): Connection {
  const Database = loadLibrary(load)
  return new Database(file, { timeout: BUSY_TIMEOUT_MS })
}

/** A second connection for readers, so that a long list never delays a commit. A database in memory has but one. */
export function openReader(writer: Connection): Connection {
  if (writer.memory) return writer
  const Database = writer.constructor as Open
  return new Database(writer.name, { timeout: BUSY_TIMEOUT_MS, readonly: true })
}

export function assertVersion(connection: Connection): void {
  const { version } = connection.prepare('SELECT sqlite_version() AS version').get() as { version: string }
  if (compareVersions(version, SQLITE_MIN) >= 0) return
  throw new RepriseError(
    'sqlite.version',
    `SQLite ${version} can corrupt a file that several connections write (WAL reset); at least ${SQLITE_MIN} is needed. Update ${PACKAGE}: npm install ${PACKAGE}@latest`,
  )
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split('.').map(Number)) as [number[], number[]]
  for (const index of [0, 1, 2]) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** Settings that last as long as the connection, and the two that last as long as the file. */
export function configure(connection: Connection, durability: Durability): void {
  connection.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  // Both before the first table: neither can be changed cheaply afterwards.
  if (!connection.memory && connection.pragma('journal_mode', { simple: true }) !== 'wal') {
    connection.pragma(`page_size = ${PAGE_BYTES}`)
    connection.pragma('journal_mode = WAL')
  }
  // Said outright, because libraries are built with different defaults for WAL.
  connection.pragma(`synchronous = ${durability === 'power' ? 'FULL' : 'NORMAL'}`)
  // Without it a Mac's fsync leaves the data in the drive's cache; elsewhere it means nothing.
  connection.pragma(`fullfsync = ${durability === 'power' ? 1 : 0}`)
}
