/**
 * The readers of the memory driver: one run, pages, counts.
 * They change nothing, and nothing they answer with is shared with the rows.
 */
import type { RunCriteria, RunPage, RunQuery, RunRef, RunView, StateCount } from '../../ports/store.ts'
import { wordOf } from '../../run/run.ts'
import { CountByState } from '../count-by-state.ts'
import { matchesQuery } from '../matches-query.ts'
import { joined, type Row, type Tables, viewOf } from './rows.ts'

export function get(tables: Tables, ref: RunRef): RunView | undefined {
  const id = 'id' in ref ? ref.id : tables.keys.get(joined(ref.task, ref.key))?.run
  const row = id === undefined ? undefined : tables.runs.get(id)
  return row && viewOf(row)
}

export function find(tables: Tables, query: RunQuery, now: number): RunPage {
  if (!Number.isInteger(query.limit) || query.limit < 1) {
    throw new RangeError(`limit: ${query.limit}; allowed are whole numbers from 1`)
  }
  const before = query.cursor === undefined ? Number.POSITIVE_INFINITY : readCursor(query.cursor)
  const matching = [...tables.runs.values()]
    .reverse()
    .filter((row) => row.seq < before && matchesQuery(query, row, wordOf(row, now)))
  const page = matching.slice(0, query.limit)
  const last = page.at(-1)
  const more = last !== undefined && matching.length > page.length
  return { now, runs: page.map(viewOf), ...(more ? { cursor: writeCursor(last) } : {}) }
}

/** A cursor names the last row seen, so rows that are added meanwhile shift nothing. */
const writeCursor = (row: Row): string => Buffer.from(row.id).toString('base64url')

function readCursor(cursor: string): number {
  const [, seq] = /^r(\d+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (seq === undefined) {
    throw new RangeError(`cursor: ${JSON.stringify(cursor.slice(0, 40))}; allowed is the cursor of a page before`)
  }
  return Number(seq)
}

export function count(tables: Tables, query: RunCriteria, now: number): StateCount[] {
  const counts = new CountByState()
  for (const row of tables.runs.values()) {
    const word = wordOf(row, now)
    if (matchesQuery(query, row, word)) counts.add(row.lane.task, word, 1)
  }
  return counts.inOrder()
}
