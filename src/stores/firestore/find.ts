/**
 * The readers of the Firestore driver: one run, pages of runs, counts. They change nothing.
 * One filter is asked of Firestore, by an index that is shipped; the others are looked for in what it answers.
 */
import type { Query } from '@google-cloud/firestore'
import type { RunCriteria, RunPage, RunQuery, RunRef, RunView, StateCount } from '../../ports/store.ts'
import type { AttemptRecord } from '../../run/run.ts'
import { isTerminal, type StateWord } from '../../run/run.ts'
import { CountByState } from '../count-by-state.ts'
import { matchesQuery } from '../matches-query.ts'
import { read } from './look.ts'
import { attemptsOf, keyRef, type Place } from './place.ts'
import { type Row, splitId } from './row.ts'
import { docOf, nowOf, readRef, Unit } from './unit.ts'
import { renewedUntil, viewsOf } from './views.ts'

const PAGE = 200
const TASKS_MAX = 30

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

export async function count(place: Place, query: RunCriteria): Promise<StateCount[]> {
  const now = await nowOf(place)
  const counts = new CountByState()
  for await (const page of matching(place, query, now)) {
    const word = await words(place, page, now)
    for (const row of page) counts.add(row.lane.task, word(row), 1)
  }
  return counts.inOrder()
}

/** Rows that match, newest first, page by page. */
async function* matching(place: Place, query: RunCriteria, now: number, from?: string): AsyncGenerator<Row[]> {
  if (query.tasks?.length === 0) return
  const indexed = indexedQuery(place, query).orderBy('order', 'desc').limit(PAGE)
  let page = await read(place, from === undefined ? indexed : indexed.startAt(from))
  for (;;) {
    const rows = page.docs.flatMap((snapshot) => [...(docOf(place, snapshot)?.rows.values() ?? [])].reverse())
    const word = await words(place, rows, now)
    yield rows.filter((row) => matchesQuery(query, row, word(row)))
    const last = page.docs.at(-1)
    if (page.size < PAGE || !last) return
    page = await read(place, indexed.startAfter(last))
  }
}

/** The narrowest of what there is an index for. */
function indexedQuery({ runs }: Place, { key, tasks, states, finishedBefore }: RunCriteria): Query {
  if (key !== undefined) return runs.where('keys', 'array-contains', key)
  if (tasks && tasks.length <= TASKS_MAX) return runs.where('tasks', 'array-contains-any', tasks)
  const isOpen = finishedBefore === undefined && states?.every((state) => state === 'running' || !isTerminal(state))
  return isOpen ? runs.where('open', '==', true) : runs
}

async function words(place: Place, rows: readonly Row[], now: number): Promise<(row: Row) => StateWord> {
  const until = await renewedUntil(
    place,
    rows.filter(({ state, lease }) => state === 'ready' && lease),
  )
  return (row) => (row.state === 'ready' && (until.get(row.id) ?? 0) > now ? 'running' : row.state)
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
