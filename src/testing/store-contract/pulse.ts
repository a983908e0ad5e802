/**
 * Laws of the pulse: since when runs could have been claimed, and how many have waited too long.
 */
import assert from 'node:assert/strict'
import type { TaskPulse } from '../../ports/store.ts'
import { subject } from './law.ts'
import { BEGUN_AGAIN, LEASE_MS, newRun, type World } from './world.ts'

const MINUTE = 60_000

/** What is told, with ages in place of instants. */
async function pulse(world: World, stuckAfterMs = 10 * MINUTE): Promise<(readonly [string, number, number])[]> {
  const told = await world.store.pulse({ stuckAfterMs })
  assert.equal(told.now, world.now)
  return told.tasks.map(({ task, oldestAt, stuck }: TaskPulse) => [task, told.now - oldestAt, stuck] as const)
}

export const pulseLaws = subject('pulse', {
  'tells per task since when the longest could have been claimed, and how many for too long': [
    'pulse-of-the-newest pulse-counts-all',
    async (world) => {
      assert.deepEqual(await pulse(world), [])
      await world.store.create([newRun(), newRun({ priority: 3 }), newRun({ task: 'u', category: 'c' })])
      await world.clock.advance(10 * MINUTE)
      await world.submit({ priority: -2 })
      await world.submit({ task: 'v', dueAt: world.now + MINUTE })
      const expected = [['t', 10 * MINUTE, 0] as const, ['u', 10 * MINUTE, 0] as const]
      assert.deepEqual(await pulse(world), expected)
      await world.clock.advance(1)
      assert.deepEqual(await pulse(world), [
        ['t', 10 * MINUTE + 1, 2],
        ['u', 10 * MINUTE + 1, 1],
      ])
    },
  ],
  'what somebody has, what waits for its time, and what has ended is not told': [
    'pulse-of-all',
    async (world) => {
      const held = await world.hold()
      const ended = await world.hold({ task: 'u' })
      await world.end(ended)
      await world.submit({ task: 'v', dueAt: world.now + 60 * MINUTE })
      await world.clock.advance(LEASE_MS - 1)
      assert.deepEqual(await pulse(world, 0), [])
      await world.end(held, { state: 'review', suspensions: 1 })
      assert.deepEqual(await pulse(world, 0), [])
    },
  ],
  'a run that is due counts from its due time, before and after a claim saw that': [
    'pulse-since-submit pulse-blind-to-due',
    async (world) => {
      const held = await world.hold()
      await world.fail(held, { dueAt: world.now + 30 * MINUTE })
      await world.submit({ task: 'u', dueAt: world.now + 30 * MINUTE })
      await world.clock.advance(42 * MINUTE)
      const expected = [['t', 12 * MINUTE, 1] as const, ['u', 12 * MINUTE, 1] as const]
      assert.deepEqual(await pulse(world), expected)
      assert.deepEqual(await world.claimedIds({ tasks: ['t', 'u'], categories: ['none'] }), [])
      assert.deepEqual(await pulse(world), expected)
    },
  ],
  'a lease that ended by itself counts from its end, before and after a claim saw that': [
    'pulse-since-submit pulse-blind-to-lapses',
    async (world) => {
      await world.hold()
      const neighbour = await world.submit({ task: 'u' })
      assert.deepEqual(await world.claimedIds({ tasks: ['u'] }), [neighbour])
      await world.clock.advance(LEASE_MS + 11 * MINUTE)
      const expected = [['t', 11 * MINUTE, 1] as const, ['u', 11 * MINUTE, 1] as const]
      assert.deepEqual(await pulse(world), expected)
      // A claim that serves their tasks and takes none of them.
      assert.deepEqual(await world.claimedIds({ tasks: ['t', 'u'], categories: ['none'] }), [])
      assert.deepEqual(await pulse(world), expected)
    },
  ],
  'what was given back, begun again or unblocked counts from then, however old it is': [
    'pulse-since-submit',
    async (world) => {
      const back = await world.hold()
      const again = await world.hold({ task: 'u' })
      await world.fail(again)
      const step = (name: string, task: string, needs: readonly string[]) => ({
        ...newRun({ task }),
        step: name,
        needs,
        onNeedFailed: 'fail' as const,
      })
      await world.store.createFlow({ name: 'f', steps: [step('a', 'v', []), step('b', 'w', ['a'])] })
      const first = await world.claim({ tasks: ['v'], leaseMs: 60 * MINUTE })
      await world.store.renew({
        worker: 'w1',
        leaseMs: 60 * MINUTE,
        leases: [{ run: back.run, token: back.token }],
      })
      await world.clock.advance(20 * MINUTE)
      await world.end(back, { state: 'ready', unstarted: true })
      await world.store.steer({
        run: again.run,
        type: 'retry',
        by: 'ann',
        why: BEGUN_AGAIN,
        expect: { generation: 1, states: ['failed'] },
      })
      await world.end({ run: first.runs[0]?.id ?? '', token: first.token })
      await world.clock.advance(MINUTE)
      assert.deepEqual(
        await pulse(world),
        ['t', 'u', 'w'].map((task) => [task, MINUTE, 0] as const),
      )
    },
  ],
  'what is held is left out until the hold is over': [
    'pulse-of-held',
    async (world) => {
      await world.store.create([newRun({ resource: 'flash' }), newRun({ task: 'u', resource: 'flash' }), newRun()])
      const hold = { why: 'maintenance', by: 'ann', probe: false } as const
      await world.store.hold({ what: 'resource:flash', ...hold })
      await world.clock.advance(20 * MINUTE)
      assert.deepEqual(await pulse(world), [['t', 20 * MINUTE, 1]])
      await world.store.release({ what: 'resource:flash', by: 'ann' })
      assert.deepEqual(await pulse(world), [
        ['t', 20 * MINUTE, 2],
        ['u', 20 * MINUTE, 1],
      ])
    },
  ],
  'an overdue review counts when nobody has it': [
    'pulse-blind-to-due',
    async (world) => {
      const held = await world.hold()
      await world.end(held, { state: 'review', suspensions: 1, dueAt: world.now + 5 * MINUTE })
      await world.store.take({ run: held.run, by: 'ann', leaseMs: 7 * MINUTE, expect: { generation: 1 } })
      await world.clock.advance(6 * MINUTE)
      assert.deepEqual(await pulse(world), [])
      await world.clock.advance(10 * MINUTE)
      assert.deepEqual(await pulse(world), [['t', 11 * MINUTE, 1]])
    },
  ],
})
