/**
 * Writes to documents, each a compare-and-swap by itself; a call is one transaction, so that a thousand of them cost one sync.
 * It decides nothing: what is expected and what is set is the caller's.
 */
import type { CollectionShape, DocumentChange, Expected } from '../../ports/source.ts'
import type { Connection, SqlValue } from './connection.ts'
import { columnsOf } from './row.ts'

type Answer = 'ok' | 'lost'

interface Clause {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

function expectation({ key, rev, status, attempts, lastAttemptAt }: Expected): Clause {
  const parts = ['seq = ?', 'rev = ?']
  const values: SqlValue[] = [key as number, rev]
  if (status !== undefined) {
    parts.push('status = ?')
    values.push(status)
  }
  if (attempts !== undefined) {
    parts.push('attempts = ?')
    values.push(attempts)
  }
  if (lastAttemptAt !== undefined) {
    parts.push('last_attempt_at IS ?')
    values.push(lastAttemptAt)
  }
  return { sql: parts.join(' AND '), values }
}

/** `change` for all, in one transaction. Nothing is written if anything throws. */
export function changeAll(connection: Connection, changes: readonly DocumentChange[]): Answer[] {
  return together(connection, () => changes.map((change) => changeOne(connection, change)))
}

function changeOne(connection: Connection, change: DocumentChange): Answer {
  const sets: string[] = []
  const values: SqlValue[] = []
  const set = (column: string, value: SqlValue | undefined) => {
    if (value === undefined) return
    sets.push(`${column} = ?`)
    values.push(value)
  }
  set('status', change.status)
  set('attempts', change.attempts)
  set('last_attempt_at', change.lastAttemptAt)
  if (change.marks) {
    const columns = ['marks', 'due_at', 'failed_at', 'fingerprint', 'code', 'unsent_until']
    columnsOf(change.marks).forEach((value, index) => {
      set(columns[index] as string, value)
    })
    sets.push('rev = rev + 1')
  }
  const where = expectation(change.expect)
  const sql = `UPDATE documents SET ${sets.join(', ')} WHERE ${where.sql}`
  return connection.prepare(sql).run(...values, ...where.values).changes === 1 ? 'ok' : 'lost'
}

export function removeAll(connection: Connection, items: readonly Expected[]): Answer[] {
  return together(connection, () =>
    items.map((item) => {
      const where = expectation(item)
      return connection.prepare(`DELETE FROM documents WHERE ${where.sql}`).run(...where.values).changes === 1
        ? 'ok'
        : 'lost'
    }),
  )
}

/** Here both halves are one transaction, and a document that is there already under its id is replaced. */
export function moveAll(
  connection: Connection,
  shape: CollectionShape,
  to: string,
  items: readonly Expected[],
): Answer[] {
  return together(connection, () =>
    items.map((item) => {
      const where = expectation(item)
      connection
        .prepare(
          `DELETE FROM documents WHERE collection = ? AND id = ? AND EXISTS (SELECT 1 FROM documents WHERE ${where.sql})`,
        )
        .run(to, item.id, ...where.values)
      const sql = `UPDATE documents SET collection = ? WHERE ${where.sql} AND collection = ?`
      return connection.prepare(sql).run(to, ...where.values, shape.name).changes === 1 ? 'ok' : 'lost'
    }),
  )
}

export function together<T>(connection: Connection, act: () => T): T {
  connection.exec('BEGIN IMMEDIATE')
  try {
    const answer = act()
    connection.exec('COMMIT')
    return answer
  } catch (error) {
    if (connection.inTransaction) connection.exec('ROLLBACK')
    throw error
  }
}
