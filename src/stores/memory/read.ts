/**
 * The readers of the memory driver: one run, pages, counts.
 * They change nothing, and nothing they answer with is shared with the rows.
 */
import type { RunPage, RunQuery, RunRef, RunView, StateCount } from '../../ports/store.ts'
import { STATES, type State } from '../../run/run.ts'
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
  const matching = [...tables.runs.values()].reverse().filter((row) => row.seq < before && matches(query, row, now))
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

export function count(tables: Tables, query: Omit<RunQuery, 'limit' | 'cursor'>, now: number): StateCount[] {
  const counts = new Map<string, Map<StateCount['state'], number>>()
  for (const row of tables.runs.values()) {
    if (!matches(query, row, now)) continue
    const ofTask = counts.get(row.lane.task) ?? new Map()
    counts.set(row.lane.task, ofTask.set(wordOf(row, now), (ofTask.get(wordOf(row, now)) ?? 0) + 1))
  }
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([task, ofTask]) => WORDS.flatMap((state) => ({ task, state, runs: ofTask.get(state) ?? 0 })))
    .filter(({ runs }) => runs > 0)
}

const WORDS: readonly (State | 'running')[] = [...STATES, 'running']

/** The state as readers say it: ready with a live lease is running. */
const wordOf = (row: Row, now: number): State | 'running' =>
  row.state === 'ready' && row.lease && row.lease.until > now ? 'running' : row.state

function matches(query: Omit<RunQuery, 'limit' | 'cursor'>, row: Row, now: number): boolean {
  const { tasks, states, categories, kinds, code, key, submittedAfter, submittedBefore, finishedBefore } = query
  return (
    among(tasks, row.lane.task) &&
    among(states, wordOf(row, now)) &&
    among(categories, row.lane.category) &&
    among(kinds, row.failure?.kind) &&
    (code === undefined || hasCode(row, code)) &&
    (key === undefined || row.key === key) &&
    (submittedAfter === undefined || row.submittedAt > submittedAfter) &&
    (submittedBefore === undefined || row.submittedAt < submittedBefore) &&
    (finishedBefore === undefined || (row.finishedAt ?? Number.POSITIVE_INFINITY) < finishedBefore)
  )
}

const among = <T>(allowed: readonly T[] | undefined, value: T | undefined): boolean =>
  allowed === undefined || (value !== undefined && allowed.includes(value))

function hasCode(row: Row, code: string): boolean {
  const own = row.failure?.code
  return own !== undefined && (code.endsWith('*') ? own.startsWith(code.slice(0, -1)) : own === code)
}
