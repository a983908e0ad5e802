/**
 * Laws of `claim`: what is given out, in which order, to whom, under which token.
 */
import assert from 'node:assert/strict'
import { EMPTY_LEDGERS } from '../../policy/situation.ts'
import { subject } from './law.ts'
import { FAILURE, keyed, LEASE_MS, newRun, oneErrorMore } from './world.ts'

const DAY_MS = 86_400_000

export const claimLaws = subject('claim', {
  'an old run’s retry goes before newer runs, and a retry that is not due before none': [
    'order-ignores-submitted-at due-never-comes',
    async (world) => {
      // Submitted on day 1 and failed, due on day 5; new on day 3; new on day 4; submitted on day 4, due on day 6.
      const start = world.now
      const day = (n: number) => start + (n - 1) * DAY_MS
      const first = await world.hold()
      await world.fail(first, { dueAt: day(5) })
      await world.clock.advanceTo(day(3))
      const second = await world.submit()
      await world.clock.advanceTo(day(4))
      const third = await world.submit({ priority: 0 })
      await world.submit({ dueAt: day(6) })
      await world.clock.advanceTo(day(5))
      assert.deepEqual(await world.claimedIds(), [first.run, second, third])
    },
  ],
  'categories: only runs of the named ones, never those without one': [
    'category-ignored',
    async (world) => {
      const [, b, c] = [
        await world.submit(),
        await world.submit({ category: 'b' }),
        await world.submit({ category: 'c' }),
      ]
      await world.submit({ category: 'd' })
      assert.deepEqual(await world.claimedIds({ categories: [] }), [])
      assert.deepEqual(await world.claimedIds({ categories: ['c', 'b'] }), [b, c])
    },
  ],
  'categories absent: every category, and runs without one': [
    'uncategorised-left-out',
    async (world) => {
      const ids = [await world.submit(), await world.submit({ category: 'b' })]
      assert.deepEqual(await world.claimedIds(), ids)
    },
  ],
  'only runs of tasks that the worker has handlers for': [
    'task-ignored',
    async (world) => {
      await world.submit({ task: 'other' })
      const id = await world.submit({ task: 't' })
      assert.deepEqual(await world.claimedIds({ tasks: [] }), [])
      assert.deepEqual(await world.claimedIds({ tasks: ['t', 'nobody'] }), [id])
    },
  ],
  'a waiting run becomes ready at its due time and not before': [
    'due-a-moment-early due-never-comes',
    async (world) => {
      const id = await world.submit({ dueAt: world.now + 1_000 })
      await world.clock.advance(999)
      assert.deepEqual(await world.claimedIds(), [])
      await world.clock.advance(1)
      assert.deepEqual(await world.claimedIds(), [id])
      const { state, dueAt } = await world.view(id)
      assert.deepEqual([state, dueAt], ['ready', undefined])
    },
  ],
  'a review that is overdue becomes ready': [
    'overdue-review-stays',
    async (world) => {
      const held = await world.hold()
      await world.end(held, { state: 'review', dueAt: world.now + 1_000, suspensions: 1 })
      await world.clock.advance(999)
      assert.deepEqual(await world.claimedIds(), [])
      await world.clock.advance(1)
      assert.deepEqual(await world.claimedIds(), [held.run])
    },
  ],
  'a review without a due time stays with its person': [
    'review-given-out',
    async (world) => {
      const held = await world.hold()
      await world.end(held, { state: 'review', suspensions: 1 })
      await world.clock.advance(DAY_MS)
      assert.deepEqual(await world.claimedIds(), [])
    },
  ],
  'due runs become ready before the choice, so a newer run does not overtake': [
    'promotes-after-choosing',
    async (world) => {
      const old = await world.submit({ dueAt: world.now + 1_000 })
      await world.clock.advance(500)
      await world.submit()
      await world.clock.advance(500)
      assert.deepEqual(await world.claimedIds({ limit: 1 }), [old])
    },
  ],
  'by priority, submittedAt, id over all lanes': [
    'lane-by-lane order-ignores-priority',
    async (world) => {
      const lanes = [{}, { category: 'b' }, { resource: 'gemini:pro' }, { task: 'u' }]
      const expected: { id: string; priority: number; order: number }[] = []
      for (const [order, priority] of [5, 0, 5, 1, 0, 9, 1, 0, 5, 1, 0, 9].entries()) {
        const id = await world.submit({ priority, ...lanes[order % lanes.length] })
        expected.push({ id, priority, order })
        if (order % 3 === 0) await world.clock.advance(10)
      }
      expected.sort((a, b) => a.priority - b.priority || a.order - b.order)
      const ids = expected.map(({ id }) => id)
      const tasks = ['u', 't']
      const parts = [await world.claimedIds({ tasks, limit: 5 }), await world.claimedIds({ tasks })]
      assert.deepEqual(parts.flat(), ids)
      assert.equal(parts[0]?.length, 5)
    },
  ],
  'a lower priority catches up one step in ten minutes, and the time until a run was set to begin does not count': [
    'ageing-none ageing-too-soon ageing-while-scheduled',
    async (world) => {
      const MINUTE_MS = 60_000
      const low = await world.submit({ priority: 2 })
      const scheduled = await world.submit({ priority: 1, dueAt: world.now + 21 * MINUTE_MS })
      await world.clock.advance(19 * MINUTE_MS)
      const before = await world.submit()
      await world.clock.advance(2 * MINUTE_MS)
      const after = await world.submit()
      assert.deepEqual(await world.claimedIds(), [before, low, after, scheduled])
    },
  ],
  'runs of one instant go in the order of their creation': [
    'ties-by-text',
    async (world) => {
      const { runs } = await world.store.create(Array.from({ length: 12 }, () => newRun()))
      const ids = runs.map((run) => (run === 'conflict' ? run : run.id))
      assert.deepEqual(await world.claimedIds(), ids)
    },
  ],
  'no more than the limit': [
    'limit-ignored',
    async (world) => {
      await world.store.create([newRun(), newRun(), newRun()])
      assert.equal((await world.claimedIds({ limit: 2 })).length, 2)
      assert.equal((await world.claimedIds({ limit: 2 })).length, 1)
    },
  ],
  'finished, waiting and reviewed runs are not given out': [
    'finished-given-out review-given-out',
    async (world) => {
      for (const state of ['succeeded', 'cancelled'] as const) await world.end(await world.hold(), { state })
      await world.fail(await world.hold())
      await world.end(await world.hold(), { state: 'review', suspensions: 1 })
      await world.submit({ dueAt: world.now + 10 })
      assert.deepEqual(await world.claimedIds(), [])
    },
  ],
  'one token for the whole claim, higher than every token before': [
    'token-reused token-per-run',
    async (world) => {
      await world.store.create([newRun(), newRun(), newRun(), newRun()])
      const first = await world.claim({ limit: 3 })
      const tokens = await Promise.all(first.runs.map(async ({ id }) => (await world.view(id)).lease?.token))
      assert.deepEqual(tokens, [first.token, first.token, first.token])
      const second = await world.claim()
      assert.ok(second.token > first.token)
      for (const { id } of first.runs) await world.end({ run: id, token: first.token })
      const third = await world.hold()
      assert.ok(third.token > second.token)
    },
  ],
  'a later claim of the same run has a higher token': [
    'token-reused',
    async (world) => {
      const first = await world.hold()
      await world.end(first, { state: 'ready', unstarted: true })
      const second = await world.take(first.run)
      await world.outliveLeases()
      const third = await world.take(first.run)
      assert.ok(first.token < second.token && second.token < third.token)
    },
  ],
  'at most one live lease per run': [
    'live-lease-ignored',
    async (world) => {
      const held = await world.hold()
      await world.clock.advance(LEASE_MS - 1)
      assert.deepEqual(await world.claimedIds({ worker: 'w2' }), [])
      assert.equal((await world.view(held.run)).lease?.token, held.token)
    },
  ],
  'concurrent claims never share a run': [
    'choose-then-lease',
    async (world) => {
      await world.store.create(Array.from({ length: 30 }, () => newRun()))
      const claims = await Promise.all(Array.from({ length: 10 }, (_, n) => world.claim({ worker: `w${n}`, limit: 4 })))
      const ids = claims.flatMap(({ runs }) => runs.map(({ id }) => id))
      assert.deepEqual([ids.length, new Set(ids).size], [30, 30])
    },
  ],
  'a claimed run carries what its execution needs': [
    'attempt-not-counted lease-in-local-time',
    async (world) => {
      const run = keyed('k', {
        category: 'c',
        resource: 'r',
        input: '[1]',
        deadlineAt: world.now + DAY_MS,
        maxCostUsd: 2,
        priority: 4,
      })
      const first = await world.hold(run)
      await world.intent(first)
      const submittedAt = world.now
      await world.fail(first, { dueAt: world.now + 1_000, rung: 1 })
      await world.clock.advance(1_000)
      const { runs } = await world.claim()
      const { task, category, resource, key, input, deadlineAt, maxCostUsd } = run
      assert.deepEqual(runs, [
        {
          ...{ task, category, resource, key, input, deadlineAt, maxCostUsd },
          id: first.run,
          generation: 1,
          attempt: 2,
          submittedAt,
          ledgers: oneErrorMore(EMPTY_LEDGERS),
          suspensions: 0,
          rung: 1,
          costUsd: 0,
          leaseUntil: world.now + LEASE_MS,
          failure: FAILURE,
          journaled: true,
        },
      ])
    },
  ],
  'a lease lasts leaseMs from the store’s now': [
    'lease-in-local-time',
    async (world) => {
      const { run, token } = await world.hold({}, { leaseMs: 7_000, worker: 'w9' })
      assert.deepEqual((await world.view(run)).lease, { token, worker: 'w9', until: world.now + 7_000 })
    },
  ],
  'a claim adds one to the attempts of its runs': [
    'attempt-not-counted',
    async (world) => {
      const held = await world.hold()
      assert.equal((await world.view(held.run)).attempt, 1)
      await world.outliveLeases()
      const { runs } = await world.claim({ alone: true })
      assert.deepEqual([runs[0]?.attempt, (await world.view(held.run)).attempt], [2, 2])
    },
  ],
  'repeating a claim with the same nonce answers with the same runs': [
    'nonce-ignored',
    async (world) => {
      await world.store.create([newRun(), newRun(), newRun()])
      const request = world.request({ limit: 2 })
      const first = await world.store.claim(request)
      await world.clock.advance(10)
      const second = await world.store.claim(request)
      assert.deepEqual([second.token, second.runs, second.now], [first.token, first.runs, world.now])
      assert.equal((await world.claimedIds()).length, 1)
    },
  ],
  'a repeated claim never answers with a run that is another’s by now': [
    'nonce-revives',
    async (world) => {
      await world.store.create([newRun(), newRun()])
      const request = world.request({ limit: 2 })
      const first = await world.store.claim(request)
      const [one, two] = first.runs.map(({ id }) => id)
      assert.ok(one && two)
      await world.store.renew({ worker: 'w1', leaseMs: LEASE_MS * 2, leases: [{ run: two, token: first.token }] })
      await world.outliveLeases()
      const other = await world.take(one, { worker: 'w2' })
      const again = await world.store.claim(request)
      assert.deepEqual(
        again.runs.map(({ id }) => id),
        [two],
      )
      assert.equal((await world.view(one)).lease?.token, other.token)
    },
  ],
  'nextAt is never later than the first due time or end of a lease that the worker serves': [
    'next-too-late',
    async (world) => {
      const noLater = async (at: number) => {
        const { nextAt, runs } = await world.claim()
        assert.deepEqual(runs, [])
        assert.ok(nextAt === undefined || nextAt <= at, `nextAt ${nextAt} is later than ${at}`)
      }
      await world.submit({ dueAt: world.now + 60_000 })
      await noLater(world.now + 60_000)
      await world.hold()
      await noLater(world.now + LEASE_MS)
      await world.submit({ dueAt: world.now + 5_000 })
      await noLater(world.now + 5_000)
    },
  ],
  'a claim that finds nothing changes nothing': [
    'empty-claim-leases',
    async (world) => {
      const run = await world.submit({ dueAt: world.now + 1_000 })
      const before = await world.everythingOf(run)
      assert.deepEqual((await world.claim()).runs, [])
      assert.deepEqual((await world.claim({ tasks: ['u'], alone: true })).runs, [])
      assert.deepEqual(await world.everythingOf(run), before)
    },
  ],
})
