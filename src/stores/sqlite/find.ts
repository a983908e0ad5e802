/**
 * `find` and `count`: the primary key from the newest row down, a bounded stretch at a time, so that neither a long walk nor a
 * large file holds up the event loop. Failed and review runs, leased ones and keys have indexes of their own.
 */
import type { RunCriteria, RunPage, RunQuery, StateCount } from '../../ports/store.ts'
import { STATE_WORDS, type StateWord } from '../../run/run.ts'
import { turn } from '../../time/clock.ts'
import { CountByState } from '../count-by-state.ts'
import type { SqlValue } from './connection.ts'
import { type Readers, viewSql } from './read.ts'
import { idOf, numberOf, STATE_NUMBER, stateOf, type ViewRow, viewOf } from './row.ts'

/** Rows looked at before others may run: some milliseconds. */
const STRETCH = 10_000

/** The most that one page holds, whatever was asked for. */
const PAGE_MAX = 10_000

export async function find(readers: Readers, query: RunQuery, now: number): Promise<RunPage> {
  if (!Number.isInteger(query.limit) || query.limit < 1) {
    throw new RangeError(`limit: ${query.limit}; allowed are whole numbers from 1`)
  }
  const limit = Math.min(query.limit, PAGE_MAX)
  const { where, values } = conditions(query, now)
  const rows: ViewRow[] = []
  let before = query.cursor === undefined ? newest(readers) + 1 : readCursor(query.cursor)
  const index = indexOf(query)
  const stretch = index === undefined ? STRETCH : Number.MAX_SAFE_INTEGER
  // One more than asked for, to know whether there is another page.
  while (before > 1 && rows.length <= limit) {
    const from = Math.max(1, before - stretch)
    const sql = `${viewSql(index)} WHERE run.id < ? AND run.id >= ?${where} ORDER BY run.id DESC LIMIT 0 + ?`
    rows.push(...readers.all<ViewRow>(sql, before, from, ...values, limit + 1 - rows.length))
    before = from
    if (before > 1 && rows.length <= limit) await turn()
  }
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const more = last !== undefined && rows.length > limit
  return { now, runs: page.map(viewOf), ...(more ? { cursor: writeCursor(last.id) } : {}) }
}

export async function count(readers: Readers, query: RunCriteria, now: number): Promise<StateCount[]> {
  const { where, values } = conditions(query, now)
  const counts = new CountByState()
  for (let before = newest(readers) + 1; before > 1; before = Math.max(1, before - STRETCH)) {
    const rows = readers.all<{ task: string; state: number; live: number; runs: number }>(
      `SELECT lane.task, run.state, run.state = 1 AND run.lease_until > ? AS live, count(*) AS runs
      FROM reprise_run AS run CROSS JOIN reprise_lane AS lane ON lane.id = run.lane
      WHERE run.id < ? AND run.id >= ?${where} GROUP BY 1, 2, 3`,
      now,
      before,
      Math.max(1, before - STRETCH),
      ...values,
    )
    for (const { task, state, live, runs } of rows) counts.add(task, live === 1 ? 'running' : stateOf(state), runs)
    await turn()
  }
  return counts.inOrder()
}

const newest = (readers: Readers): number =>
  readers.all<{ id: number }>('SELECT id FROM reprise_run ORDER BY id DESC LIMIT 1')[0]?.id ?? 0

/** The index that the filters lead to, so that the walk is short however many runs there are; empty: by the key's own. */
function indexOf({ states, key }: RunCriteria): string | undefined {
  if (key !== undefined) return ''
  return states?.length === 1 ? STATE_INDEX[states[0] as StateWord] : undefined
}

const STATE_INDEX: Partial<Record<StateWord, string>> = {
  failed: 'INDEXED BY reprise_failed',
  review: 'INDEXED BY reprise_review',
  running: 'INDEXED BY reprise_leased',
}

/** All values are bound; what is put into the text is ours alone. */
export function conditions(
  query: RunCriteria,
  now: number,
): { readonly where: string; readonly values: readonly SqlValue[] } {
  const { tasks, states, categories, kinds, code, key, submittedAfter, submittedBefore, finishedBefore } = query
  const parts: string[] = []
  const values: SqlValue[] = []
  const add = (part: string, ...bound: SqlValue[]) => {
    parts.push(` AND ${part}`)
    values.push(...bound)
  }
  if (key !== undefined)
    add(
      'run.key = ? AND run.id IN (SELECT run FROM reprise_key WHERE key = ? AND task IN (SELECT task FROM reprise_lane))',
      key,
      key,
    )
  if (tasks) add('lane.task IN (SELECT value FROM json_each(?))', JSON.stringify(tasks))
  if (categories) add('lane.category IN (SELECT value FROM json_each(?))', JSON.stringify(categories))
  if (states) {
    const alternatives = states.map(stateIs)
    add(`(${alternatives.join(' OR ') || 'false'})`, ...alternatives.flatMap((part) => (part.includes('?') ? now : [])))
  }
  if (kinds) add("run.failure ->> 'kind' IN (SELECT value FROM json_each(?))", JSON.stringify(kinds))
  if (code?.endsWith('*')) add("substr(run.failure ->> 'code', 1, ?) = ?", code.length - 1, code.slice(0, -1))
  else if (code !== undefined) add("run.failure ->> 'code' = ?", code)
  if (submittedAfter !== undefined) add('run.submitted_at > ?', submittedAfter)
  if (submittedBefore !== undefined) add('run.submitted_at < ?', submittedBefore)
  if (finishedBefore !== undefined) add('run.finished_at < ?', finishedBefore)
  return { where: parts.join(''), values }
}

/** Numbers as literals, because a partial index is used for nothing else. Each `?` is the present time. */
function stateIs(word: StateWord): string {
  if (word === 'running') return '(run.state = 1 AND run.lease_until > ?)'
  if (word === 'ready') return '(run.state = 1 AND coalesce(run.lease_until <= ?, true))'
  const number = STATE_NUMBER[word]
  if (number === undefined)
    throw new RangeError(`states: ${JSON.stringify(word)}; allowed are ${STATE_WORDS.join(', ')}`)
  return `run.state = ${number}`
}

/** A cursor names the last row seen, so rows that are added meanwhile shift nothing. */
const writeCursor = (run: number): string => Buffer.from(idOf(run)).toString('base64url')

function readCursor(cursor: string): number {
  const run = numberOf(Buffer.from(cursor, 'base64url').toString())
  if (run === 0)
    throw new RangeError(`cursor: ${JSON.stringify(cursor.slice(0, 40))}; allowed is the cursor of a page before`)
  return run
}
