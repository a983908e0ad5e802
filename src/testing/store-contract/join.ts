/**
 * Laws of ends that bring runs with them: children that are simply begun, and those of a join, whose ends the parent waits for.
 */
import assert from 'node:assert/strict'
import type { CommitAnswer, EndChange } from '../../ports/store.ts'
import { subject } from './law.ts'
import { BEGUN_AGAIN, CANCELLED, type Held, keyed, newRun, type World } from './world.ts'

const CHILD = { task: 'child' }

/** Ends the attempt blocked on this many children. */
async function join(world: World, held: Held, count: number, name = 'parts'): Promise<string[]> {
  const children = Array.from({ length: count }, (_, index) => newRun({ ...CHILD, input: String(index) }))
  const committed = await world.end(held, await joining(world, held, name, children))
  assert.equal(committed.answer, 'ok')
  return idsOf(committed)
}

async function joining(
  world: World,
  held: Held,
  name: string,
  children: NonNullable<EndChange['join']>['children'],
): Promise<Partial<EndChange>> {
  const why = { code: 'run.joining', params: { name, children: children.length } } as const
  const { decision: _none, failure: _no, ...row } = await world.failedAttempt(held)
  return { state: 'blocked', why, suspensions: 1, attempt: { ...row, outcome: 'suspended' }, join: { name, children } }
}

const idsOf = ({ created }: CommitAnswer): string[] =>
  (created ?? []).flatMap((child) => (child === 'conflict' ? [] : [child.id]))

const endChild = async (
  world: World,
  run: string | undefined,
  ending: Partial<EndChange> = {},
): Promise<CommitAnswer> => world.end(await world.take(run ?? '', { tasks: ['child'] }), ending)

export const joinLaws = subject('join', {
  'a join creates its children with the end and blocks the parent': [
    'join-childless',
    async (world) => {
      const parent = await world.hold()
      const children = await join(world, parent, 2)
      const { state, why, lease, suspensions, endedBy } = await world.view(parent.run)
      assert.deepEqual([state, why?.code, lease, suspensions], ['blocked', 'run.joining', undefined, 1])
      assert.equal(endedBy, parent.token)
      const { needs } = await world.store.links(parent.run)
      assert.deepEqual(
        needs.map(({ run, kind, open, join: of }) => [run, kind, open, of]),
        children.map((run, index) => [run, 'join', true, { name: 'parts', generation: 1, index }]),
      )
      assert.deepEqual(await world.claimedIds(), [], 'the parent holds no slot')
      assert.deepEqual(await world.claimedIds({ tasks: ['child'] }), children)
      const [link] = (await world.store.links(children[1] ?? '')).dependents
      assert.deepEqual([link?.run, link?.state, link?.join?.index], [parent.run, 'blocked', 1])
    },
  ],
  'the end of the last child makes the parent ready, however the children ended': [
    'join-wakes-early',
    async (world) => {
      const parent = await world.hold()
      const [one, two, three] = await join(world, parent, 3)
      assert.equal((await endChild(world, one, { output: '1' })).moved, undefined)
      await world.fail(await world.take(two ?? '', { tasks: ['child'] }))
      assert.equal((await world.view(parent.run)).state, 'blocked')
      const expect = { generation: 1, states: ['ready'] } as const
      const { moved } = await world.store.steer({ run: three ?? '', type: 'cancel', by: 'ann', why: CANCELLED, expect })
      assert.deepEqual(
        moved?.map(({ run, state }) => [run, state]),
        [[parent.run, 'ready']],
      )
      const again = await world.take(parent.run)
      const { needs } = await world.store.links(parent.run)
      assert.deepEqual(
        needs.map(({ state, output, failure }) => [state, output, failure?.code]),
        [
          ['succeeded', '1', undefined],
          ['failed', undefined, 'http.503'],
          ['cancelled', undefined, undefined],
        ],
      )
      await world.end(again, { attempt: { ...(await world.failedAttempt(again)), decision: undefined as never } })
    },
  ],
  'a refused end creates no children': [
    'children-of-the-refused',
    async (world) => {
      const stale = await world.hold()
      const ending = await joining(world, stale, 'parts', [newRun(CHILD)])
      await world.outliveLeases()
      await world.take(stale.run)
      assert.deepEqual(await world.end(stale, ending), { now: world.now, answer: 'lost' })
      assert.equal((await world.end(stale, { children: [newRun(CHILD)] })).answer, 'lost')
      assert.equal((await world.store.find({ limit: 10 })).runs.length, 1)
    },
  ],
  'children begin with the end, idempotent by key as with create': [
    'children-forgotten',
    async (world) => {
      const first = await world.hold()
      const children = [newRun(CHILD), keyed('k', CHILD)]
      const one = await world.end(first, { output: '1', children })
      const [plain, named] = idsOf(one)
      const second = await world.hold()
      const conflicting = keyed('k', { ...CHILD, fingerprint: 'other' })
      const { created } = await world.end(second, { children: [keyed('k', CHILD), conflicting] })
      assert.deepEqual(created, [{ id: named, created: false, generation: 1 }, 'conflict'])
      assert.deepEqual(await world.claimedIds({ tasks: ['child'] }), [plain, named])
      assert.deepEqual(await world.store.links(plain ?? ''), { needs: [], dependents: [] })
    },
  ],
  'a join that cannot be is refused, and the lease stays': [
    'join-unchecked',
    async (world) => {
      const held = await world.hold()
      const bad = [
        await joining(world, held, 'parts', []),
        await joining(world, held, 'parts', [keyed('k')]),
        await joining(
          world,
          held,
          'parts',
          Array.from({ length: 1_001 }, () => newRun()),
        ),
        { state: 'blocked' as const },
      ]
      for (const ending of bad) await assert.rejects(world.end(held, ending), RangeError)
      assert.equal((await world.view(held.run)).lease?.token, held.token)
      assert.equal((await world.end(held)).answer, 'ok')
    },
  ],
  'a child that is begun again while its parent waits is waited for again': [
    'child-not-waited-for',
    async (world) => {
      const parent = await world.hold()
      const [one, two] = await join(world, parent, 2)
      await world.fail(await world.take(one ?? '', { tasks: ['child'] }))
      const expect = { generation: 1, states: ['failed'] } as const
      await world.store.steer({ run: one ?? '', type: 'retry', by: 'ann', why: BEGUN_AGAIN, expect })
      const { runs, token } = await world.claim({ tasks: ['child'] })
      assert.equal(runs.length, 2)
      assert.equal((await world.end({ run: two ?? '', token })).moved, undefined)
      assert.equal((await world.end({ run: one ?? '', token })).moved?.[0]?.run, parent.run)
    },
  ],
  'the next generation of a parent does not wait for the children of the one before': [
    'old-join-blocks',
    async (world) => {
      const parent = await world.hold()
      const children = await join(world, parent, 1)
      const live = { generation: 1, states: ['blocked'] } as const
      await world.store.steer({ run: parent.run, type: 'cancel', by: 'ann', why: CANCELLED, expect: live })
      const ended = { generation: 1, states: ['cancelled'] } as const
      await world.store.steer({ run: parent.run, type: 'retry', by: 'ann', why: BEGUN_AGAIN, expect: ended })
      assert.equal((await world.view(parent.run)).state, 'ready')
      const again = await world.take(parent.run)
      const [fresh] = await join(world, again, 1)
      assert.notEqual(fresh, children[0])
      const { runs, token } = await world.claim({ tasks: ['child'] })
      assert.equal(runs.length, 2)
      assert.equal((await world.end({ run: children[0] ?? '', token })).moved, undefined)
      assert.equal((await world.end({ run: fresh ?? '', token })).moved?.[0]?.generation, 2)
    },
  ],
})
