/**
 * Laws of limits and of the retry bucket: how many runs are out, how many start in an interval, how many of them are retries.
 */
import assert from 'node:assert/strict'
import type { Claim, Limit } from '../../ports/store.ts'
import { subject } from './law.ts'
import { BEGUN_AGAIN, LEASE_MS, newRun, type World } from './world.ts'

const TWO: readonly Limit[] = [{ what: 'resource:flash', running: 2 }]
const PACED: readonly Limit[] = [{ what: 'task:t', rate: { max: 4, perMs: 1_000 } }]

const many = (world: World, count: number, run = {}) =>
  world.store.create(Array.from({ length: count }, () => newRun(run)))

const heldOf = ({ runs, token }: Claim) => runs.map(({ id }) => ({ run: id, token }))

/** So many tries in a row fail, and the resource is known to fail; each waits to be tried again at once. */
async function failing(world: World, tries: number): Promise<void> {
  await many(world, tries, { resource: 'flash' })
  const claim = await world.claim({ limit: tries })
  assert.equal(claim.runs.length, tries, 'first tries are not kept back')
  for (const held of heldOf(claim)) await world.fail(held, { dueAt: world.now + 1, trouble: 'flash' })
  await world.clock.advance(1)
}

export const limitLaws = subject('limit', {
  'no more runs are out than a limit allows, over all workers and lanes': [
    'limits-ignored limit-per-claim',
    async (world) => {
      await many(world, 3, { resource: 'flash' })
      await many(world, 3, { resource: 'flash', category: 'c' })
      const other = await world.submit({ resource: 'pro' })
      const { runs } = await world.claim({ limits: TWO })
      assert.deepEqual(
        runs.map(({ resource }) => resource),
        ['flash', 'flash', 'pro'],
      )
      assert.equal(runs[2]?.id, other)
      assert.deepEqual(await world.claimedIds({ worker: 'w2', limits: TWO }), [])
    },
  ],
  'a place is free again after an end and after a lease that ended by itself': [
    'limit-never-frees',
    async (world) => {
      await many(world, 6, { resource: 'flash' })
      const [first] = heldOf(await world.claim({ limits: TWO }))
      assert.ok(first)
      await world.end(first)
      assert.equal((await world.claim({ limits: TWO })).runs.length, 1)
      await world.clock.advance(LEASE_MS)
      assert.equal((await world.claim({ limits: TWO })).runs.length, 2)
    },
  ],
  'no stretch of the interval has more starts than the rate allows, and a claim says when there is more': [
    'rate-ignored rate-unannounced',
    async (world) => {
      await many(world, 40)
      const starts: number[] = []
      const from = world.now
      while (starts.length < 12) {
        const { runs, nextAt } = await world.claim({ limits: PACED, leaseMs: 9e6 })
        starts.push(...runs.map(() => world.now))
        assert.ok(nextAt !== undefined && nextAt > world.now && nextAt <= world.now + 1_000, `next at ${nextAt}`)
        await world.clock.advance(nextAt - world.now)
      }
      for (const start of starts) {
        const within = starts.filter((at) => at >= start && at < start + 999).length
        assert.ok(within <= 4, `${within} within a second`)
      }
      assert.ok(world.now - from <= 4_000, 'the rate is used up')
    },
  ],
  'while most tries of a resource fail its retries are few, and one that is passed over stays as it is': [
    'bucket-none bucket-counts-attempts',
    async (world) => {
      await failing(world, 20)
      let retries = 0
      for (let second = 0; second < 10; second += 1) {
        await many(world, 10, { resource: 'flash' })
        const claim = await world.claim()
        const isRetry = new Map(claim.runs.map(({ id, attempt }) => [id, attempt > 1]))
        retries += [...isRetry.values()].filter(Boolean).length
        assert.ok([...isRetry.values()].filter((again) => !again).length >= 10 - retries, 'first tries pass')
        for (const held of heldOf(claim)) await world.fail(held, { dueAt: world.now + 1, trouble: 'flash' })
        await world.clock.advance(1_000)
      }
      assert.ok(retries >= 5 && retries <= 10 + 10 + 2, `${retries} retries in 10 s beside 100 first tries`)
      const { runs } = await world.store.find({ limit: 200 })
      const attempts = runs.reduce((sum, { attempt }) => sum + attempt, 0)
      assert.equal(attempts, 20 + 100 + retries)
    },
  ],
  'what is given out while most tries of a resource fail says so': [
    'failing-untold',
    async (world) => {
      await many(world, 1, { resource: 'flash' })
      const [before] = (await world.claim()).runs
      assert.equal(before?.failing, undefined)
      await failing(world, 20)
      await many(world, 1, { resource: 'flash' })
      const [first] = (await world.claim()).runs.filter(({ attempt }) => attempt === 1)
      assert.deepEqual(first?.failing, ['flash'])
    },
  ],
  'a resource that answers again gets its retries along a ramp': [
    'bucket-never-heals',
    async (world) => {
      await failing(world, 30)
      await many(world, 20, { resource: 'flash' })
      for (const held of heldOf(await world.claim())) await world.end(held)
      let left = 30
      let seconds = 0
      for (; left > 0 && seconds < 10; seconds += 1) {
        for (let look = 0; look < 20; look += 1) {
          const claim = await world.claim()
          left -= claim.runs.length
          for (const held of heldOf(claim)) await world.end(held)
          await world.clock.advance(50)
        }
      }
      assert.ok(seconds >= 3 && left <= 0, `${left} left after ${seconds} s`)
    },
  ],
  'a resource that answers again has those that failed before try it again, whatever their backoff; who fails after that waits':
    [
      'healed-waits healed-hurries',
      async (world) => {
        await many(world, 20, { resource: 'flash' })
        const claim = await world.claim({ limit: 20 })
        const later = { dueAt: world.now + 3_600_000, trouble: 'flash' }
        for (const held of heldOf(claim)) await world.fail(held, later)
        await many(world, 20, { resource: 'flash' })
        for (const held of heldOf(await world.claim())) await world.end(held)
        const again: string[] = []
        for (let look = 0; look < 100; look += 1) {
          const retries = await world.claim()
          again.push(...retries.runs.map(({ id }) => id))
          for (const held of heldOf(retries)) await (again.length > 3 ? world.end(held) : world.fail(held, later))
          await world.clock.advance(100)
        }
        assert.deepEqual(
          again,
          claim.runs.map(({ id }) => id),
        )
        const { runs } = await world.store.find({ states: ['waiting'], limit: 100 })
        assert.equal(runs.length, 3)
      },
    ],
  'other resources and other failures keep nobody back': [
    'bucket-of-everyone',
    async (world) => {
      await failing(world, 20)
      const held = await world.hold({ resource: 'pro' })
      await world.fail(held, { dueAt: world.now + 1, trouble: 'pro' })
      const wrong = await world.hold({ resource: 'mini' })
      await world.fail(wrong, { dueAt: world.now + 1 })
      await world.clock.advance(1)
      const ids = await world.claimedIds()
      assert.ok(ids.includes(held.run) && ids.includes(wrong.run))
    },
  ],
  'an operator’s retry is a first try': [
    'again-kept',
    async (world) => {
      await failing(world, 20)
      const [run] = (await world.store.find({ limit: 1 })).runs
      assert.ok(run)
      assert.deepEqual(await world.claimedIds(), [], 'retries are kept back')
      const expect = { generation: 1, states: ['ready' as const] }
      await world.store.steer({ run: run.id, type: 'retry', by: 'ann', why: BEGUN_AGAIN, expect })
      assert.deepEqual(await world.claimedIds(), [run.id])
    },
  ],
})
