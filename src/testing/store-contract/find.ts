/**
 * Laws of the readers: one run, pages that do not shift, filters that mean what they say, counts.
 */
import assert from 'node:assert/strict'
import type { NewRun, RunQuery } from '../../ports/store.ts'
import { subject } from './law.ts'
import { CANCELLED, FAILURE, keyed, newRun, type World } from './world.ts'

async function pages(
  world: World,
  query: Omit<RunQuery, 'limit'>,
  limit: number,
  between = async () => {},
): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const page = await world.store.find({ ...query, limit, ...(cursor === undefined ? {} : { cursor }) })
    assert.equal(page.now, world.now)
    assert.ok(page.runs.length <= limit, 'a page has no more than its limit')
    ids.push(...page.runs.map(({ id }) => id))
    cursor = page.cursor
    assert.ok(ids.length < 1_000, 'the pages end')
    await between()
  } while (cursor !== undefined)
  return ids
}

const found = async (world: World, query: Omit<RunQuery, 'limit'>): Promise<string[]> => pages(world, query, 100)

export const findLaws = subject('find', {
  'get answers by id and by key, and with nothing for what is not there': [
    'get-by-key-blind',
    async (world) => {
      const id = await world.submit(keyed('k'))
      const view = await world.view(id)
      assert.deepEqual(await world.store.get({ task: 't', key: 'k' }), view)
      for (const ref of [{ id: 'nobody' }, { task: 't', key: 'x' }, { task: 'x', key: 'k' }, { id: '' }])
        assert.equal(await world.store.get(ref), undefined)
    },
  ],
  'newest first': [
    'oldest-first',
    async (world) => {
      const { runs } = await world.store.create(Array.from({ length: 12 }, () => newRun()))
      await world.clock.advance(5)
      const last = await world.submit({ priority: -5 })
      const ids = runs.map((run) => (run === 'conflict' ? run : run.id))
      assert.deepEqual(await found(world, {}), [last, ...ids.toReversed()])
    },
  ],
  'rows added meanwhile do not shift the pages': [
    'cursor-by-offset',
    async (world) => {
      const { runs } = await world.store.create(Array.from({ length: 10 }, () => newRun()))
      const ids = runs.map((run) => (run === 'conflict' ? run : run.id))
      const seen = await pages(world, {}, 3, async () => {
        await world.store.create([newRun(), newRun()])
      })
      assert.deepEqual(seen, ids.toReversed())
    },
  ],
  'the last page has no cursor, also when it is full': [
    'cursor-never-ends',
    async (world) => {
      await world.store.create([newRun(), newRun(), newRun(), newRun()])
      const first = await world.store.find({ limit: 2 })
      assert.ok(first.cursor)
      const rest = await world.store.find({ limit: 4, cursor: first.cursor })
      assert.deepEqual([rest.runs.length, rest.cursor], [2, undefined])
    },
  ],
  'a filter by task': [
    'filter-by-task-ignored',
    async (world) => {
      const t = await world.submit()
      const u = await world.submit({ task: 'u' })
      await world.submit({ task: 'v' })
      assert.deepEqual(await found(world, { tasks: ['u', 't'] }), [u, t])
      assert.deepEqual(await found(world, { tasks: [] }), [])
    },
  ],
  'a filter by state': [
    'filter-by-state-ignored',
    async (world) => {
      const ended = await world.hold()
      await world.end(ended)
      const waiting = await world.submit({ dueAt: world.now + 10 })
      const ready = await world.submit()
      assert.deepEqual(await found(world, { states: ['succeeded'] }), [ended.run])
      assert.deepEqual(await found(world, { states: ['waiting', 'ready'] }), [ready, waiting])
    },
  ],
  'running is ready with a live lease, and ready is without one': [
    'running-not-derived',
    async (world) => {
      const held = await world.hold()
      const ready = await world.submit()
      assert.deepEqual(await found(world, { states: ['running'] }), [held.run])
      assert.deepEqual(await found(world, { states: ['ready'] }), [ready])
      assert.deepEqual(await found(world, { states: ['ready', 'running'] }), [ready, held.run])
      await world.outliveLeases()
      assert.deepEqual(await found(world, { states: ['running'] }), [])
      assert.deepEqual(await found(world, { states: ['ready'] }), [ready, held.run])
    },
  ],
  'a filter by category': [
    'filter-by-category-ignored',
    async (world) => {
      await world.submit()
      const b = await world.submit({ category: 'b' })
      await world.submit({ category: 'c' })
      assert.deepEqual(await found(world, { categories: ['b', 'x'] }), [b])
    },
  ],
  'a filter by the kind and by the code of the failure': [
    'filter-by-code-ignored',
    async (world) => {
      const ids: string[] = []
      for (const [kind, code] of [
        ['transient', 'http.503'],
        ['final', 'http.404'],
        ['transient', 'httpx'],
      ] as const) {
        const held = await world.hold()
        await world.end(held, { state: 'review', suspensions: 1, failure: { ...FAILURE, kind, code } })
        ids.push(held.run)
      }
      await world.submit()
      const [a, b, c] = ids
      assert.deepEqual(await found(world, { kinds: ['transient'] }), [c, a])
      assert.deepEqual(await found(world, { kinds: ['final', 'refused'] }), [b])
      assert.deepEqual(await found(world, { code: 'http.503' }), [a])
      assert.deepEqual(await found(world, { code: 'http.*' }), [b, a])
      assert.deepEqual(await found(world, { code: 'http*' }), [c, b, a])
      assert.deepEqual(await found(world, { code: 'http' }), [])
    },
  ],
  'a code is text: no other sign in it is a wildcard': [
    'code-as-pattern',
    async (world) => {
      const codes = ['a%b', 'axb', 'a_b', 'a*b', 'A%B', 'a?b', 'a[b', 'a\\b']
      for (const code of codes) {
        const held = await world.hold()
        await world.end(held, { state: 'review', suspensions: 1, failure: { ...FAILURE, code } })
      }
      const matched = async (code: string) =>
        (await world.store.find({ code, limit: 100 })).runs.map(({ failure }) => failure?.code)
      for (const code of codes) assert.deepEqual(await matched(code), [code])
      assert.deepEqual(await matched('a%*'), ['a%b'])
      assert.deepEqual(await matched('a_*'), ['a_b'])
      assert.deepEqual(await matched('a[*'), ['a[b'])
      assert.deepEqual(await matched('%*'), [])
    },
  ],
  'a filter by key': [
    'filter-by-key-ignored',
    async (world) => {
      await world.submit(keyed('k1'))
      await world.submit()
      const ids = [await world.submit(keyed('k2', { task: 'u' })), await world.submit(keyed('k2'))]
      assert.deepEqual(await found(world, { key: 'k2' }), ids.toReversed())
    },
  ],
  'a filter by the time of submit': [
    'filter-by-time-ignored',
    async (world) => {
      const start = world.now
      const ids: string[] = []
      for (let n = 0; n < 4; n += 1) {
        ids.push(await world.submit())
        await world.clock.advance(1_000)
      }
      assert.deepEqual(await found(world, { submittedAfter: start + 500, submittedBefore: start + 2_500 }), [
        ids[2],
        ids[1],
      ])
      assert.deepEqual(await found(world, { submittedAfter: start + 2_500 }), [ids[3]])
    },
  ],
  'filter by the time of the end: what has not ended is not found': [
    'filter-by-time-ignored',
    async (world) => {
      const early = await world.hold()
      await world.end(early)
      await world.clock.advance(1_000)
      const late = await world.hold()
      await world.end(late)
      await world.submit()
      assert.deepEqual(await found(world, { finishedBefore: world.now }), [early.run])
      assert.deepEqual(await found(world, { finishedBefore: world.now + 1 }), [late.run, early.run])
      const counted = await world.store.count({ finishedBefore: world.now + 1 })
      assert.deepEqual(counted, [{ task: 't', state: 'succeeded', runs: 2 }])
    },
  ],
  'filters hold together, on every page': [
    'filter-by-task-ignored filter-by-state-ignored cursor-by-offset',
    async (world) => {
      const cancelled = async (run: Partial<NewRun>): Promise<string> => {
        const id = await world.submit(run)
        const expect = { generation: 1, states: ['ready'] } as const
        await world.store.steer({ run: id, type: 'cancel', by: 'ann', why: CANCELLED, expect })
        return id
      }
      const expected: string[] = []
      for (let n = 0; n < 12; n += 1) {
        const run = { task: n % 2 ? 't' : 'u', category: n % 3 ? 'b' : 'c' }
        const id = n % 4 < 2 ? await cancelled(run) : await world.submit(run)
        if (n % 4 < 2 && run.task === 't' && run.category === 'b') expected.push(id)
      }
      assert.ok(expected.length > 1)
      const query = { tasks: ['t'], categories: ['b'], states: ['cancelled'] } as const
      const between = async () => {
        await cancelled({ task: 't', category: 'b' })
      }
      assert.deepEqual(await pages(world, query, 1, between), expected.toReversed())
    },
  ],
  'count tells how many runs are in each state, per task': [
    'count-forgets-running',
    async (world) => {
      await world.hold()
      await world.end(await world.hold())
      await world.end(await world.hold({ task: 'u' }))
      await world.store.create([newRun(), newRun(), newRun({ task: 'u', dueAt: world.now + 5 })])
      const sorted = async (query: Parameters<typeof world.store.count>[0]) =>
        (await world.store.count(query)).map(({ task, state, runs }) => `${task} ${state} ${runs}`).sort()
      const all = ['t ready 2', 't running 1', 't succeeded 1', 'u succeeded 1', 'u waiting 1']
      assert.deepEqual(await sorted({}), all)
      assert.deepEqual(await sorted({ tasks: ['u'] }), ['u succeeded 1', 'u waiting 1'])
      assert.deepEqual(await sorted({ states: ['running', 'waiting'] }), ['t running 1', 'u waiting 1'])
    },
  ],
})
