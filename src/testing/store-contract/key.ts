/**
 * Laws of concurrency keys: how many runs of a key are out, who waits for whom, and what makes room.
 */
import assert from 'node:assert/strict'
import { subject } from './law.ts'
import { CANCELLED, LEASE_MS, newRun, type World } from './world.ts'

const ONE = { concurrency: { key: 'k', max: 1 } } as const

/** Submits so many runs of one key and gives their ids. */
async function ofKey(world: World, count: number, run = {}): Promise<string[]> {
  const { runs } = await world.store.create(Array.from({ length: count }, () => newRun({ ...ONE, ...run })))
  return runs.map((made) => (made as { id: string }).id)
}

const statesOf = (world: World, ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await world.view(id)).state))

/** One of the key is out and the others are parked behind it. */
async function crowded(
  world: World,
  others: number,
): Promise<{ readonly out: string; readonly token: number; readonly parked: string[] }> {
  const [out = '', ...parked] = await ofKey(world, 1 + others)
  const { runs, token } = await world.claim({ alone: false })
  assert.deepEqual(
    runs.map(({ id }) => id),
    [out],
  )
  return { out, token, parked }
}

export const keyLaws = subject('key', {
  'no more runs of a task and key are out than each of them allows, over all workers and lanes': [
    'key-ignored key-per-claim key-per-lane',
    async (world) => {
      const [first] = await ofKey(world, 2)
      await ofKey(world, 2, { category: 'c' })
      const free = await world.submit()
      const otherKey = await world.submit({ concurrency: { key: 'l', max: 1 } })
      const otherTask = await world.submit({ ...ONE, task: 'u' })
      const tasks = ['t', 'u']
      assert.deepEqual(await world.claimedIds({ tasks }), [first, free, otherKey, otherTask])
      await ofKey(world, 1)
      assert.deepEqual(await world.claimedIds({ tasks, worker: 'w2' }), [])
      const [second] = await ofKey(world, 1, { concurrency: { key: 'k', max: 2 } })
      assert.deepEqual(await world.claimedIds({ worker: 'w3' }), [second], 'it allows one beside itself')
    },
  ],
  'what a person has in hand is not out: the next of its key goes on': [
    'person-fills-key',
    async (world) => {
      for (const due of [{}, { dueAt: world.now + 60_000 }]) {
        const [asking = '', next = ''] = await ofKey(world, 2)
        await world.end(await world.take(asking), { state: 'review', suspensions: 1, ...due })
        const expect = { generation: 1 }
        assert.equal((await world.store.take({ run: asking, by: 'ann', leaseMs: LEASE_MS, expect })).answer, 'ok')
        const [third = ''] = await ofKey(world, 1)
        const held = await world.take(next)
        assert.deepEqual(await world.claimedIds(), [])
        await world.end(held)
        await world.end(await world.take(third))
      }
    },
  ],
  'a run whose key is full waits without a due time, and is told with its key': [
    'key-unsaid parked-untouched',
    async (world) => {
      const { parked } = await crowded(world, 2)
      assert.deepEqual(await statesOf(world, parked), ['waiting', 'waiting'])
      const { dueAt, attempt, concurrency } = await world.view(parked[0] ?? '')
      assert.deepEqual([dueAt, attempt, concurrency], [undefined, 0, ONE.concurrency])
    },
  ],
  'the end of one wakes the next of its key in the order of claims, and no more than fit': [
    'key-never-wakes key-wakes-all key-wakes-newest',
    async (world) => {
      const { out, token, parked } = await crowded(world, 3)
      const urgent = await world.submit({ ...ONE, priority: -1 })
      assert.deepEqual(await world.claimedIds(), [])
      await world.end({ run: out, token })
      assert.deepEqual(await statesOf(world, [urgent, ...parked]), ['ready', 'waiting', 'waiting', 'waiting'])
      const held = await world.take(urgent, { alone: false })
      await world.fail(held, { dueAt: world.now + 1_000 })
      assert.deepEqual(await statesOf(world, parked), ['ready', 'waiting', 'waiting'])
    },
  ],
  'a lapse, a cancel, a run given back and a run moved away make room too': [
    'key-kept-by-lapse key-kept-by-cancel key-kept-by-release key-kept-by-move',
    async (world) => {
      const { out, parked } = await crowded(world, 4)
      const [a = '', b = '', c = '', d = ''] = parked
      await world.clock.advance(LEASE_MS)
      // The one that lapsed is a suspect now, and nobody waits for it.
      assert.deepEqual(await world.claimedIds(), [a])
      assert.equal((await world.view(out)).state, 'ready')
      const act = { type: 'cancel', by: 'ann', why: CANCELLED, expect: { generation: 1, states: ['ready'] } } as const
      await world.store.steer({ ...act, run: a })
      const held = await world.take(b, { alone: false })
      await world.end(held, { state: 'ready', unstarted: true })
      assert.deepEqual(await statesOf(world, [b, c]), ['ready', 'waiting'])
      assert.ok(world.store.reorder)
      const expect = { generation: 1, states: ['ready' as const] }
      const why = { code: 'run.rescheduled', params: { by: 'ann', at: world.now + 9e6 } } as const
      await world.store.reorder({ run: b, expect, dueAt: world.now + 9e6, why, by: 'ann' })
      assert.deepEqual(await statesOf(world, [c, d]), ['ready', 'waiting'])
      await world.store.steer({ ...act, run: c })
      assert.deepEqual(await statesOf(world, [d]), ['ready'], 'also one that was only ready')
    },
  ],
  'a lane that is held or served by nobody keeps no other lane of the key waiting': [
    'key-first-lane-only',
    async (world) => {
      const { out, token } = await crowded(world, 0)
      await ofKey(world, 2, { resource: 'flash' })
      const [here] = await ofKey(world, 2, { resource: 'pro' })
      assert.deepEqual(await world.claimedIds(), [])
      await world.store.hold({ what: 'resource:flash', why: 'w', by: 'ann', probe: false })
      await world.end({ run: out, token })
      assert.deepEqual(await world.claimedIds(), [here])
    },
  ],
  'a parked run that gets a better place is the next, and can be cancelled': [
    'parked-not-moved',
    async (world) => {
      const { out, token, parked } = await crowded(world, 3)
      const [a = '', b = '', c = ''] = parked
      assert.ok(world.store.reorder)
      const expect = { generation: 1, states: ['waiting' as const] }
      const why = { code: 'run.reprioritised', params: { by: 'ann', from: 0, to: -5 } } as const
      await world.store.reorder({ run: c, expect, priority: -5, why, by: 'ann' })
      assert.deepEqual(await statesOf(world, [c]), ['waiting'], 'its key is still full')
      await world.store.steer({ run: a, type: 'cancel', by: 'ann', why: CANCELLED, expect })
      await world.end({ run: out, token })
      assert.deepEqual(await statesOf(world, [a, b, c]), ['cancelled', 'waiting', 'ready'])
    },
  ],
  'a run of a key fails, waits and is tried again like others; meanwhile the next one goes': [
    'key-kept-by-wait',
    async (world) => {
      const { out, token, parked } = await crowded(world, 1)
      await world.fail({ run: out, token }, { dueAt: world.now + 1_000 })
      const next = await world.take(parked[0] ?? '', { alone: false })
      await world.clock.advance(1_000)
      assert.deepEqual(await world.claimedIds({ leaseMs: 9e6 }), [], 'due, and its key is full')
      await world.end(next)
      assert.deepEqual(await world.claimedIds(), [out])
    },
  ],
})
