/**
 * Lists of runs as people read them: the state's word, the marks of its attempts, what it does now and why.
 * Everything comes from the store's own query; only texts are looked for here, within a bound.
 */
import type { Kind } from '../failure/failure.ts'
import type { HoldView, RunView, Store } from '../ports/store.ts'
import { type State, type StateWord, wordOf } from '../run/run.ts'
import { type FilterOptions, type FilterToken, type RunFilter, withoutToken } from './filter.ts'
import { headline } from './headline.ts'
import { marksOf } from './story-entries.ts'

/** Runs per look at the store. */
const PAGE = 500

/** A text has no index: past this many runs the search stops and says so. */
const LOOKED_MAX = 50_000

export interface RunRow {
  readonly run: RunView
  readonly word: StateWord
  /** One per attempt, the newest 16. */
  readonly marks: readonly (Kind | State)[]
  /** What it does now and why. */
  readonly sentence: string
  readonly ageMs: number
}

export interface FoundRuns {
  readonly now: number
  readonly runs: readonly RunRow[]
  /** There are more that match. */
  readonly more: boolean
  /** The search for a text stopped before the oldest run. */
  readonly partial: boolean
}

export interface FindOptions {
  readonly limit: number
  readonly zone?: string
}

/** Newest first. */
export async function findRuns(store: Store, filter: RunFilter, options: FindOptions): Promise<FoundRuns> {
  const found: RunView[] = []
  const search = matchingRuns(store, filter, { page: Math.min(PAGE, options.limit + 1) })
  let end: SearchEnd | undefined
  while (found.length <= options.limit) {
    const step = await search.next()
    if (step.done) {
      end = step.value
      break
    }
    found.push(step.value)
  }
  const { now } = end ?? (await store.find({ limit: 1 }))
  const shown = found.slice(0, options.limit)
  const { holds } = await store.holds()
  const rows = await Promise.all(shown.map((run) => rowOf(store, run, now, options.zone, holds)))
  return { now, runs: rows, more: found.length > options.limit, partial: end?.partial ?? false }
}

interface SearchEnd {
  readonly now: number
  readonly partial: boolean
}

/** Every run that matches, newest first, a page at a time. */
export async function* matchingRuns(
  store: Store,
  filter: RunFilter,
  options: { readonly page?: number } = {},
): AsyncGenerator<RunView, SearchEnd> {
  const query = await queryOf(store, filter)
  const limit = filter.texts.length > 0 ? PAGE : (options.page ?? PAGE)
  let looked = 0
  let cursor: string | undefined
  for (;;) {
    const page = await store.find({ ...query, limit, ...(cursor === undefined ? {} : { cursor }) })
    looked += page.runs.length
    for (const run of page.runs) if (hasTexts(run, filter.texts)) yield run
    cursor = page.cursor
    if (cursor === undefined) return { now: page.now, partial: false }
    if (filter.texts.length > 0 && looked >= LOOKED_MAX) return { now: page.now, partial: true }
  }
}

/** How many runs match, by state; texts are not looked for. */
export async function countRuns(store: Store, filter: RunFilter): Promise<number> {
  const counts = await store.count(await queryOf(store, filter))
  return counts.reduce((sum, { runs }) => sum + runs, 0)
}

/** For an empty list: what there would be without each of the filters, most first. */
export async function countsWithout(
  store: Store,
  filter: RunFilter,
  options: FilterOptions,
): Promise<readonly { readonly token: FilterToken; readonly runs: number }[]> {
  const counts = filter.tokens.map(async (token) => {
    const wider = withoutToken(filter, token, options)
    // A text that is still there cannot be counted, so nothing is said about that one.
    return { token, runs: wider.texts.length > 0 ? 0 : await countRuns(store, wider) }
  })
  return (await Promise.all(counts)).filter(({ runs }) => runs > 0).sort((a, b) => b.runs - a.runs)
}

async function queryOf(store: Store, { query, taskPrefixes }: RunFilter): Promise<RunFilter['query']> {
  if (taskPrefixes.length === 0) return query
  const tasks = new Set((await store.count({})).map(({ task }) => task))
  const meant = [...tasks].filter((task) => taskPrefixes.some((prefix) => task.startsWith(prefix)))
  return { ...query, tasks: [...(query.tasks ?? []), ...meant] }
}

function hasTexts({ id, key, task, input, failure }: RunView, texts: readonly string[]): boolean {
  if (texts.length === 0) return true
  const words = [id, key, task, input, failure?.code, failure?.message].join('\n').toLowerCase()
  return texts.every((text) => words.includes(text))
}

async function rowOf(
  store: Store,
  run: RunView,
  now: number,
  zone: string | undefined,
  holds: readonly HoldView[],
): Promise<RunRow> {
  // A first attempt without a failure has no history; most rows of a list are such.
  const isPlain = run.attempt <= 1 && run.generation === 1 && run.failure === undefined
  const history = isPlain ? [] : await store.attempts(run.id)
  return {
    run,
    word: wordOf(run, now),
    marks: marksOf(history),
    sentence: headline(run, now, zone, holds),
    ageMs: Math.max(0, now - run.submittedAt),
  }
}
