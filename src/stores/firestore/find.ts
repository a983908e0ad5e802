/**
 * The readers of the Firestore driver: one run, pages of runs, counts. They change nothing.
 * One filter is asked of Firestore, by an index that is shipped; the others are looked for in what it answers.
 */
import type { Query } from '@google-cloud/firestore'
import type { RunPage, RunQuery, RunRef, RunView, StateCount } from '../../ports/store.ts'
import type { AttemptRecord } from '../../run/run.ts'
import { isTerminal, STATES, type State } from '../../run/run.ts'
import { read } from './look.ts'
import { attemptsOf, keyRef, type Place } from './place.ts'
import { type Row, splitId } from './row.ts'
import { docOf, nowOf, readRef, Unit } from './unit.ts'
import { renewedUntil, viewsOf } from './views.ts'

const PAGE = 200
const TASKS_MAX = 30

type Filter = Omit<RunQuery, 'limit' | 'cursor'>

export async function get(place: Place, ref: RunRef): Promise<RunView | undefined> {
  const run = 'id' in ref ? ref.id : await runByKey(place, ref.task, ref.key)
  const row = run === undefined ? undefined : await new Unit(place, 0).row(run)
  if (!row) return undefined
  const [view] = await viewsOf(place, [row])
  return view
}

async function runByKey(place: Place, task: string, key: string): Promise<string | undefined> {
  const known = await readRef(place, keyRef(place, task, key))
  return known.exists ? String(known.get('run')) : undefined
}

export async function find(place: Place, query: RunQuery): Promise<RunPage> {
  const { limit, cursor } = query
  if (!Number.isInteger(limit) || limit < 1) throw new RangeError(`limit: ${limit}; allowed are whole numbers from 1`)
  const before = cursor === undefined ? undefined : readCursor(cursor)
  const now = await nowOf(place)
  const rows: Row[] = []
  for await (const page of matching(place, query, now, before?.order)) {
    rows.push(...page.filter((row) => !before || row.doc.order !== before.order || row.n < before.n))
    if (rows.length > limit) break
  }
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const more = last !== undefined && rows.length > limit
  return { now, runs: await viewsOf(place, shown), ...(more ? { cursor: writeCursor(last) } : {}) }
}

/** A cursor names the last row seen, so rows that are added meanwhile shift nothing. */
const writeCursor = ({ doc, n }: Row): string => Buffer.from(`${doc.order}/${n}`).toString('base64url')

function readCursor(cursor: string): { readonly order: string; readonly n: number } {
  const [, order, n] = /^([A-Za-z0-9][A-Za-z0-9_-]*)\/(\d+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (order === undefined || n === undefined)
    throw new RangeError(`cursor: ${JSON.stringify(cursor.slice(0, 40))}; allowed is the cursor of a page before`)
  return { order, n: Number(n) }
}

export async function count(place: Place, query: Filter): Promise<StateCount[]> {
  const now = await nowOf(place)
  const counts = new Map<string, Map<StateCount['state'], number>>()
  for await (const page of matching(place, query, now)) {
    const word = await words(place, page, now)
    for (const row of page) {
      const ofTask = counts.get(row.lane.task) ?? new Map<StateCount['state'], number>()
      counts.set(row.lane.task, ofTask.set(word(row), (ofTask.get(word(row)) ?? 0) + 1))
    }
  }
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([task, ofTask]) => WORDS.flatMap((state) => ({ task, state, runs: ofTask.get(state) ?? 0 })))
    .filter(({ runs }) => runs > 0)
}

const WORDS: readonly (State | 'running')[] = [...STATES, 'running']

/** Rows that match, newest first, page by page. */
async function* matching(place: Place, query: Filter, now: number, from?: string): AsyncGenerator<Row[]> {
  if (query.tasks?.length === 0) return
  const indexed = indexedQuery(place, query).orderBy('order', 'desc').limit(PAGE)
  let page = await read(place, from === undefined ? indexed : indexed.startAt(from))
  for (;;) {
    const rows = page.docs.flatMap((snapshot) => [...(docOf(place, snapshot)?.rows.values() ?? [])].reverse())
    const word = await words(place, rows, now)
    yield rows.filter((row) => matches(query, row, word(row)))
    const last = page.docs.at(-1)
    if (page.size < PAGE || !last) return
    page = await read(place, indexed.startAfter(last))
  }
}

/** The narrowest of what there is an index for. */
function indexedQuery({ runs }: Place, { key, tasks, states, finishedBefore }: Filter): Query {
  if (key !== undefined) return runs.where('keys', 'array-contains', key)
  if (tasks && tasks.length <= TASKS_MAX) return runs.where('tasks', 'array-contains-any', tasks)
  const isOpen = finishedBefore === undefined && states?.every((state) => state === 'running' || !isTerminal(state))
  return isOpen ? runs.where('open', '==', true) : runs
}

/** The state as readers say it: ready with a live lease is running. */
async function words(place: Place, rows: readonly Row[], now: number): Promise<(row: Row) => State | 'running'> {
  const until = await renewedUntil(
    place,
    rows.filter(({ state, lease }) => state === 'ready' && lease),
  )
  return (row) => (row.state === 'ready' && (until.get(row.id) ?? 0) > now ? 'running' : row.state)
}

function matches(query: Filter, row: Row, word: State | 'running'): boolean {
  const { tasks, states, categories, kinds, code, key, submittedAfter, submittedBefore, finishedBefore } = query
  return (
    among(tasks, row.lane.task) &&
    among(states, word) &&
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

/** Every document, oldest first, for checks of the whole store. */
export async function* everything(place: Place): AsyncGenerator<Row[]> {
  const ordered = place.runs.orderBy('order').limit(PAGE)
  let page = await read(place, ordered)
  for (;;) {
    yield page.docs.flatMap((snapshot) => [...(docOf(place, snapshot)?.rows.values() ?? [])])
    const last = page.docs.at(-1)
    if (page.size < PAGE || !last) return
    page = await read(place, ordered.startAfter(last))
  }
}

export async function attempts(place: Place, run: string): Promise<AttemptRecord[]> {
  const parts = splitId(run)
  if (!parts) return []
  const page = await read(place, attemptsOf(place, parts.doc).where('step', '==', parts.step))
  return page.docs
    .map((snapshot) => snapshot.data())
    .sort((a, b) => Number(a['place']) - Number(b['place']))
    .map((data) => JSON.parse(String(data['row'])) as AttemptRecord)
}
