/**
 * Laws of budgets: never above a limit, taken with the intent, settled with the answer, once each, and never free by neglect.
 */
import assert from 'node:assert/strict'
import type { BudgetView, Over, Reserve } from '../../ports/budget.ts'
import type { AnswerChange, CommitAnswer } from '../../ports/store.ts'
import { subject } from './law.ts'
import { BEGUN_AGAIN, FAILURE, type Held, type World } from './world.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const LASTS_MS = 60_000

const pro = (change: Partial<Reserve> = {}): Reserve => ({
  budget: 'pro',
  zone: 'UTC',
  limits: { day: { calls: 3 } },
  onExhausted: 'person',
  warnAt: [],
  calls: 1,
  usd: 0,
  lastsMs: LASTS_MS,
  ...change,
})

interface Call {
  readonly held: Held
  readonly take: number
}

const sendOf = ({ held, take }: Call, generation = 1) =>
  ({ ...held, generation, name: 'call', inputHash: 'hash', take }) as const

/** One send of a run of its own that reserves. */
async function send(world: World, reserve: readonly Reserve[] = [pro()]): Promise<Call & { answer: CommitAnswer }> {
  const call = { held: await world.hold({}, { leaseMs: 400 * DAY_MS }), take: 1 }
  return { ...call, answer: await world.store.commit({ type: 'intent', ...sendOf(call), reserve }) }
}

const settle = (world: World, call: Call, how: Partial<AnswerChange> = {}): Promise<CommitAnswer> =>
  world.store.commit({ type: 'answer', ...sendOf(call), answer: '1', settle: 'spend', ...how })

async function used(world: World, name = 'pro'): Promise<BudgetView> {
  const { now, budgets } = await world.store.budgets()
  assert.equal(now, world.now)
  const found = budgets.find((budget) => budget.name === name)
  assert.ok(found, `${name} is among the budgets`)
  return found
}

/** Spent and reserved of the present day. */
async function today(world: World, unit: 'calls' | 'usd' = 'calls'): Promise<[spent: number, reserved: number]> {
  const { use } = (await used(world)).windows.find(({ window }) => window === 'day') ?? {}
  return [use?.[unit].spent ?? -1, use?.[unit].reserved ?? -1]
}

/** The time of day is not the clock's affair: a law that needs midnight goes there. */
async function untilMidnight(world: World, lessMs: number): Promise<void> {
  const midnight = Math.ceil((world.now + 1) / DAY_MS) * DAY_MS
  await world.clock.advance(midnight - world.now - lessMs)
}

const overOf = ({ answer, over }: CommitAnswer): Over => {
  assert.equal(answer, 'over')
  assert.ok(over)
  return over
}

export const budgetLaws = subject('budget', {
  'a reservation is taken with its intent and is spent with its answer': [
    'reserve-ignored settle-ignored',
    async (world) => {
      const call = await send(world)
      assert.equal(call.answer.answer, 'ok')
      assert.deepEqual(await today(world), [0, 1])
      assert.equal((await settle(world, call)).answer, 'ok')
      assert.deepEqual(await today(world), [1, 0])
    },
  ],
  'never above the limit, however many ask at once': [
    'check-then-increment',
    async (world) => {
      const calls: Call[] = []
      for (let index = 0; index < 12; index += 1)
        calls.push({ held: await world.hold({}, { leaseMs: 400 * DAY_MS }), take: 1 })
      const answers = await Promise.all(
        calls.map((call) => world.store.commit({ type: 'intent', ...sendOf(call), reserve: [pro()] })),
      )
      assert.deepEqual(
        answers.map(({ answer }) => answer).sort(),
        [...Array(3).fill('ok'), ...Array(9).fill('over')].sort(),
      )
      assert.deepEqual(await today(world), [0, 3])
    },
  ],
  'over names the limit, what is used of it and when it resets': [
    'over-untold',
    async (world) => {
      await untilMidnight(world, HOUR_MS)
      await settle(world, await send(world))
      await send(world)
      await send(world)
      const expected = { budget: 'pro', window: 'day', unit: 'calls', used: 1, reserved: 2, limit: 3 }
      assert.deepEqual(overOf((await send(world)).answer), { ...expected, resetsAt: world.now + HOUR_MS })
    },
  ],
  'over wrote nothing: neither the intent nor any of the other reservations': [
    'reserve-torn over-writes-intent',
    async (world) => {
      const other = pro({ budget: 'other' })
      const full = pro({ budget: 'full', limits: { month: { calls: 0 } } })
      assert.equal((await send(world, [other])).answer.answer, 'ok')
      const { held, answer } = await send(world, [other, full])
      assert.equal(overOf(answer).budget, 'full')
      assert.deepEqual(await world.store.journal(held.run, 1), [])
      const { windows } = await used(world, 'other')
      assert.deepEqual(
        windows.map(({ use }) => use.calls.reserved),
        [1, 1],
      )
    },
  ],
  'day and month both count, each with its own end': [
    'month-ignored',
    async (world) => {
      const reserve = [pro({ limits: { day: { calls: 2 }, month: { calls: 3 } } })]
      // The clock stands in a month's midst, so two days later it is still the same one.
      for (const window of ['day', 'month'] as const) {
        for (let index = window === 'day' ? 0 : 1; index < 2; index += 1)
          assert.equal((await send(world, reserve)).answer.answer, 'ok', `${window} ${index}`)
        assert.equal(overOf((await send(world, reserve)).answer).window, window)
        await world.clock.advance(DAY_MS)
      }
    },
  ],
  'windows are of the store’s time in the budget’s zone': [
    'window-in-utc',
    async (world) => {
      const reserve = [pro({ zone: 'America/New_York', limits: { day: { calls: 1 } } })]
      await untilMidnight(world, HOUR_MS)
      assert.equal((await send(world, reserve)).answer.answer, 'ok')
      await world.clock.advance(2 * HOUR_MS)
      const { resetsAt } = overOf((await send(world, reserve)).answer)
      assert.ok(resetsAt !== undefined && resetsAt > world.now && resetsAt <= world.now + 5 * HOUR_MS)
      await world.clock.advance(resetsAt - world.now)
      assert.equal((await send(world, reserve)).answer.answer, 'ok')
    },
  ],
  'a send counts in the windows in which it was reserved': [
    'settled-in-new-window',
    async (world) => {
      await untilMidnight(world, 1_000)
      const call = await send(world)
      await world.clock.advance(2_000)
      await settle(world, call)
      assert.deepEqual(await today(world), [0, 0])
      assert.equal((await used(world)).windows.find(({ window }) => window === 'month')?.use.calls.spent, 1)
    },
  ],
  'an intent that is asked again is not taken again': [
    'reserve-twice',
    async (world) => {
      const call = await send(world)
      const again = await world.store.commit({ type: 'intent', ...sendOf(call), reserve: [pro()] })
      assert.equal(again.answer, 'ok')
      assert.deepEqual(await today(world), [0, 1])
      const next = await world.store.commit({ type: 'intent', ...sendOf({ ...call, take: 2 }), reserve: [pro()] })
      assert.equal(next.answer, 'ok')
      assert.deepEqual(await today(world), [0, 2])
    },
  ],
  'a settlement that is asked again settles nothing again': [
    'settle-twice',
    async (world) => {
      const call = await send(world, [pro({ usd: 0.5 })])
      await send(world)
      await settle(world, call, { costUsd: 0.25 })
      await settle(world, call, { costUsd: 0.25 })
      assert.deepEqual(await today(world), [1, 1])
      assert.deepEqual(await today(world, 'usd'), [0.25, 0])
    },
  ],
  'what was not sent is given back, and only that': [
    'release-keeps release-of-sent',
    async (world) => {
      const unsent = await send(world)
      const sent = await send(world)
      await settle(world, unsent, { settle: 'release' })
      await settle(world, sent)
      await settle(world, sent, { settle: 'release' })
      assert.deepEqual(await today(world), [1, 0])
    },
  ],
  'money is reserved at its worst and spent at what it cost; untold it stays at its worst': [
    'cost-ignored money-uncapped',
    async (world) => {
      const reserve = [pro({ usd: 0.4, limits: { day: { usd: 1 } } })]
      const told = await send(world, reserve)
      const untold = await send(world, reserve)
      const { unit, used: spent, reserved, limit } = overOf((await send(world, reserve)).answer)
      assert.deepEqual([unit, spent, reserved, limit], ['usd', 0, 0.8, 1])
      await settle(world, told, { costUsd: 0.1 })
      await settle(world, untold)
      assert.deepEqual(await today(world, 'usd'), [0.5, 0])
      assert.equal((await send(world, reserve)).answer.answer, 'ok')
    },
  ],
  'sums of money are exact': [
    'money-in-floats',
    async (world) => {
      const reserve = [pro({ usd: 0.1, limits: { day: { usd: 0.3 } } })]
      for (let index = 0; index < 3; index += 1)
        assert.equal((await send(world, reserve)).answer.answer, 'ok', `send ${index}`)
      assert.deepEqual(await today(world, 'usd'), [0, 0.3])
    },
  ],
  'a reservation past its time is spent, and is never given back': [
    'leak-freed',
    async (world) => {
      const call = await send(world, [pro({ usd: 0.5 })])
      await world.clock.advance(LASTS_MS - 1)
      assert.deepEqual(await today(world), [0, 1])
      await world.clock.advance(1)
      assert.deepEqual(await today(world), [1, 0])
      await settle(world, call, { settle: 'release' })
      assert.deepEqual(await today(world), [1, 0])
      assert.deepEqual(await today(world, 'usd'), [0.5, 0])
      await send(world)
      await send(world)
      assert.equal((await send(world)).answer.answer, 'over')
    },
  ],
  'an answer after its time makes nothing cheaper, but a higher cost is told': [
    'late-made-cheaper',
    async (world) => {
      const reserve = [pro({ usd: 0.5 })]
      const cheap = await send(world, reserve)
      const dear = await send(world, reserve)
      await world.clock.advance(LASTS_MS)
      await send(world)
      await settle(world, cheap, { costUsd: 0.1 })
      const { overshot } = await settle(world, dear, { costUsd: 0.7 })
      assert.deepEqual(overshot, [{ budget: 'pro', usd: 0.7, reservedUsd: 0.5 }])
      assert.deepEqual(await today(world, 'usd'), [1.2, 0])
    },
  ],
  'the answer of a lost lease settles what it reserved': [
    'late-unsettled',
    async (world) => {
      const held = await world.hold()
      const call = { held, take: 1 }
      const lastsMs = 10 * LASTS_MS
      await world.store.commit({ type: 'intent', ...sendOf(call), reserve: [pro({ usd: 0.5, lastsMs })] })
      await world.outliveLeases()
      const owner = await world.take(held.run, { worker: 'w2' })
      await world.store.commit({
        type: 'intent',
        ...sendOf({ held: owner, take: 2 }),
        reserve: [pro({ usd: 0.5, lastsMs })],
      })
      assert.equal((await settle(world, call, { costUsd: 0.2 })).answer, 'lost')
      assert.deepEqual(await today(world), [1, 1])
      assert.deepEqual(await today(world, 'usd'), [0.2, 0.5])
    },
  ],
  'a failure settles as an answer does': [
    'failure-unsettled',
    async (world) => {
      const call = await send(world)
      await world.store.commit({ type: 'answer', ...sendOf(call), failure: FAILURE, settle: 'spend' })
      assert.deepEqual(await today(world), [1, 0])
    },
  ],
  'a lost lease reserves nothing': [
    'reserve-unfenced',
    async (world) => {
      await send(world)
      const held = await world.hold()
      await world.outliveLeases()
      await world.take(held.run, { worker: 'w2' })
      const late = await world.store.commit({ type: 'intent', ...sendOf({ held, take: 1 }), reserve: [pro()] })
      assert.equal(late.answer, 'lost')
      assert.deepEqual(await today(world), [0, 1])
    },
  ],
  'money beyond its worst case is recorded, and the window lets in nothing more that costs': [
    'overshoot-clipped',
    async (world) => {
      const reserve = [pro({ usd: 0.4, limits: { day: { usd: 1 } } })]
      const call = await send(world, reserve)
      const { overshot } = await settle(world, call, { costUsd: 1.5 })
      assert.deepEqual(overshot, [{ budget: 'pro', usd: 1.5, reservedUsd: 0.4 }])
      assert.deepEqual(await today(world, 'usd'), [1.5, 0])
      assert.equal((await send(world, [pro({ ...reserve[0], usd: 0.000_001 })])).answer.answer, 'over')
      assert.equal((await send(world, [pro({ ...reserve[0], usd: 0 })])).answer.answer, 'ok')
    },
  ],
  'an operator’s limits win until they are taken away, also below what is used, and are noted': [
    'set-ignored set-unnoted',
    async (world) => {
      await send(world)
      await send(world)
      await world.store.setBudget({ budget: 'pro', limits: { day: { calls: 1 } }, by: 'ann' })
      assert.equal(overOf((await send(world)).answer).limit, 1)
      assert.deepEqual(await today(world), [0, 2], 'what is reserved stays')
      const { set, windows, defined } = await used(world)
      assert.deepEqual(set, { limits: { day: { calls: 1 } }, by: 'ann', at: world.now })
      assert.deepEqual([windows[0]?.use.calls.limit, defined?.limits.day?.calls], [1, 3])
      await world.store.setBudget({ budget: 'pro', by: 'ben' })
      assert.equal((await send(world)).answer.answer, 'ok')
      assert.equal((await used(world)).set, undefined)
      const notes = await world.store.notes({})
      assert.deepEqual(
        notes.filter(({ what }) => what === 'budget.set').map(({ by }) => by),
        ['ann', 'ben'],
      )
    },
  ],
  'a share of a limit is warned of once in each window': [
    'warned-again warned-never',
    async (world) => {
      const reserve = [pro({ warnAt: [0.6, 1] })]
      const shares: number[] = []
      const sendOne = async () => {
        const call = await send(world, reserve)
        shares.push(...(call.answer.warned ?? []).map(({ share }) => share))
        return call
      }
      await sendOne()
      const second = await sendOne()
      assert.deepEqual(shares, [0.6])
      await settle(world, second, { settle: 'release' })
      await sendOne()
      assert.deepEqual(shares, [0.6])
      await sendOne()
      assert.deepEqual(shares, [0.6, 1])
      await world.clock.advance(DAY_MS)
      await sendOne()
      await sendOne()
      assert.deepEqual(shares, [0.6, 1, 0.6])
    },
  ],
  'what a run may cost is counted over all its generations, and is no budget of its own': [
    'run-cap-per-generation',
    async (world) => {
      const ofRun = pro({ budget: 'run', limits: { run: { usd: 1 } }, usd: 0.6 })
      const held = await world.hold({ maxCostUsd: 1 })
      const first = { held, take: 1 }
      await world.store.commit({ type: 'intent', ...sendOf(first), reserve: [ofRun] })
      await settle(world, first, { costUsd: 0.5 })
      await world.fail(held)
      const expect = { generation: 1, states: ['failed'] } as const
      await world.store.steer({ run: held.run, type: 'retry', by: 'ann', why: BEGUN_AGAIN, expect })
      const again = { held: await world.take(held.run), take: 1 }
      const change = { type: 'intent', ...sendOf(again, 2) } as const
      const over = overOf(await world.store.commit({ ...change, reserve: [ofRun] }))
      assert.deepEqual(over, { budget: 'run', window: 'run', unit: 'usd', used: 0.5, reserved: 0, limit: 1 })
      assert.equal((await world.store.commit({ ...change, reserve: [{ ...ofRun, usd: 0.5 }] })).answer, 'ok')
      assert.deepEqual((await world.store.budgets()).budgets, [])
    },
  ],
  'windows that ended long ago go with their calls, and the present ones stay': [
    'windows-kept windows-dropped',
    async (world) => {
      assert.ok(world.store.prune, 'the driver prunes; if it lets rows expire by other means, skip this law by name')
      const call = await send(world)
      const prune = async () => {
        for (let more = true, calls = 0; more && calls < 100; calls += 1)
          more = (await world.store.prune?.({ keepMs: {}, keysMs: 7 * DAY_MS, limit: 100 }))?.more ?? false
      }
      await prune()
      assert.deepEqual(await today(world), [0, 1])
      await world.clock.advance(70 * DAY_MS)
      await send(world)
      await prune()
      assert.deepEqual(await today(world), [0, 1])
      await settle(world, call)
      assert.deepEqual(await today(world), [0, 1], 'what is forgotten is settled for nobody')
      const asked = await world.store.commit({ type: 'intent', ...sendOf(call), reserve: [pro()] })
      assert.deepEqual([asked.answer, await today(world)], ['ok', [0, 2]], 'and is not remembered')
    },
  ],
  'what is reserved, spent and set outlives the store that wrote it': [
    'budgets-forgotten',
    async (world) => {
      assert.ok(world.opened.reopen, 'the driver can be opened again; if nothing outlives it, skip this law by name')
      await settle(world, await send(world))
      await send(world)
      await world.store.setBudget({ budget: 'pro', limits: { month: { calls: 9 } }, by: 'ann' })
      const before = await used(world)
      world.store = await world.opened.reopen()
      assert.deepEqual(await used(world), before)
      await send(world)
      assert.equal((await send(world)).answer.answer, 'over')
    },
  ],
})
