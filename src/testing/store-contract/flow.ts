/**
 * Laws of flows: steps are created whole, and what ends one of them moves those that need it in the same write.
 */
import assert from 'node:assert/strict'
import type { CreatedFlow, MovedRun, NewFlow, NewStep } from '../../ports/store.ts'
import { subject } from './law.ts'
import { BEGUN_AGAIN, CANCELLED, newRun, type World } from './world.ts'

/** `{ a: '', b: 'a', c: 'a b' }`: names of steps and, separated by spaces, of what they need. */
type Shape = Readonly<Record<string, string>>

function flowOf(shape: Shape, flow: Partial<NewFlow> = {}, step: Partial<NewStep> = {}): NewFlow {
  const steps = Object.entries(shape).map(
    ([name, needs]): NewStep => ({
      ...newRun(),
      step: name,
      needs: needs === '' ? [] : needs.split(' '),
      onNeedFailed: 'fail',
      ...step,
    }),
  )
  return { name: 'f', steps, ...flow }
}

type Made = Exclude<CreatedFlow['flow'], 'conflict'>

async function submitFlow(world: World, flow: NewFlow): Promise<Made & { readonly ids: Record<string, string> }> {
  const { flow: made } = await world.store.createFlow(flow)
  assert.ok(made !== 'conflict', 'the flow is created')
  return { ...made, ids: Object.fromEntries(made.steps.map(({ step, run }) => [step, run])) }
}

/** Claims one run, which must be this step's. */
const takeStep = (world: World, run: string | undefined) => world.take(run ?? '')

const statesOf = async (world: World, ids: Readonly<Record<string, string>>): Promise<string> =>
  (await Promise.all(Object.entries(ids).map(async ([step, run]) => `${step} ${(await world.view(run)).state}`))).join(
    ', ',
  )

const told = (moved: readonly MovedRun[] | undefined): string =>
  (moved ?? []).map(({ step, state, generation }) => `${step} ${state} ${generation}`).join(', ')

const retry = (world: World, run: string | undefined, generation = 1) =>
  world.store.steer({
    run: run ?? '',
    type: 'retry',
    by: 'ann',
    why: BEGUN_AGAIN,
    expect: { generation, states: ['failed', 'cancelled'] },
  })

const cancel = (world: World, run: string | undefined) =>
  world.store.steer({
    run: run ?? '',
    type: 'cancel',
    by: 'ann',
    why: CANCELLED,
    expect: { generation: 1, states: ['blocked', 'ready'] },
  })

export const flowLaws = subject('flow', {
  'a flow is created whole: steps with needs begin blocked, the others ready': [
    'flow-unblocked',
    async (world) => {
      const { id, ids, steps, created } = await submitFlow(world, flowOf({ a: '', b: 'a', c: 'a b' }))
      assert.deepEqual([id, created], [ids.a, true])
      assert.deepEqual(
        steps.map(({ step, task, state, generation }) => [step, task, state, generation]),
        [
          ['a', 't', 'ready', 1],
          ['b', 't', 'blocked', 1],
          ['c', 't', 'blocked', 1],
        ],
      )
      const { flow, step } = await world.view(ids.c ?? '')
      assert.deepEqual([flow, step], [id, 'c'])
      const { created: _told, ids: _ids, ...view } = { created, id, name: 'f', steps, ids }
      assert.deepEqual(await world.store.flow({ id }), view)
      assert.deepEqual(await world.claimedIds(), [ids.a])
    },
  ],
  'the same key and fingerprint answer with the same flow': [
    'flow-key-forgotten',
    async (world) => {
      const flow = flowOf({ a: '', b: 'a' }, { key: 'k', fingerprint: 'p' })
      const [first, second] = await Promise.all([submitFlow(world, flow), submitFlow(world, flow)])
      assert.deepEqual([first.created, second.created].sort(), [false, true])
      assert.deepEqual(second.ids, first.ids)
      assert.equal((await world.store.flow({ name: 'f', key: 'k' }))?.id, first.id)
      assert.equal((await world.store.find({ limit: 10 })).runs.length, 2)
      assert.notEqual((await submitFlow(world, { ...flow, name: 'g' })).id, first.id)
    },
  ],
  'other content under the key of a flow is a conflict and stores nothing': [
    'flow-conflict-ignored',
    async (world) => {
      await submitFlow(world, flowOf({ a: '' }, { key: 'k', fingerprint: 'p' }))
      const other = flowOf({ a: '', b: 'a' }, { key: 'k', fingerprint: 'q' })
      assert.deepEqual(await world.store.createFlow(other), { now: world.now, flow: 'conflict' })
      assert.equal((await world.store.find({ limit: 10 })).runs.length, 1)
    },
  ],
  'a flow that cannot be is refused whole': [
    'flow-half-created',
    async (world) => {
      const impossible = [
        flowOf({}),
        flowOf({ a: '', b: 'nobody' }),
        flowOf({ a: 'b', b: 'a' }),
        flowOf({ a: 'a' }),
        flowOf({ a: '', b: 'a a' }),
        flowOf({ a: '' }, { key: 'k' }),
        flowOf(Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`s${index}`, '']))),
      ]
      for (const flow of impossible) await assert.rejects(world.store.createFlow(flow), RangeError)
      assert.deepEqual((await world.store.find({ limit: 10 })).runs, [])
    },
  ],
  'the end that fulfils the last open need makes the run ready': [
    'unblocked-by-any-need never-unblocked',
    async (world) => {
      const { ids } = await submitFlow(world, flowOf({ a: '', b: '', c: 'a b', d: 'c' }))
      const { token } = await world.claim()
      const first = await world.end({ run: ids.a ?? '', token }, { output: '1' })
      assert.equal(first.moved, undefined)
      assert.equal(await statesOf(world, ids), 'a succeeded, b ready, c blocked, d blocked')
      const second = await world.end({ run: ids.b ?? '', token })
      assert.equal(told(second.moved), 'c ready 1')
      assert.equal(await statesOf(world, ids), 'a succeeded, b succeeded, c ready, d blocked')
      const { moved } = await world.fail(await takeStep(world, ids.c), {
        state: 'succeeded',
        failure: undefined as never,
      })
      assert.equal(told(moved), 'd ready 1')
    },
  ],
  'of ends that come together each moves its own': [
    'successes-together-move-nobody',
    async (world) => {
      const flow = flowOf({ a: '', b: '', c: '', d: 'a', e: 'b c' })
      const { ids } = await submitFlow(world, flow)
      const { token } = await world.claim()
      const ends = await Promise.all([ids.a, ids.b, ids.c].map((run) => world.end({ run: run ?? '', token })))
      assert.deepEqual(ends.map(({ moved }) => told(moved)).sort(), ['', 'd ready 1', 'e ready 1'])
      assert.deepEqual((await world.claimedIds()).sort(), [ids.d, ids.e])
    },
  ],
  'a failed need ends those that need it as they asked, with the reason and a row of history': [
    'need-failure-stops-short skip-as-failure',
    async (world) => {
      const steps = flowOf({ a: '', b: 'a', c: 'b', d: 'a', e: 'd' }).steps.map((step) =>
        step.step === 'd' ? { ...step, onNeedFailed: 'skip' as const } : step,
      )
      const { ids } = await submitFlow(world, { name: 'f', steps })
      const { moved } = await world.fail(await takeStep(world, ids.a))
      assert.equal(told(moved), 'b failed 1, d cancelled 1, c failed 1, e failed 1')
      assert.equal(await statesOf(world, ids), 'a failed, b failed, c failed, d cancelled, e failed')
      const [b, c, d] = await Promise.all([ids.b, ids.c, ids.d].map((run) => world.view(run ?? '')))
      assert.deepEqual(b?.why, { code: 'end.need_failed', params: { step: 'a', how: 'failed' } })
      assert.deepEqual([b?.failure?.code, b?.finishedAt, b?.attempt], ['need.failed', world.now, 0])
      assert.deepEqual(c?.why, { code: 'end.need_failed', params: { step: 'b', how: 'failed' } })
      assert.deepEqual(d?.why, { code: 'run.skipped', params: { step: 'a', how: 'failed' } })
      assert.equal(d?.failure, undefined)
      const [row, ...more] = await world.store.attempts(ids.b ?? '')
      assert.deepEqual([row?.outcome, row?.attempt, row?.why, more.length], ['operator', 0, b?.why, 0])
      assert.deepEqual(await world.claimedIds(), [])
    },
  ],
  'a cancelled need counts as one that failed': [
    'cancel-strands-dependents',
    async (world) => {
      const { ids } = await submitFlow(world, flowOf({ a: '', b: 'a', c: 'b' }))
      const { moved, answer } = await cancel(world, ids.b)
      assert.deepEqual([answer, told(moved)], ['ok', 'c failed 1'])
      const { why } = await world.view(ids.c ?? '')
      assert.deepEqual(why, { code: 'end.need_failed', params: { step: 'b', how: 'cancelled' } })
      // The need of a cancelled step may still be fulfilled; that wakes nobody.
      assert.equal((await world.end(await takeStep(world, ids.a))).moved, undefined)
      assert.equal((await world.view(ids.b ?? '')).state, 'cancelled')
    },
  ],
  'a step that asked to wait stays blocked, and goes on when its need is retried': [
    'wait-ends',
    async (world) => {
      const { ids } = await submitFlow(world, flowOf({ a: '', b: 'a' }, {}, { onNeedFailed: 'wait' }))
      assert.equal((await world.fail(await takeStep(world, ids.a))).moved, undefined)
      assert.equal(await statesOf(world, ids), 'a failed, b blocked')
      assert.equal((await retry(world, ids.a)).moved, undefined)
      const { moved } = await world.end(await takeStep(world, ids.a))
      assert.equal(told(moved), 'b ready 1')
    },
  ],
  'a retry begins all that ended only because of it again, in the same write': [
    'retry-alone',
    async (world) => {
      const { ids } = await submitFlow(world, flowOf({ a: '', b: 'a', c: 'a', d: 'b c' }))
      await world.fail(await takeStep(world, ids.a))
      const { answer, moved } = await retry(world, ids.a)
      assert.deepEqual([answer, told(moved)], ['ok', 'b blocked 2, c blocked 2, d blocked 2'])
      assert.equal(await statesOf(world, ids), 'a ready, b blocked, c blocked, d blocked')
      const d = await world.view(ids.d ?? '')
      assert.deepEqual([d.generation, d.failure, d.finishedAt], [2, undefined, undefined])
      assert.deepEqual(d.why, { code: 'run.again', params: { by: 'ann', generation: 2 } })
      assert.deepEqual(
        (await world.store.attempts(ids.d ?? '')).map(({ generation, outcome }) => [generation, outcome]),
        [
          [1, 'operator'],
          [2, 'operator'],
        ],
      )
      assert.equal(told((await world.end(await takeStep(world, ids.a))).moved), 'b ready 2, c ready 2')
    },
  ],
  'a run that has another failed need stays ended until that is retried too': [
    'retry-too-much',
    async (world) => {
      const { ids } = await submitFlow(world, flowOf({ a: '', b: '', c: 'a b', d: 'c' }))
      const { token } = await world.claim()
      await world.fail({ run: ids.a ?? '', token })
      await world.fail({ run: ids.b ?? '', token })
      assert.equal((await retry(world, ids.a)).moved, undefined)
      assert.equal(await statesOf(world, ids), 'a ready, b failed, c failed, d failed')
      assert.equal(told((await retry(world, ids.b)).moved), 'c blocked 2, d blocked 2')
    },
  ],
  'a run that ended by itself is not begun again with its need': [
    'retry-begins-others-again',
    async (world) => {
      const { ids } = await submitFlow(world, flowOf({ a: '', b: 'a' }))
      await cancel(world, ids.b)
      await world.fail(await takeStep(world, ids.a))
      assert.equal((await retry(world, ids.a)).moved, undefined)
      assert.equal(await statesOf(world, ids), 'a ready, b cancelled')
      // Begun again by itself it waits for its need, as it did before.
      assert.equal((await retry(world, ids.b)).answer, 'ok')
      assert.equal(await statesOf(world, ids), 'a ready, b blocked')
    },
  ],
  'a retry that could only end by its need again is lost': [
    'retry-against-need',
    async (world) => {
      const { ids } = await submitFlow(world, flowOf({ a: '', b: 'a' }))
      await world.fail(await takeStep(world, ids.a))
      const before = await world.everythingOf(ids.b ?? '')
      assert.deepEqual(await retry(world, ids.b), { now: world.now, answer: 'lost' })
      assert.deepEqual(await world.everythingOf(ids.b ?? ''), before)
    },
  ],
  'a flow that is submitted again to retry begins its failed steps again': [
    'flow-never-retried',
    async (world) => {
      const flow = flowOf({ a: '', b: 'a', c: '' }, { key: 'k', fingerprint: 'p', onExisting: 'retry' })
      const { ids } = await submitFlow(world, flow)
      const { token } = await world.claim()
      await world.fail({ run: ids.a ?? '', token })
      await world.end({ run: ids.c ?? '', token })
      const { created, steps } = await submitFlow(world, flow)
      assert.deepEqual(
        [created, ...steps.map(({ step, state, generation }) => `${step} ${state} ${generation}`)],
        [false, 'a ready 2', 'b blocked 2', 'c succeeded 1'],
      )
    },
  ],
  'all that a flow’s retry begins again have their new deadlines, those it leaves alone their own': [
    'flow-retry-without-deadline',
    async (world) => {
      const shape = { a: '', b: 'a', c: '' }
      const named = { key: 'k', fingerprint: 'p', onExisting: 'retry' } as const
      const [first, second] = [world.now + 3_600_000, world.now + 7_200_000]
      const { ids } = await submitFlow(world, flowOf(shape, named, { deadlineAt: first }))
      const { token } = await world.claim()
      await world.fail({ run: ids.a ?? '', token })
      await world.end({ run: ids.c ?? '', token })
      await submitFlow(world, flowOf(shape, named, { deadlineAt: second }))
      const deadlines = await Promise.all(Object.values(ids).map(async (run) => (await world.view(run)).deadlineAt))
      assert.deepEqual(deadlines, [second, second, first])
    },
  ],
  'an owner that lost its lease moves nobody': [
    'stale-end-unblocks',
    async (world) => {
      const { ids } = await submitFlow(world, flowOf({ a: '', b: 'a' }))
      const stale = await takeStep(world, ids.a)
      await world.outliveLeases()
      await takeStep(world, ids.a)
      assert.equal((await world.end(stale, { output: '1' })).answer, 'lost')
      assert.equal(await statesOf(world, ids), 'a ready, b blocked')
    },
  ],
  'a claimed step tells its flow, its name and whether it needs others': [
    'claim-hides-step',
    async (world) => {
      const { id, ids } = await submitFlow(world, flowOf({ a: '', b: 'a' }))
      const plain = await world.submit()
      const { runs, token } = await world.claim()
      assert.deepEqual(
        runs.map(({ id: run, flow, step, needs }) => [run, flow, step, needs]),
        [
          [ids.a, id, 'a', undefined],
          [plain, undefined, undefined, undefined],
        ],
      )
      await world.end({ run: ids.a ?? '', token })
      const [b] = (await world.claim()).runs
      assert.deepEqual([b?.id, b?.flow, b?.step, b?.needs], [ids.b, id, 'b', true])
      await world.outliveLeases()
      await world.claim({ limit: 0 })
    },
  ],
  'links tell what a run needs, with what came of it, and what needs it': [
    'links-without-output',
    async (world) => {
      const { ids } = await submitFlow(world, flowOf({ a: '', b: '', c: 'b a', d: 'c' }))
      const { token } = await world.claim()
      const long = JSON.stringify('x'.repeat(5_000))
      await world.end({ run: ids.a ?? '', token }, { output: long })
      const { needs, dependents } = await world.store.links(ids.c ?? '')
      const kind = 'fail' as const
      assert.deepEqual(needs, [
        { run: ids.b, task: 't', state: 'ready', step: 'b', kind, open: true, costUsd: 0 },
        { run: ids.a, task: 't', state: 'succeeded', step: 'a', kind, open: false, output: long, costUsd: 0 },
      ])
      assert.deepEqual(dependents, [{ run: ids.d, task: 't', state: 'blocked', step: 'd', kind, open: true }])
      assert.deepEqual(await world.store.links('nobody'), { needs: [], dependents: [] })
    },
  ],
})
