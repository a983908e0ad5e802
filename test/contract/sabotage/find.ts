/** Stores that read wrongly. */
import type { RunQuery } from '../../../src/ports/store.ts'
import { type Sabotage, type Shelf, without } from './bench.ts'

const ALL = 100_000

const filterIgnored =
  (...names: readonly (keyof RunQuery)[]): Sabotage =>
  ({ store }) => ({ find: (query) => store.find(without(query, ...names)) })

/** As a careless LIKE would have it. */
function likeOf(code: string): RegExp {
  const escaped = code.replaceAll(/[.+^${}()|[\]\\?]/g, '\\$&')
  return new RegExp(`^${escaped.replaceAll(/[%*]/g, '.*').replaceAll('_', '.')}$`, 'i')
}

export const findShelf: Shelf = {
  'get-by-key-blind': ({ store }) => ({ get: async (ref) => ('id' in ref ? store.get(ref) : undefined) }),
  'oldest-first': ({ store }) => ({
    find: async (query) => {
      const page = await store.find(query)
      return { ...page, runs: page.runs.toReversed() }
    },
  }),
  'cursor-by-offset': ({ store }) => ({
    find: async ({ cursor = '0', limit, ...query }) => {
      const { now, runs } = await store.find({ ...query, limit: ALL })
      const end = Number(cursor) + limit
      return { now, runs: runs.slice(Number(cursor), end), ...(end < runs.length ? { cursor: String(end) } : {}) }
    },
  }),
  'cursor-never-ends': ({ store }) => ({
    find: async (query) => {
      const page = await store.find(query)
      const last = page.runs.at(-1)
      return last ? { ...page, cursor: Buffer.from(last.id).toString('base64url') } : page
    },
  }),
  'filter-by-task-ignored': filterIgnored('tasks'),
  'filter-by-state-ignored': filterIgnored('states'),
  'filter-by-category-ignored': filterIgnored('categories'),
  'filter-by-code-ignored': filterIgnored('code', 'kinds'),
  'filter-by-key-ignored': filterIgnored('key'),
  'filter-by-time-ignored': filterIgnored('submittedAfter', 'submittedBefore', 'finishedBefore'),
  'running-not-derived': ({ store }) => ({
    find: ({ states, ...query }) => {
      const stored = states?.flatMap((state) =>
        state === 'ready' ? ['ready' as const, 'running' as const] : state === 'running' ? [] : state,
      )
      return store.find(stored ? { ...query, states: stored } : query)
    },
  }),
  'code-as-pattern': ({ store }) => ({
    find: async ({ code, limit, ...query }) => {
      if (code === undefined) return store.find({ ...query, limit })
      const page = await store.find({ ...query, limit: ALL })
      return { ...page, runs: page.runs.filter(({ failure }) => failure && likeOf(code).test(failure.code)) }
    },
  }),
  'count-forgets-running': ({ store }) => ({
    count: async (query) => (await store.count(query)).filter(({ state }) => state !== 'running'),
  }),
}
