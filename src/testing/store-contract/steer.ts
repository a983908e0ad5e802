/**
 * Laws of `steer`: an operator's acts, by compare-and-swap on generation and state.
 */
import assert from 'node:assert/strict'
import { EMPTY_LEDGERS } from '../../policy/situation.ts'
import type { Why } from '../../policy/why.ts'
import type { Act, Committed, Move } from '../../ports/store.ts'
import type { State } from '../../run/run.ts'
import { subject } from './law.ts'
import { BEGUN_AGAIN, CANCELLED, LEASE_MS, type World } from './world.ts'

const LIVE: readonly State[] = ['blocked', 'ready', 'waiting', 'review']

const steer = (world: World, act: Pick<Act, 'run' | 'type'> & Partial<Act>): Promise<Committed> =>
  world.store.steer({
    by: 'ann',
    why: act.type === 'cancel' ? CANCELLED : BEGUN_AGAIN,
    expect: { generation: 1, states: act.type === 'cancel' ? LIVE : ['failed', 'cancelled'] },
    ...act,
  })

async function isLost(world: World, act: Parameters<typeof steer>[1]): Promise<void> {
  const before = await world.everythingOf(act.run)
  assert.deepEqual(await steer(world, act), { now: world.now, answer: 'lost' })
  assert.deepEqual(await world.everythingOf(act.run), before)
}

async function reorder(world: World, move: Pick<Move, 'run'> & Partial<Move>): Promise<Committed> {
  assert.ok(world.store.reorder, 'the driver has an order; if it has none, skip these laws by name')
  return world.store.reorder({
    by: 'ann',
    why: MOVED,
    expect: { generation: 1, states: ['ready', 'waiting'] },
    ...move,
  })
}

const MOVED: Why = { code: 'run.rescheduled', params: { by: 'ann', at: 0 } }

async function isNotMoved(world: World, move: Parameters<typeof reorder>[1]): Promise<void> {
  const before = await world.everythingOf(move.run)
  assert.deepEqual(await reorder(world, move), { now: world.now, answer: 'lost' })
  assert.deepEqual(await world.everythingOf(move.run), before)
}

const reorderLaws = subject('reorder', {
  'another priority is another place in the order, for ready and for waiting runs': [
    'priority-unchanged',
    async (world) => {
      const first = await world.submit()
      const second = await world.submit()
      const later = await world.submit({ dueAt: world.now + 1_000 })
      assert.deepEqual(await reorder(world, { run: second, priority: -1 }), { now: world.now, answer: 'ok' })
      assert.equal((await reorder(world, { run: later, priority: -2 })).answer, 'ok')
      const { state, dueAt, priority, why } = await world.view(later)
      assert.deepEqual([state, dueAt, priority, why], ['waiting', world.now + 1_000, -2, undefined])
      await world.clock.advance(1_000)
      assert.deepEqual(await world.claimedIds(), [later, second, first])
    },
  ],
  'another priority leaves a run the time that was set for it': [
    'priority-forgets-due-time',
    async (world) => {
      const day = 86_400_000
      const scheduled = await world.submit({ dueAt: world.now + day })
      assert.equal((await reorder(world, { run: scheduled, priority: 5 })).answer, 'ok')
      assert.equal((await reorder(world, { run: scheduled, priority: 0 })).answer, 'ok')
      await world.clock.advance(day - 1_000)
      const before = await world.submit()
      await world.clock.advance(2_000)
      const after = await world.submit()
      assert.deepEqual(await world.claimedIds(), [before, scheduled, after])
    },
  ],
  'a later due time makes it wait, one that has come makes it ready': [
    'due-time-unchanged',
    async (world) => {
      const soon = await world.submit({ dueAt: world.now + 9_000 })
      const later = await world.submit()
      const dueAt = world.now + 5_000
      await reorder(world, { run: soon, dueAt: world.now })
      await reorder(world, { run: later, dueAt, priority: 7 })
      const [one, two] = [await world.view(soon), await world.view(later)]
      assert.deepEqual([one.state, one.dueAt, one.why], ['ready', undefined, MOVED])
      assert.deepEqual([two.state, two.dueAt, two.priority, two.why], ['waiting', dueAt, 7, MOVED])
      assert.deepEqual(await world.claimedIds(), [soon])
      await world.clock.advance(5_000)
      assert.deepEqual(await world.claimedIds(), [later])
    },
  ],
  'a move stands in the history and in the notes': [
    'move-unrecorded',
    async (world) => {
      const run = await world.submit()
      await reorder(world, { run, priority: 3 })
      await reorder(world, { run, dueAt: world.now + 1_000 })
      const rows = await world.store.attempts(run)
      assert.deepEqual(
        rows.map(({ outcome, attempt, worker, why }) => [outcome, attempt, worker, why]),
        [
          ['operator', 0, 'ann', MOVED],
          ['operator', 0, 'ann', MOVED],
        ],
      )
      assert.deepEqual(
        (await world.store.notes({ run })).map(({ by, what, data }) => [by, what, data]),
        [
          ['ann', 'reprioritise', { priority: 3 }],
          ['ann', 'reschedule', { dueAt: world.now + 1_000 }],
        ],
      )
    },
  ],
  'a run in a worker’s hands is not moved': [
    'move-takes-the-leased',
    async (world) => {
      const held = await world.hold()
      await isNotMoved(world, { run: held.run, priority: 1 })
      await isNotMoved(world, { run: held.run, dueAt: world.now + 1_000 })
      await world.outliveLeases()
      await isNotMoved(world, { run: held.run, dueAt: world.now + 1_000 })
      assert.equal((await world.end(held)).answer, 'ok')
    },
  ],
  'a move of another generation, of another state, or of a run that waits for a person or has ended is lost': [
    'move-ignores-expectation',
    async (world) => {
      const run = await world.submit()
      await isNotMoved(world, { run, priority: 1, expect: { generation: 2, states: ['ready'] } })
      await isNotMoved(world, { run, priority: 1, expect: { generation: 1, states: ['waiting'] } })
      const held = await world.take(run)
      await world.end(held, { state: 'review', dueAt: world.now + 1_000, suspensions: 1 })
      await isNotMoved(world, { run, dueAt: world.now, expect: { generation: 1, states: ['review'] } })
      const ended = await world.hold()
      await world.end(ended)
      await isNotMoved(world, { run: ended.run, priority: 1, expect: { generation: 1, states: ['succeeded'] } })
      assert.equal((await reorder(world, { run: 'r999', priority: 1 })).answer, 'lost')
    },
  ],
})

export const steerLaws = [
  ...reorderLaws,
  ...subject('steer', {
    'cancel ends a run, with a history row and a note': [
      'cancel-unrecorded',
      async (world) => {
        const run = await world.submit({ dueAt: world.now + 1_000 })
        assert.deepEqual(await steer(world, { run, type: 'cancel' }), { now: world.now, answer: 'ok' })
        const { state, why, finishedAt, dueAt } = await world.view(run)
        assert.deepEqual([state, why, finishedAt, dueAt], ['cancelled', CANCELLED, world.now, undefined])
        const [row] = await world.store.attempts(run)
        assert.deepEqual([row?.outcome, row?.attempt, row?.worker, row?.why], ['operator', 0, 'ann', CANCELLED])
        const [note] = await world.store.notes({ run })
        assert.deepEqual([note?.by, note?.run, note?.at], ['ann', run, world.now])
        await world.clock.advance(1_000)
        assert.deepEqual(await world.claimedIds(), [])
      },
    ],
    'cancel steals the lease: the owner’s next write and renewal are lost': [
      'cancel-leaves-lease',
      async (world) => {
        const held = await world.hold()
        await steer(world, { run: held.run, type: 'cancel' })
        assert.equal((await world.view(held.run)).lease, undefined)
        assert.deepEqual((await world.store.renew({ worker: 'w1', leaseMs: LEASE_MS, leases: [held] })).lost, [
          held.run,
        ])
        assert.equal((await world.intent(held)).answer, 'lost')
        assert.equal((await world.end(held, { output: '1' })).answer, 'lost')
        const { state, output, endedBy } = await world.view(held.run)
        assert.deepEqual([state, output, endedBy], ['cancelled', undefined, undefined])
      },
    ],
    'an act on another generation is lost': [
      'steer-ignores-generation',
      async (world) => {
        const held = await world.hold()
        await isLost(world, { run: held.run, type: 'cancel', expect: { generation: 2, states: LIVE } })
        await world.fail(held)
        await steer(world, { run: held.run, type: 'retry' })
        await isLost(world, { run: held.run, type: 'cancel' })
      },
    ],
    'an act on a run in another state is lost': [
      'steer-ignores-state',
      async (world) => {
        const run = await world.submit()
        await isLost(world, { run, type: 'cancel', expect: { generation: 1, states: ['waiting', 'review'] } })
        await isLost(world, { run, type: 'retry' })
        await isLost(world, { run, type: 'cancel', expect: { generation: 1, states: [] } })
        assert.equal((await steer(world, { run: 'nobody', type: 'cancel' })).answer, 'lost')
      },
    ],
    'an ended run is never cancelled': [
      'cancel-after-the-end',
      async (world) => {
        const held = await world.hold()
        await world.end(held, { output: '1' })
        await isLost(world, { run: held.run, type: 'cancel', expect: { generation: 1, states: ['succeeded'] } })
      },
    ],
    'retry adds a generation that begins with nothing counted': [
      'retry-keeps-ledgers',
      async (world) => {
        const held = await world.hold({ category: 'c', priority: 2 })
        await world.store.commit({ type: 'progress', ...held, progress: { done: 1 } })
        await world.fail(held, { rung: 2 })
        const { submittedAt } = await world.view(held.run)
        await world.clock.advance(1_000)
        assert.deepEqual(await steer(world, { run: held.run, type: 'retry' }), { now: world.now, answer: 'ok' })
        assert.deepEqual(await world.view(held.run), {
          id: held.run,
          task: 't',
          category: 'c',
          state: 'ready',
          generation: 2,
          priority: 2,
          submittedAt,
          attempt: 0,
          ledgers: EMPTY_LEDGERS,
          suspensions: 0,
          suspect: false,
          rung: 0,
          why: BEGUN_AGAIN,
          input: '{}',
          costUsd: 0,
          endedBy: held.token,
        })
        const { runs } = await world.claim()
        assert.deepEqual(
          runs.map(({ id, generation, attempt }) => [id, generation, attempt]),
          [[held.run, 2, 1]],
        )
      },
    ],
    'retry begins without the deadline of the generation before': [
      'retry-keeps-deadline',
      async (world) => {
        const held = await world.hold({ deadlineAt: world.now + 1_000 })
        await world.fail(held)
        await steer(world, { run: held.run, type: 'retry' })
        assert.equal((await world.view(held.run)).deadlineAt, undefined)
      },
    ],
    'retry begins in the lane that the run was submitted into, however often it was moved': [
      'retry-stays-where-it-climbed',
      async (world) => {
        const held = await world.hold({ category: 'letters', resource: 'small' })
        for (const resource of ['large', 'largest']) {
          const owner = resource === 'large' ? held : await world.take(held.run)
          await world.end(owner, { state: 'ready', lane: { task: 't', category: 'letters', resource } })
        }
        await world.fail(await world.take(held.run), { trouble: 'largest' })
        await steer(world, { run: held.run, type: 'retry' })
        const { resource, category } = await world.view(held.run)
        assert.deepEqual([category, resource], ['letters', 'small'])
        await world.store.hold({ what: 'resource:largest', why: 'busy', by: 'ann', probe: false })
        await world.take(held.run)
      },
    ],
    'retry keeps history': [
      'history-wiped',
      async (world) => {
        const held = await world.hold()
        const attempt = await world.failedAttempt(held)
        await world.fail(held, { attempt })
        await steer(world, { run: held.run, type: 'retry' })
        const history = await world.store.attempts(held.run)
        assert.deepEqual(history[0], attempt)
        assert.deepEqual([history.length, history[1]?.outcome, history[1]?.worker], [2, 'operator', 'ann'])
      },
    ],
    'of two acts on the same run as expected one is taken': [
      'steer-races',
      async (world) => {
        const held = await world.hold()
        await world.fail(held)
        const answers = await Promise.all(
          ['ann', 'bob'].map((by) => steer(world, { run: held.run, type: 'retry', by })),
        )
        assert.deepEqual(answers.map(({ answer }) => answer).sort(), ['lost', 'ok'])
        assert.equal((await world.view(held.run)).generation, 2)
      },
    ],
  }),
]
