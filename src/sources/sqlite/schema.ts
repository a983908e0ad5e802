/**
 * The tables of the embedded source: documents of all collections, what the sweep remembers, and the audit.
 * It knows no query; `user_version` tells whose file this is.
 */
import { RepriseError } from '../../failure/reprise-error.ts'
import type { Connection } from './connection.ts'

/** Written into the file, so that the engine's store and a source are never taken for one another. */
const APPLICATION_ID = 0x52_50_53_57

const TABLES = `
CREATE TABLE IF NOT EXISTS documents (
  seq             INTEGER PRIMARY KEY,
  collection      TEXT    NOT NULL,
  id              TEXT    NOT NULL,
  status          TEXT    NOT NULL,
  attempts        INTEGER NOT NULL DEFAULT 0,
  last_attempt_at INTEGER,
  created_at      INTEGER NOT NULL,
  body            TEXT    NOT NULL,
  rev             INTEGER NOT NULL DEFAULT 0,
  marks           TEXT,
  due_at          INTEGER,
  failed_at       INTEGER,
  fingerprint     TEXT,
  code            TEXT,
  unsent_until    INTEGER,
  UNIQUE (collection, id)
) STRICT;
CREATE INDEX IF NOT EXISTS documents_due ON documents (collection, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS documents_quiet ON documents (collection, status, coalesce(last_attempt_at, created_at), id)
  WHERE due_at IS NULL AND unsent_until IS NULL;
CREATE INDEX IF NOT EXISTS documents_recent ON documents (collection, status, created_at, id);
CREATE INDEX IF NOT EXISTS documents_attempted ON documents (collection, status, last_attempt_at);
CREATE INDEX IF NOT EXISTS documents_unsent ON documents (collection, unsent_until, id) WHERE unsent_until IS NOT NULL;
CREATE INDEX IF NOT EXISTS documents_failed ON documents (collection, failed_at) WHERE failed_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS memory (name TEXT PRIMARY KEY, value TEXT NOT NULL, rev INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS notes (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, note TEXT NOT NULL) STRICT;
`

export function migrate(connection: Connection, file: string): void {
  const found = connection.pragma('application_id', { simple: true })
  if (found === APPLICATION_ID) return
  const { tables } = connection.prepare('SELECT count(*) AS tables FROM sqlite_schema').get() as { tables: number }
  if (tables > 0)
    throw new RepriseError(
      'source.foreign',
      `The file ${file} holds something else than documents of a sweep (application id ${String(found)}). Name another file.`,
    )
  connection.exec(`BEGIN IMMEDIATE; ${TABLES} PRAGMA application_id = ${APPLICATION_ID}; COMMIT`)
}
