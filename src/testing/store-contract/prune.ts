/**
 * Laws of `prune`: only what has ended goes, each run whole, keys later than their runs, and no number is ever given again.
 */
import assert from 'node:assert/strict'
import type { Pruned, PruneRequest } from '../../ports/store.ts'
import { subject } from './law.ts'
import { BEGUN_AGAIN, CANCELLED, keyed, LEASE_MS, newRun, type World } from './world.ts'

const DAY_MS = 86_400_000

/** Calls that a store may need for the few runs of a law. */
const CALLS_MAX = 100

const request = (change: Partial<PruneRequest> = {}): PruneRequest => ({
  keepMs: { succeeded: DAY_MS, failed: DAY_MS, cancelled: DAY_MS },
  keysMs: 7 * DAY_MS,
  limit: 500,
  ...change,
})

async function pruneOnce(world: World, change: Partial<PruneRequest> = {}): Promise<Pruned> {
  assert.ok(world.store.prune, 'the driver prunes; if it lets rows expire by other means, skip these laws by name')
  return world.store.prune(request(change))
}

/** Calls until the store says that it is through. A newer run is there, so that none of the law's own is the newest. */
async function prune(world: World, change: Partial<PruneRequest> = {}): Promise<string[]> {
  await world.submit({ task: 'newest', dueAt: world.now + 1_000 * DAY_MS })
  const pruned: string[] = []
  for (let calls = 0; calls < CALLS_MAX; calls += 1) {
    const answer = await pruneOnce(world, change)
    assert.equal(answer.now, world.now)
    pruned.push(...answer.pruned)
    if (!answer.more) return pruned
  }
  throw new assert.AssertionError({ message: `prune is not through after ${CALLS_MAX} calls` })
}

async function succeeded(world: World, run: Parameters<World['hold']>[0] = {}): Promise<string> {
  const held = await world.hold(run)
  await world.end(held, { output: '1' })
  return held.run
}

async function failed(world: World): Promise<string> {
  const held = await world.hold()
  await world.fail(held)
  return held.run
}

async function cancelled(world: World): Promise<string> {
  const run = await world.submit()
  const expect = { generation: 1, states: ['ready'] } as const
  await world.store.steer({ run, type: 'cancel', by: 'ann', why: CANCELLED, expect })
  return run
}

const isThere = async (world: World, run: string): Promise<boolean> =>
  (await world.store.get({ id: run })) !== undefined

export const pruneLaws = subject('prune', {
  'an ended run goes when it is older than its state is kept': [
    'prune-by-submit prune-ignores-state',
    async (world) => {
      const waiting = await world.submit({ dueAt: world.now + 2 * DAY_MS })
      const old = await succeeded(world)
      const oldFailure = await failed(world)
      const oldCancelled = await cancelled(world)
      await world.clock.advance(2 * DAY_MS)
      await world.end(await world.take(waiting))
      const young = await succeeded(world)
      const keepMs = { succeeded: DAY_MS, failed: 3 * DAY_MS }
      assert.deepEqual(await prune(world, { keepMs }), [old])
      assert.equal(await isThere(world, old), false)
      for (const run of [oldFailure, oldCancelled, waiting, young]) assert.ok(await isThere(world, run))
      await world.clock.advance(2 * DAY_MS)
      assert.deepEqual(await prune(world, { keepMs }), [waiting, oldFailure, young])
      assert.ok(await isThere(world, oldCancelled))
    },
  ],
  'a run that has not ended stays, however old; so does one that was begun again': [
    'prune-takes-the-living',
    async (world) => {
      const again = await failed(world)
      const later = await world.submit({ dueAt: world.now + 300 * DAY_MS })
      const review = await world.hold()
      await world.end(review, { state: 'review', suspensions: 1 })
      const ready = await world.submit({ task: 'u' })
      await world.clock.advance(100 * DAY_MS)
      const expect = { generation: 1, states: ['failed'] } as const
      await world.store.steer({ run: again, type: 'retry', by: 'ann', why: BEGUN_AGAIN, expect })
      assert.deepEqual(await prune(world, { keepMax: 0 }), [])
      for (const run of [again, later, review.run, ready]) assert.ok(await isThere(world, run))
    },
  ],
  'a run goes whole: its history and its journal with it': [
    'prune-leaves-history',
    async (world) => {
      const held = await world.hold({ input: JSON.stringify('i'.repeat(5_000)) })
      await world.intent(held)
      await world.answer(held, '1')
      await world.fail(held)
      const other = await world.hold()
      await world.intent(other)
      await world.fail(other, { dueAt: world.now + 9 * DAY_MS })
      await world.clock.advance(2 * DAY_MS)
      assert.deepEqual(await prune(world), [held.run])
      assert.deepEqual(await world.store.attempts(held.run), [])
      assert.deepEqual(await world.store.journal(held.run, 1), [])
      assert.equal((await world.store.attempts(other.run)).length, 1)
      assert.equal((await world.store.journal(other.run, 1)).length, 1)
      assert.equal((await world.end(held)).answer, 'lost')
    },
  ],
  'runs that are linked go together, when the last of them is old; a flow stays as long as its key': [
    'prune-tears-flow',
    async (world) => {
      const step = { ...newRun(), needs: [], onNeedFailed: 'fail' } as const
      const steps = [
        { ...step, step: 'a' },
        { ...step, step: 'b', needs: ['a'] },
        { ...step, step: 'c', task: 'later', dueAt: world.now + 9 * DAY_MS },
      ]
      const { flow } = await world.store.createFlow({ name: 'f', key: 'k', fingerprint: 'x', steps })
      assert.ok(flow !== 'conflict')
      const [a, b, c] = flow.steps.map(({ run }) => run) as [string, string, string]
      await world.end(await world.take(a), { output: '1' })
      const parent = await world.take(b)
      const child = newRun({ task: 'child' })
      const why = { code: 'run.joining', params: { name: 'parts', children: 1 } } as const
      const joining = { state: 'blocked', why, suspensions: 1, join: { name: 'parts', children: [child] } } as const
      const [made] = (await world.end(parent, joining)).created ?? []
      assert.ok(made && made !== 'conflict')
      await world.end(await world.take(made.id, { tasks: ['child'] }), { output: '1' })
      await world.end(await world.take(b), { output: '1' })
      await world.clock.advance(9 * DAY_MS)
      assert.deepEqual(await prune(world, { keepMax: 0 }), [])
      await world.end(await world.take(c, { tasks: ['later'] }))
      await world.clock.advance(2 * DAY_MS)
      assert.deepEqual(await prune(world), [])
      assert.equal((await world.store.flow({ name: 'f', key: 'k' }))?.id, a)
      await world.clock.advance(5 * DAY_MS)
      assert.deepEqual(await prune(world, { limit: 1 }), [a, b, c, made.id])
      assert.equal(await world.store.flow({ id: a }), undefined)
      assert.equal(await world.store.flow({ name: 'f', key: 'k' }), undefined)
      assert.deepEqual(await world.store.links(b), { needs: [], dependents: [] })
    },
  ],
  'of each task the newest keepMax ended runs stay, whatever their age and state': [
    'prune-counts-tasks-together',
    async (world) => {
      const runs = [await succeeded(world), await failed(world), await succeeded(world), await cancelled(world)]
      const others = [await succeeded(world, { task: 'u' }), await succeeded(world, { task: 'u' })]
      const living = await world.submit()
      assert.deepEqual(await prune(world, { keepMs: {}, keepMax: 2 }), [runs[0], runs[1]])
      for (const run of [runs[2], runs[3], ...others, living]) assert.ok(await isThere(world, run as string))
      assert.deepEqual(await prune(world, { keepMs: {}, keepMax: 2 }), [])
    },
  ],
  'nothing is kept for ever unless a state is left out': [
    'prune-keeps-failures',
    async (world) => {
      const runs = [await succeeded(world), await failed(world), await cancelled(world)]
      await world.clock.advance(DAY_MS)
      assert.deepEqual(await prune(world), runs)
    },
  ],
  'a call deletes no more than its limit, oldest first, and says that there is more': [
    'prune-without-limit prune-says-through',
    async (world) => {
      const runs: string[] = []
      for (let n = 0; n < 5; n += 1) runs.push(await succeeded(world))
      await world.clock.advance(2 * DAY_MS)
      await world.submit()
      const { pruned, more } = await pruneOnce(world, { limit: 2 })
      assert.deepEqual([pruned, more], [runs.slice(0, 2), true])
      assert.deepEqual(await prune(world, { limit: 2 }), runs.slice(2))
    },
  ],
  'of what is old only the runs go that are named, in the generation that is named; what is linked goes only if all of it is':
    [
      'prune-ignores-only prune-ignores-generation prune-by-only-alone',
      async (world) => {
        const [first, second, again] = [await succeeded(world), await succeeded(world), await failed(world)]
        const steps = ['a', 'b'].map((step) => ({ ...newRun(), step, needs: [], onNeedFailed: 'fail' as const }))
        const { flow } = await world.store.createFlow({ name: 'f', steps })
        assert.ok(flow !== 'conflict')
        const [a, b] = flow.steps.map(({ run }) => run) as [string, string]
        for (const run of [a, b]) await world.end(await world.take(run))
        const expect = { generation: 1, states: ['failed'] } as const
        await world.store.steer({ run: again, type: 'retry', by: 'ann', why: BEGUN_AGAIN, expect })
        await world.fail(await world.take(again))
        await world.clock.advance(2 * DAY_MS)
        const young = await succeeded(world)
        const only = (...runs: readonly (readonly [string, number])[]) => ({ only: new Map(runs) })
        assert.deepEqual(await prune(world, only([first, 1], [again, 1], [a, 1], [young, 1], ['none', 1])), [first])
        for (const run of [second, again, a, b, young]) assert.ok(await isThere(world, run))
        assert.deepEqual(await prune(world, { ...only([again, 2], [a, 1], [b, 1]), limit: 1 }), [again, a, b])
        assert.deepEqual(await prune(world, only()), [])
        assert.deepEqual(await prune(world), [second])
      },
    ],
  'a key outlives its run, by keysMs after its end': [
    'key-pruned-with-run',
    async (world) => {
      const run = await world.submit(keyed('k', { dueAt: world.now + 30 * DAY_MS }))
      await world.clock.advance(30 * DAY_MS)
      await world.end(await world.take(run))
      await world.clock.advance(DAY_MS)
      assert.deepEqual(await prune(world), [run])
      await world.clock.advance(6 * DAY_MS - 1)
      await prune(world)
      const { runs } = await world.store.create([keyed('k'), keyed('k', { fingerprint: 'other' })])
      assert.deepEqual(runs, [{ id: run, created: false, generation: 1 }, 'conflict'])
      assert.equal(await world.store.get({ task: 't', key: 'k' }), undefined)
    },
  ],
  'a key stays as long as its run, however old both are': [
    'key-pruned-by-age',
    async (world) => {
      const living = await world.submit(keyed('living', { dueAt: world.now + 300 * DAY_MS }))
      const kept = await succeeded(world, keyed('kept'))
      await world.clock.advance(100 * DAY_MS)
      await prune(world, { keepMs: {} })
      const { runs } = await world.store.create([keyed('living'), keyed('kept')])
      assert.deepEqual(
        runs.map((run) => run !== 'conflict' && [run.id, run.created]),
        [
          [living, false],
          [kept, false],
        ],
      )
    },
  ],
  'a key that is forgotten names a new run': [
    'key-never-forgotten',
    async (world) => {
      const run = await succeeded(world, keyed('k'))
      await world.clock.advance(DAY_MS)
      await prune(world)
      await world.clock.advance(6 * DAY_MS)
      await world.submit()
      assert.equal((await pruneOnce(world)).keys, 1)
      const [created] = (await world.store.create([keyed('k', { fingerprint: 'other' })])).runs
      assert.ok(created && created !== 'conflict' && created.created && created.id !== run)
      assert.equal((await world.store.get({ task: 't', key: 'k' }))?.id, created.id)
    },
  ],
  'an id and a token are never given again': [
    'numbers-given-again',
    async (world) => {
      const held = await world.hold()
      await world.end(held)
      await world.clock.advance(30 * DAY_MS)
      for (let calls = 0; calls < 3; calls += 1) await pruneOnce(world)
      const next = await world.hold()
      assert.notEqual(next.run, held.run)
      assert.ok(next.token > held.token)
    },
  ],
  'a lease that is still held is known, however long ago it was claimed': [
    'prune-takes-claims',
    async (world) => {
      await world.end(await world.hold({}, { worker: 'w0' }))
      const held = await world.hold()
      for (let day = 0; day < 9; day += 1) {
        await world.store.renew({ worker: 'w1', leaseMs: DAY_MS + LEASE_MS, leases: [held] })
        await world.clock.advance(DAY_MS)
      }
      await prune(world)
      assert.equal((await world.view(held.run)).lease?.worker, 'w1')
      const expect = { generation: 1, states: ['ready'] } as const
      await world.store.steer({ run: held.run, type: 'cancel', by: 'ann', why: CANCELLED, expect })
      assert.equal((await world.end(held)).answer, 'lost')
      assert.equal((await world.store.notes({ run: held.run })).at(-1)?.by, 'w1')
    },
  ],
  'notes about a run that is gone go at the age of keys; all others stay': [
    'prune-takes-notes notes-outlive-everything',
    async (world) => {
      const run = await succeeded(world)
      await world.store.note({ run, by: 'ann', what: 'looked' })
      await world.store.note({ by: 'ann', what: 'audited' })
      const living = await world.submit()
      await world.store.note({ run: living, by: 'ann', what: 'looked' })
      await world.clock.advance(6 * DAY_MS)
      assert.deepEqual(await prune(world), [run])
      assert.equal((await world.store.notes({})).length, 3)
      await world.clock.advance(DAY_MS)
      await prune(world)
      assert.deepEqual(
        (await world.store.notes({})).map((note) => [note.run, note.what]),
        [
          [undefined, 'audited'],
          [living, 'looked'],
        ],
      )
    },
  ],
  'what is new is found after what was passed over': [
    'prune-never-looks-back',
    async (world) => {
      const first = await world.submit({ dueAt: world.now + DAY_MS })
      const second = await succeeded(world)
      const third = await succeeded(world)
      await world.clock.advance(2 * DAY_MS)
      await world.submit(newRun({ task: 'newest' }))
      assert.deepEqual((await pruneOnce(world, { limit: 1 })).pruned, [second])
      await world.end(await world.take(first))
      assert.deepEqual((await prune(world, { limit: 1 })).slice(0, 1), [third])
      await world.clock.advance(2 * DAY_MS)
      assert.deepEqual(await prune(world, { limit: 1 }), [first])
    },
  ],
})
