/**
 * Laws of `create`: atomic, idempotent by task and key, in store time.
 */
import assert from 'node:assert/strict'
import { EMPTY_LEDGERS } from '../../policy/situation.ts'
import { subject } from './law.ts'
import { CANCELLED, keyed, newRun } from './world.ts'

const CALLS_AT_ONCE = 20

export const createLaws = subject('create', {
  'a new run is ready at once, in generation 1, with nothing counted': [
    'new-run-waits',
    async (world) => {
      const id = await world.submit({
        category: 'c',
        resource: 'gemini:flash',
        priority: 3,
        input: '{"n":1}',
        maxCostUsd: 0.25,
      })
      assert.deepEqual(await world.view(id), {
        id,
        task: 't',
        category: 'c',
        resource: 'gemini:flash',
        state: 'ready',
        generation: 1,
        priority: 3,
        submittedAt: world.now,
        attempt: 0,
        ledgers: EMPTY_LEDGERS,
        suspensions: 0,
        suspect: false,
        rung: 0,
        input: '{"n":1}',
        maxCostUsd: 0.25,
        costUsd: 0,
      })
    },
  ],
  'a run with a due time waits until then': [
    'due-ignored',
    async (world) => {
      const id = await world.submit({ dueAt: world.now + 5_000, deadlineAt: world.now + 9_000 })
      const { state, dueAt, deadlineAt } = await world.view(id)
      assert.deepEqual([state, dueAt, deadlineAt], ['waiting', world.now + 5_000, world.now + 9_000])
      assert.deepEqual(await world.claimedIds(), [])
    },
  ],
  'a call is atomic: when one run is refused, none is added': [
    'half-a-create',
    async (world) => {
      await assert.rejects(world.store.create([newRun(), { ...newRun(), key: 'no-fingerprint' }]))
      assert.deepEqual((await world.store.find({ limit: 10 })).runs, [])
    },
  ],
  'an empty call adds nothing and tells the time': [
    'local-time',
    async (world) => assert.deepEqual(await world.store.create([]), { now: world.now, runs: [] }),
  ],
  'answers come in the order of the request': [
    'answers-shuffled',
    async (world) => {
      const old = await world.submit(keyed('old'))
      const { runs } = await world.store.create([
        newRun({ input: '1' }),
        keyed('old'),
        newRun({ input: '2' }),
        keyed('old', { fingerprint: 'other' }),
        newRun({ input: '3' }),
      ])
      const inputs = await Promise.all(
        runs.map(async (run) => (run === 'conflict' ? run : (await world.view(run.id)).input)),
      )
      assert.deepEqual(inputs, ['1', '{}', '2', 'conflict', '3'])
      assert.deepEqual(runs[1], { id: old, created: false, generation: 1 })
    },
  ],
  'the same fingerprint answers with the existing run and created: false': [
    'double-create',
    async (world) => {
      const [first] = (await world.store.create([keyed('k')])).runs
      const [second] = (await world.store.create([keyed('k')])).runs
      assert.ok(first && first !== 'conflict')
      assert.deepEqual([first.created, second], [true, { ...first, created: false }])
      assert.equal((await world.store.find({ limit: 10 })).runs.length, 1)
    },
  ],
  'a key is created once, also under concurrent calls': [
    'check-then-insert',
    async (world) => {
      const calls = Array.from({ length: CALLS_AT_ONCE }, () => world.store.create([keyed('k')]))
      const runs = (await Promise.all(calls)).flatMap((created) => created.runs)
      const ids = new Set(runs.map((run) => (run === 'conflict' ? run : run.id)))
      assert.equal(ids.size, 1)
      assert.equal(runs.filter((run) => run !== 'conflict' && run.created).length, 1)
      assert.equal((await world.store.find({ limit: 10 })).runs.length, 1)
    },
  ],
  'a key is created once, also twice in one call': [
    'double-create',
    async (world) => {
      const { runs } = await world.store.create([keyed('k'), keyed('k'), keyed('k', { fingerprint: 'other' })])
      assert.deepEqual(
        runs.map((run) => (run === 'conflict' ? run : run.created)),
        [true, false, 'conflict'],
      )
      assert.equal((await world.store.find({ limit: 10 })).runs.length, 1)
    },
  ],
  'another fingerprint answers conflict and stores nothing of it': [
    'fingerprint-ignored',
    async (world) => {
      const id = await world.submit(keyed('k', { input: '1' }))
      const before = await world.view(id)
      const again = keyed('k', { fingerprint: 'other', input: '2', onExisting: 'retry' })
      assert.deepEqual((await world.store.create([again])).runs, ['conflict'])
      assert.deepEqual(await world.view(id), before)
      assert.equal((await world.store.find({ limit: 10 })).runs.length, 1)
    },
  ],
  'a conflict is that item’s alone: the others of the call are added': [
    'conflict-spreads',
    async (world) => {
      await world.submit(keyed('k'))
      const { runs } = await world.store.create([newRun(), keyed('k', { fingerprint: 'other' }), newRun()])
      assert.deepEqual(
        runs.map((run) => (run === 'conflict' ? run : run.created)),
        [true, 'conflict', true],
      )
      assert.equal((await world.store.find({ limit: 10 })).runs.length, 3)
    },
  ],
  'idempotent by task and key: the key of another task is another key': [
    'key-without-task',
    async (world) => {
      const ids = [await world.submit(keyed('k')), await world.submit(keyed('k', { task: 'u', fingerprint: 'other' }))]
      assert.notEqual(ids[0], ids[1])
      assert.equal((await world.store.get({ task: 'u', key: 'k' }))?.id, ids[1])
      assert.equal((await world.store.get({ task: 't', key: 'k' }))?.id, ids[0])
    },
  ],
  'a key outlives its run: an ended run’s key still answers': [
    'key-dies-with-run',
    async (world) => {
      const held = await world.hold(keyed('k'))
      await world.end(held)
      const { runs } = await world.store.create([keyed('k'), keyed('k', { fingerprint: 'other' })])
      assert.deepEqual(runs, [{ id: held.run, created: false, generation: 1 }, 'conflict'])
    },
  ],
  'onExisting retry gives a failed run generation + 1': [
    'on-existing-ignored',
    async (world) => {
      const held = await world.hold(keyed('k'))
      await world.fail(held)
      const { runs } = await world.store.create([keyed('k', { onExisting: 'retry' })])
      assert.deepEqual(runs, [{ id: held.run, created: false, generation: 2 }])
      const { state, generation, attempt, ledgers, failure, finishedAt } = await world.view(held.run)
      assert.deepEqual([state, generation, attempt, failure, finishedAt], ['ready', 2, 0, undefined, undefined])
      assert.deepEqual(ledgers, EMPTY_LEDGERS)
      assert.deepEqual(await world.claimedIds(), [held.run])
    },
  ],
  'onExisting retry takes the deadline of the new submit': [
    'on-existing-ignored',
    async (world) => {
      const held = await world.hold(keyed('k', { deadlineAt: world.now + 1_000 }))
      await world.fail(held)
      await world.store.create([keyed('k', { onExisting: 'retry', deadlineAt: world.now + 9_000 })])
      assert.equal((await world.view(held.run)).deadlineAt, world.now + 9_000)
    },
  ],
  'onExisting retry gives a cancelled run generation + 1': [
    'on-existing-ignored',
    async (world) => {
      const run = await world.submit(keyed('k'))
      await world.store.steer({
        run,
        type: 'cancel',
        by: 'ann',
        why: CANCELLED,
        expect: { generation: 1, states: ['ready'] },
      })
      await world.store.create([keyed('k', { onExisting: 'retry' })])
      const { state, generation } = await world.view(run)
      assert.deepEqual([state, generation], ['ready', 2])
    },
  ],
  'onExisting retry returns a run that has not failed as it is': [
    'retry-restarts-everything',
    async (world) => {
      const held = await world.hold(keyed('k'))
      const leased = await world.view(held.run)
      await world.store.create([keyed('k', { onExisting: 'retry' })])
      assert.deepEqual(await world.view(held.run), leased)
      await world.end(held, { output: '1' })
      const succeeded = await world.view(held.run)
      await world.store.create([keyed('k', { onExisting: 'retry' })])
      assert.deepEqual(await world.view(held.run), succeeded)
    },
  ],
  'without onExisting a failed run is returned as it is': [
    'return-restarts',
    async (world) => {
      const held = await world.hold(keyed('k'))
      await world.fail(held)
      const failed = await world.view(held.run)
      await world.store.create([keyed('k'), keyed('k', { onExisting: 'return' })])
      assert.deepEqual(await world.view(held.run), failed)
    },
  ],
  'retry on an existing run happens once, also under concurrent calls': [
    'retry-restarts-everything',
    async (world) => {
      const held = await world.hold(keyed('k'))
      await world.fail(held)
      const calls = Array.from({ length: CALLS_AT_ONCE }, () =>
        world.store.create([keyed('k', { onExisting: 'retry' })]),
      )
      await Promise.all(calls)
      assert.equal((await world.view(held.run)).generation, 2)
    },
  ],
})
