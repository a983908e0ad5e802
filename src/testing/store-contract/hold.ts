/**
 * Laws of holds: who is not given runs, who goes first when a hold ends, and how the others follow.
 */
import assert from 'node:assert/strict'
import type { HoldOrder } from '../../run/hold.ts'
import { subject } from './law.ts'
import { newRun, type World } from './world.ts'

const FLASH = 'resource:flash'

const order = (world: World, given: Partial<HoldOrder> = {}): HoldOrder => ({
  what: FLASH,
  until: world.now + 10_000,
  why: 'slow down',
  by: 'http.429',
  probe: true,
  ...given,
})

const phases = async (world: World) => (await world.store.holds()).holds.map(({ phase }) => phase)

/** One run has met the limit, and `others` wait behind it. */
async function heldWith(world: World, others: number, probe = true): Promise<string[]> {
  const held = await world.hold({ resource: 'flash' })
  const until = world.now + 10_000
  await world.fail(held, { dueAt: until, hold: order(world, { until, probe }) })
  const created = await world.store.create(Array.from({ length: others }, () => newRun({ resource: 'flash' })))
  return [held.run, ...created.runs.map((run) => (run as { id: string }).id)]
}

/** What a second of claims gives out, asked every 50 ms by a worker that wants everything. */
async function claimedInSecond(world: World): Promise<number> {
  let claimed = 0
  for (let look = 0; look < 20; look += 1) {
    claimed += (await world.claim()).runs.length
    await world.clock.advance(50)
  }
  return claimed
}

export const holdLaws = subject('hold', {
  'a hold comes with the end that orders it, and nothing of what it covers is claimed meanwhile': [
    'hold-not-kept hold-ignored',
    async (world) => {
      const runs = await heldWith(world, 1)
      assert.deepEqual((await world.store.holds()).holds, [
        { ...order(world), setAt: world.now, phase: 'held', waiting: 1 },
      ])
      const other = await world.submit({ resource: 'pro' })
      assert.deepEqual(await world.claimedIds(), [other])
      await world.clock.advance(9_999)
      assert.deepEqual(await world.claimedIds(), [])
      assert.equal((await world.view(runs[1] ?? '')).attempt, 0)
    },
  ],
  'a refused end holds nothing': [
    'hold-unfenced',
    async (world) => {
      const held = await world.hold({ resource: 'flash' })
      await world.outliveLeases()
      await world.take(held.run)
      assert.equal((await world.fail(held, { dueAt: world.now + 1, hold: order(world) })).answer, 'lost')
      assert.deepEqual((await world.store.holds()).holds, [])
    },
  ],
  'tasks and categories are held by name, lanes that are made later too': [
    'hold-by-lane',
    async (world) => {
      await world.store.hold(order(world, { what: 'task:t' }))
      await world.store.hold(order(world, { what: 'category:c' }))
      await world.submit()
      await world.submit({ task: 'u', category: 'c', resource: 'new' })
      const open = await world.submit({ task: 'u', category: 'd' })
      assert.deepEqual(await world.claimedIds({ tasks: ['t', 'u'] }), [open])
    },
  ],
  'a claim says when the first hold of waiting runs ends': [
    'hold-unannounced',
    async (world) => {
      await world.store.hold(order(world))
      await world.store.hold(order(world, { what: 'resource:pro', until: world.now + 1 }))
      assert.equal((await world.claim()).nextAt, undefined)
      await world.submit({ resource: 'flash' })
      assert.equal((await world.claim()).nextAt, world.now + 10_000)
    },
  ],
  'of several orders the longest stands; an operator’s stands whatever was before': [
    'hold-shortened',
    async (world) => {
      const held = await world.hold({ resource: 'flash' })
      const other = await world.hold({ resource: 'flash' })
      await world.fail(held, { hold: order(world, { until: world.now + 60_000 }) })
      await world.fail(other, { hold: order(world, { until: world.now + 1_000 }) })
      const until = async () => (await world.store.holds()).holds.map((hold) => hold.until)
      assert.deepEqual(await until(), [world.now + 60_000])
      await world.store.hold(order(world, { until: world.now + 5, by: 'ann' }))
      assert.deepEqual(await until(), [world.now + 5])
    },
  ],
  'a hold without an end lasts until it is released; releasing opens at once, and both are noted': [
    'release-forgotten hold-unnoted',
    async (world) => {
      const run = await world.submit({ resource: 'flash' })
      const { until: _none, ...endless } = order(world, { by: 'ann' })
      assert.deepEqual(await world.store.hold(endless), { now: world.now, answer: 'ok' })
      await world.clock.advance(365 * 86_400_000)
      assert.deepEqual(await world.claimedIds(), [])
      const request = { what: FLASH, by: 'bob' } as const
      assert.deepEqual(await world.store.release(request), { now: world.now, answer: 'ok' })
      assert.deepEqual(await world.store.release(request), { now: world.now, answer: 'lost' })
      assert.deepEqual(await world.claimedIds(), [run])
      assert.deepEqual(
        (await world.store.notes({})).map(({ by, what }) => [by, what]),
        [
          ['ann', 'hold.set'],
          ['bob', 'hold.released'],
        ],
      )
    },
  ],
  'when a hold ends one run goes first, over all workers': [
    'probe-many',
    async (world) => {
      const [first] = await heldWith(world, 5)
      await world.clock.advance(10_000)
      const { runs } = await world.claim()
      assert.deepEqual(
        runs.map(({ id, probes }) => [id, probes]),
        [[first, [FLASH]]],
      )
      assert.deepEqual(await world.claimedIds({ worker: 'w2' }), [])
      assert.deepEqual(await phases(world), ['probing'])
    },
  ],
  'a repeated claim names the probe again': [
    'probe-unnamed-again',
    async (world) => {
      await heldWith(world, 1)
      await world.clock.advance(10_000)
      const request = world.request()
      await world.store.claim(request)
      assert.deepEqual((await world.store.claim(request)).runs[0]?.probes, [FLASH])
    },
  ],
  'a probe that is told to wait extends the hold': [
    'probe-never-extends',
    async (world) => {
      const [first] = await heldWith(world, 3)
      await world.clock.advance(10_000)
      const probe = await world.take(first ?? '')
      const until = world.now + 7_000
      await world.fail(probe, { dueAt: until, hold: order(world, { until }) })
      assert.deepEqual(await phases(world), ['held'])
      assert.deepEqual(await world.claimedIds(), [])
      await world.clock.advance(7_000)
      assert.equal((await world.claimedIds()).length, 1)
    },
  ],
  'a probe that vanishes or is given back is followed by another': [
    'probe-lost-for-ever',
    async (world) => {
      const [first] = await heldWith(world, 3)
      await world.clock.advance(10_000)
      await world.take(first ?? '')
      await world.outliveLeases()
      const again = await world.claim()
      assert.equal(again.runs.length, 1)
      const held = { run: again.runs[0]?.id ?? '', token: again.token }
      await world.end(held, { state: 'ready', unstarted: true })
      assert.deepEqual(await phases(world), ['held'])
      assert.equal((await world.claim()).runs.length, 1)
    },
  ],
  'after a probe’s success the others are let in along a ramp, and then the hold is gone': [
    'ramp-none ramp-for-ever',
    async (world) => {
      const [first] = await heldWith(world, 40)
      await world.clock.advance(10_000)
      await world.end(await world.take(first ?? ''))
      assert.deepEqual(await phases(world), ['admitting'])
      const seconds: number[] = []
      while (seconds.reduce((sum, each) => sum + each, 0) < 40 && seconds.length < 20)
        seconds.push(await claimedInSecond(world))
      assert.ok(seconds.length >= 3, `let in within ${seconds.length} seconds`)
      const peak = Math.max(...seconds)
      assert.ok(peak <= (3 * 40) / seconds.length, `${peak} in one second of ${seconds}`)
      assert.deepEqual((await world.store.holds()).holds, [])
    },
  ],
  'a probe that got an answer, though a wrong one, lets the others in': [
    'probe-answer-ignored',
    async (world) => {
      const [first] = await heldWith(world, 1)
      await world.clock.advance(10_000)
      await world.fail(await world.take(first ?? ''), { admits: true })
      assert.deepEqual(await phases(world), ['admitting'])
    },
  ],
  'an answer that leaves too little for those that are out holds its resource in the same write, an ample one does not':
    [
      'quota-ignored quota-alone',
      async (world) => {
        const [first, second] = [await world.hold({ resource: 'flash' }), await world.hold({ resource: 'flash' })]
        await world.hold({ resource: 'pro' })
        const told = async (held: typeof first, remaining: number) => {
          await world.intent(held, `call-${remaining}`)
          const entry = { generation: 1, name: `call-${remaining}`, inputHash: 'hash', answer: '1' }
          const quota = {
            resource: 'flash',
            by: 'left',
            unit: 'requests',
            remaining,
            resetAt: world.now + 8_000,
          } as const
          return world.store.commit({ type: 'answer', ...held, ...entry, quotas: [quota] })
        }
        assert.deepEqual(await told(first, 30), { now: world.now, answer: 'ok' })
        assert.deepEqual((await world.store.holds()).holds, [])
        const { hold } = await told(second, 1)
        const order = { what: FLASH, until: world.now + 8_000, why: '1 requests are left', by: 'left', probe: false }
        assert.deepEqual(hold, order)
        assert.equal((await told(first, 2)).hold, undefined, 'it is held longer already')
        const waiting = await world.submit({ resource: 'flash' })
        assert.deepEqual(await world.claimedIds(), [])
        await world.clock.advance(8_000)
        assert.deepEqual(await world.claimedIds(), [waiting])
      },
    ],
  'who was told to wait waits no longer when the probe got an answer or the hold is released': [
    'told-waits-on',
    async (world) => {
      const day = world.now + 86_400_000
      const told = await world.hold({ resource: 'flash' })
      await world.fail(told, { dueAt: day, again: true, hold: order(world) })
      const probe = await world.submit({ resource: 'flash' })
      await world.clock.advance(10_000)
      await world.end(await world.take(probe))
      await world.clock.advance(1_000)
      const held = await world.take(told.run)
      await world.fail(held, { dueAt: day, again: true, hold: order(world, { until: day }) })
      await world.store.release({ what: FLASH, by: 'ann' })
      assert.deepEqual(await world.claimedIds(), [told.run])
    },
  ],
  'only the probe’s success opens a hold': [
    'hold-opened-by-anyone',
    async (world) => {
      const straggler = await world.hold({ resource: 'flash' })
      await heldWith(world, 1)
      await world.end(straggler)
      assert.deepEqual(await phases(world), ['held'])
    },
  ],
  'without a probe a hold that ends opens along the ramp': [
    'probe-always',
    async (world) => {
      await heldWith(world, 8, false)
      await world.clock.advance(10_000)
      const [first] = (await world.claim()).runs
      assert.equal(first?.probes, undefined)
      assert.ok((await claimedInSecond(world)) > 1)
    },
  ],
})
