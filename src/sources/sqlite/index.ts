/**
 * The embedded source: collections in one SQLite file, for trying the sweep, for tests, and for services that keep their documents
 * there. Besides the verbs of the port it has `put`, by which a service adds a document.
 */
import type { CollectionShape, FailureGroup, Source, SourceNote } from '../../ports/source.ts'
import { type Clock, systemClock } from '../../time/clock.ts'
import { SteadyTime } from '../../time/steady-time.ts'
import { type Connection, connect, patiently } from './connection.ts'
import { countIn, findIn } from './query.ts'
import { documentOf, ROW, type Row } from './row.ts'
import { migrate } from './schema.ts'
import { changeAll, moveAll, removeAll, together } from './write.ts'

export interface SqliteSourceOptions {
  /** Made when it is not there. `:memory:` for one that is gone with the process. */
  readonly file: string
  readonly clock?: Clock
}

export interface NewDocument {
  readonly id: string
  /** `pending` unless given. */
  readonly status?: string
  readonly attempts?: number
  readonly lastAttemptAt?: number
  /** Now unless given. */
  readonly createdAt?: number
  readonly document?: Readonly<Record<string, unknown>>
}

export interface SqliteSource extends Source {
  /** Adds documents; one whose id is there already is left as it is. Answers with how many were added. */
  put(collection: string, documents: readonly NewDocument[]): Promise<number>
}

export function sqliteSource({ file, clock = systemClock }: SqliteSourceOptions): SqliteSource {
  if (typeof file !== 'string' || file.trim() === '')
    throw new TypeError(`file: ${JSON.stringify(file)}; allowed is the path of a file, or ":memory:"`)
  const time = new SteadyTime(clock)
  let connection: Connection | undefined
  const opened = (): Connection => {
    if (connection) return connection
    const fresh = statementsKept(connect(file))
    migrate(fresh, file)
    connection = fresh
    return fresh
  }
  const act = <T>(work: (connection: Connection) => T): Promise<T> => patiently(clock, file, () => work(opened()))
  const rowOf = (open: Connection, shape: CollectionShape, id: string) =>
    open.prepare(`SELECT ${ROW} FROM documents WHERE collection = ? AND id = ?`).get(shape.name, id) as Row | undefined

  return {
    name: 'sqlite',
    // By way of the file: a source that cannot be reached has no time either.
    now: () => act(() => time.now()),
    prepare: () => act(() => []),
    find: (shape, query) => act((open) => findIn(open, shape, query)),
    count: (shape, where) => act((open) => countIn(open, shape, where)),
    get: (shape, id) =>
      act((open) => {
        const row = rowOf(open, shape, id)
        return row && documentOf(row, shape)
      }),
    change: (_shape, changes) => act((open) => (changes.length === 0 ? [] : changeAll(open, changes))),
    move: (shape, to, items) => act((open) => (items.length === 0 ? [] : moveAll(open, shape, to, items))),
    remove: (_shape, items) => act((open) => (items.length === 0 ? [] : removeAll(open, items))),
    groups: (shape) => act((open) => groupsIn(open, shape)),
    recall: (name) =>
      act(
        (open) =>
          open.prepare('SELECT value, rev FROM memory WHERE name = ?').get(name) as
            | { value: string; rev: number }
            | undefined,
      ),
    remember: (name, value, expectRev) =>
      act((open) => {
        const sql =
          expectRev === 0
            ? 'INSERT INTO memory (value, name, rev) VALUES (?, ?, 1) ON CONFLICT DO NOTHING'
            : 'UPDATE memory SET value = ?, rev = rev + 1 WHERE name = ? AND rev = ?'
        const values = expectRev === 0 ? [value, name] : [value, name, expectRev]
        return open.prepare(sql).run(...values).changes === 1 ? 'ok' : 'lost'
      }),
    note: (note) =>
      act((open) => {
        open.prepare('INSERT INTO notes (at, note) VALUES (?, ?)').run(note.at, JSON.stringify(note))
      }),
    notes: (limit) =>
      act((open) =>
        (open.prepare('SELECT note FROM notes ORDER BY seq DESC LIMIT ?').all(limit) as { note: string }[]).map(
          ({ note }) => JSON.parse(note) as SourceNote,
        ),
      ),
    put: (collection, documents) =>
      act((open) =>
        together(open, () => documents.reduce((sum, each) => sum + putOne(open, collection, each, time.now()), 0)),
      ),
    async close() {
      connection?.close()
      connection = undefined
    },
  }
}

function putOne(connection: Connection, collection: string, given: NewDocument, now: number): number {
  const { id, status = 'pending', attempts = 0, lastAttemptAt = null, createdAt = now, document = {} } = given
  return connection
    .prepare(
      'INSERT INTO documents (collection, id, status, attempts, last_attempt_at, created_at, body) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
    )
    .run(collection, id, status, attempts, lastAttemptAt, createdAt, JSON.stringify(document)).changes
}

/** How many ids a group names. */
const GROUP_IDS = 5

function groupsIn(connection: Connection, { name, status }: CollectionShape): FailureGroup[] {
  const open = status.open.map(() => '?').join(', ')
  const rows = connection
    .prepare(
      `SELECT fingerprint, count(*) FILTER (WHERE status = ?) AS failed, count(*) FILTER (WHERE status IN (${open})) AS waiting,
         min(failed_at) AS firstAt, max(failed_at) AS lastAt, marks, json_group_array(id) AS ids
       FROM documents WHERE collection = ? AND failed_at IS NOT NULL AND (status = ? OR status IN (${open}))
       GROUP BY fingerprint ORDER BY count(*) DESC, fingerprint LIMIT 1000`,
    )
    .all(status.failed, ...status.open, name, status.failed, ...status.open) as {
    fingerprint: string
    failed: number
    waiting: number
    firstAt: number
    lastAt: number
    marks: string
    ids: string
  }[]
  return rows.map(({ marks, ids, ...counts }) => {
    const { failure } = JSON.parse(marks) as { failure: FailureGroup }
    const { kind, code, advice, message } = failure
    return { ...counts, kind, code, advice, message, ids: (JSON.parse(ids) as string[]).slice(0, GROUP_IDS) }
  })
}

/** Statements are few and used for ever: prepared once. */
function statementsKept(connection: Connection): Connection {
  const kept = new Map<string, ReturnType<Connection['prepare']>>()
  return {
    get inTransaction() {
      return connection.inTransaction
    },
    prepare(sql) {
      const known = kept.get(sql)
      if (known) return known
      const fresh = connection.prepare(sql)
      kept.set(sql, fresh)
      return fresh
    },
    exec: (sql) => connection.exec(sql),
    pragma: (sql, options) => connection.pragma(sql, options),
    close: () => connection.close(),
  }
}
