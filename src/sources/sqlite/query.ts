/**
 * Which documents, as SQL: for each question the condition, the column it is ordered by and the index that serves it.
 * Several statuses are several ranges of one index, merged here, so that a page costs its own size and not that of the backlog.
 */
import type { CollectionShape, DocumentPage, DocumentQuery, Where } from '../../ports/source.ts'
import type { Connection, SqlValue } from './connection.ts'
import { documentOf, ROW, type Row } from './row.ts'

interface Condition {
  /** Absent: the status is part of the condition or does not matter. */
  readonly statuses?: readonly string[]
  readonly sql: string
  readonly values: readonly SqlValue[]
  /** What `oldest` is ordered by. */
  readonly order: string
}

const QUIET = 'coalesce(last_attempt_at, created_at)'

function conditionOf({ status }: CollectionShape, where: Where): Condition {
  const open = `status IN (${status.open.map(() => '?').join(', ')})`
  switch (where.is) {
    case 'due':
      return { sql: `due_at <= ? AND ${open}`, values: [where.by, ...status.open], order: 'due_at' }
    case 'waiting':
      return { sql: `due_at > ? AND ${open}`, values: [where.after, ...status.open], order: 'due_at' }
    // Rows have their creation, so every age is known.
    case 'silent':
    case 'stuck':
      return {
        statuses: status.open,
        sql: `${QUIET} < ? AND due_at IS NULL AND unsent_until IS NULL`,
        values: [where.before],
        order: QUIET,
      }
    case 'unsent':
      return { sql: 'unsent_until < ?', values: [where.before], order: 'unsent_until' }
    case 'failed':
      return { statuses: [status.failed], sql: 'TRUE', values: [], order: 'created_at' }
    case 'open':
      return { statuses: status.open, sql: 'TRUE', values: [], order: 'created_at' }
    case 'processed':
      return { statuses: status.done, sql: 'last_attempt_at >= ?', values: [where.since], order: 'last_attempt_at' }
    case 'troubled':
      return {
        sql: `failed_at >= ? AND status NOT IN (${status.done.map(() => '?').join(', ')})`,
        values: [where.since, ...status.done],
        order: 'failed_at',
      }
  }
}

function filterOf({ filter }: Where): { readonly sql: string; readonly values: readonly SqlValue[] } {
  const parts: string[] = []
  const values: SqlValue[] = []
  if (filter?.ids) {
    parts.push('id IN (SELECT value FROM json_each(?))')
    values.push(JSON.stringify(filter.ids))
  }
  if (filter?.code !== undefined) {
    parts.push(filter.code.endsWith('*') ? "code GLOB ? || '*'" : 'code = ?')
    values.push(filter.code.endsWith('*') ? filter.code.slice(0, -1).replace(/[*?[]/g, '[$&]') : filter.code)
  }
  if (filter?.fingerprint !== undefined) {
    parts.push('fingerprint = ?')
    values.push(filter.fingerprint)
  }
  return { sql: parts.map((part) => ` AND ${part}`).join(''), values }
}

export function findIn(connection: Connection, shape: CollectionShape, query: DocumentQuery): DocumentPage {
  const { where, order: wish = 'oldest', limit, cursor } = query
  const condition = conditionOf(shape, where)
  const filter = filterOf(where)
  const [column, direction, beyond] = wish === 'recent' ? ['created_at', 'DESC', '<'] : [condition.order, 'ASC', '>']
  const after = cursor === undefined ? undefined : (JSON.parse(cursor) as readonly [at: number, id: string])
  const rows: (Row & { readonly at: number })[] = []
  for (const status of condition.statuses ?? [undefined]) {
    const sql = `SELECT ${ROW}, ${column} AS at FROM documents WHERE collection = ? ${status === undefined ? '' : 'AND status = ?'}
      AND ${condition.sql}${filter.sql} ${after ? `AND (${column}, id) ${beyond} (?, ?)` : ''} ORDER BY ${column} ${direction}, id ${direction} LIMIT ?`
    const values = [
      shape.name,
      ...(status === undefined ? [] : [status]),
      ...condition.values,
      ...filter.values,
      ...(after ?? []),
      limit,
    ]
    rows.push(...(connection.prepare(sql).all(...values) as (Row & { readonly at: number })[]))
  }
  const sign = wish === 'recent' ? -1 : 1
  rows.sort((a, b) => sign * (a.at - b.at || (a.id < b.id ? -1 : 1)))
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    documents: page.map((row) => documentOf(row, shape)),
    ...(last && rows.length >= limit ? { cursor: JSON.stringify([last.at, last.id]) } : {}),
  }
}

export function countIn(connection: Connection, shape: CollectionShape, where: Where): number {
  const condition = conditionOf(shape, where)
  const filter = filterOf(where)
  let sum = 0
  for (const status of condition.statuses ?? [undefined]) {
    const sql = `SELECT count(*) AS documents FROM documents WHERE collection = ? ${status === undefined ? '' : 'AND status = ?'} AND ${condition.sql}${filter.sql}`
    const values = [shape.name, ...(status === undefined ? [] : [status]), ...condition.values, ...filter.values]
    sum += (connection.prepare(sql).get(...values) as { documents: number }).documents
  }
  return sum
}
