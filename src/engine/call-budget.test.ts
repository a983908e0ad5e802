import { describe, expect, test } from 'vitest'
import { failure, failureOf } from '../failure/own.ts'
import { say } from '../policy/say.ts'
import type { BudgetOptions } from '../run/define-budget.ts'
import type { RepriseEvent } from '../run/event.ts'
import { memory } from '../stores/memory/index.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import { wasNeverSent } from './call-budget.ts'
import { createReprise } from './reprise.ts'

const DAY_MS = 86_400_000

function bench(budgets: Readonly<Record<string, BudgetOptions>>) {
  const clock = virtualClock()
  const store = memory({ clock })
  const reprise = createReprise({ store, clock, dice: () => 0.5, budgets })
  const events: RepriseEvent[] = []
  reprise.on('*', (event) => events.push(event))
  return {
    clock,
    store,
    reprise,
    events,
    named: (name: RepriseEvent['name']) => events.filter((event) => event.name === name),
    async work() {
      const worker = reprise.work({ concurrency: 4 })
      await clock.runUntilSettled(worker.idle())
      await clock.runUntilSettled(worker.stop())
    },
    async calls(name: string, window: 'day' | 'month' = 'day') {
      const { windows } = await reprise.budgets.usage(name)
      const { spent, reserved } = windows.find((each) => each.window === window)?.use.calls ?? {}
      return [spent, reserved]
    },
    async usd(name: string) {
      const { windows } = await reprise.budgets.usage(name)
      const { spent, reserved } = windows[0]?.use.usd ?? {}
      return [spent, reserved]
    },
  }
}

const hiccup = () => failure({ kind: 'transient', code: 'http.503', message: 'unavailable' })
const refusedByHost = () =>
  Object.assign(new TypeError('fetch failed'), {
    cause: Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED', syscall: 'connect' }),
  })

describe('ctx.call with a budget', () => {
  test('the unit is the physical send: each repeat reserves for itself', async () => {
    const { reprise, work, calls } = bench({ pro: { day: 10, month: 20 } })
    let sends = 0
    const task = reprise.task('t', {}, (_input, ctx) =>
      ctx.call(
        'ask',
        () => {
          sends += 1
          if (sends < 3) throw hiccup()
          return 'fine'
        },
        { budget: { name: 'pro' } },
      ),
    )
    await reprise.submit(task, 1)
    await work()
    expect(sends).toBe(3)
    expect(await calls('pro')).toEqual([3, 0])
    expect(await calls('pro', 'month')).toEqual([3, 0])
  })

  test('used up: nothing is sent, the failure says what and until when, and a handler may catch it', async () => {
    const { reprise, work, named, clock } = bench({ pro: { day: 1 } })
    let sends = 0
    const caught: unknown[] = []
    const task = reprise.task('t', {}, async (_input, ctx) => {
      const ask = (name: string) => ctx.call(name, () => ++sends, { budget: { name: 'pro' } })
      await ask('first')
      await ask('second').catch((error: unknown) => caught.push(failureOf(error)))
    })
    const run = await reprise.submit(task, 1)
    await work()
    expect(sends).toBe(1)
    const resetsAt = Math.ceil((clock.now() + 1) / DAY_MS) * DAY_MS
    expect(caught).toMatchObject([
      {
        kind: 'exhausted',
        code: 'budget.pro',
        message: 'pro is used up for today (1 of 1)',
        facts: { budget: 'pro', window: 'day', unit: 'calls', used: 1, reserved: 0, limit: 1, resetsAt },
      },
    ])
    expect(named('budget.refused')).toMatchObject([{ call: 'second', next: 'person' }])
    expect(await run.result()).toMatchObject({ ok: true })
  })

  test('uncaught it goes to a person, or waits for the window if the budget says so', async () => {
    const { reprise, work, clock, store } = bench({
      pro: { day: 0, onExhausted: 'person' },
      mini: { day: 0, onExhausted: 'wait' },
    })
    const handle = (name: string) =>
      reprise.task(name, {}, (_input, ctx) => ctx.call('ask', () => 1, { budget: { name } }))
    const [toPerson, toWait] = [handle('pro'), handle('mini')]
    const person = await reprise.submit(toPerson, 1)
    const wait = await reprise.submit(toWait, 1)
    await work()
    const reviewed = await store.get({ id: person.id })
    expect(reviewed).toMatchObject({ state: 'review', ledgers: { errors: 0 } })
    expect(reviewed?.why && say(reviewed.why)).toBe(
      'pro is used up for today (0 of 0). To a person now; the cap resets at 00:00 UTC.',
    )
    const waiting = await store.get({ id: wait.id })
    expect(waiting).toMatchObject({ state: 'waiting', ledgers: { errors: 0 }, why: { code: 'budget.spent' } })
    expect((waiting?.dueAt ?? 0) % DAY_MS).toBe(0)
    await reprise.budgets.set('mini', { day: 1 }, 'ann')
    await clock.advance(DAY_MS)
    await work()
    expect(await wait.result()).toMatchObject({ ok: true })
  })

  test('what surely was not sent is given back; what may have been is spent', async () => {
    const { reprise, work, calls } = bench({ pro: { day: 10 } })
    let sends = 0
    const task = reprise.task('t', {}, (_input, ctx) =>
      ctx.call(
        'ask',
        () => {
          sends += 1
          if (sends === 1) throw refusedByHost()
          if (sends === 2) throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
          return 1
        },
        { budget: { name: 'pro' } },
      ),
    )
    await reprise.submit(task, 1)
    await work()
    expect(sends).toBe(3)
    expect(await calls('pro')).toEqual([2, 0])
  })

  test('money: the worst case is reserved, the told cost is spent, an untold one stays at its worst', async () => {
    const { reprise, work, usd, named } = bench({ pro: { day: { usd: 1 } } })
    const seen: unknown[] = []
    const task = reprise.task('t', {}, async (_input, ctx) => {
      const ask = (name: string, cost?: number) =>
        ctx.call(
          name,
          async (scope) => {
            seen.push((await usd('pro'))[1])
            if (cost !== undefined) scope.cost(cost)
          },
          { budget: { name: 'pro', usdMax: 0.3 } },
        )
      await ask('told', 0.1)
      await ask('untold')
      await ask('free', 0)
      await ask('dear', 0.5)
    })
    await reprise.submit(task, 1)
    await work()
    expect(seen).toEqual([0.3, 0.3, 0.3, 0.3])
    expect(await usd('pro')).toEqual([0.9, 0])
    expect(named('budget.overshot')).toMatchObject([{ call: 'dear', costUsd: 0.5, reservedUsd: 0.3 }])
  })

  test('a cost that nobody foretold is no overshoot where nothing caps it', async () => {
    const { reprise, work, named, usd } = bench({ pro: { day: 5 } })
    const task = reprise.task('t', {}, (_input, ctx) =>
      ctx.call('ask', ({ cost }) => cost(0.2), { budget: { name: 'pro' } }),
    )
    await reprise.submit(task, 1, { maxCost: 1 })
    await work()
    expect(await usd('pro')).toEqual([0.2, 0])
    expect(named('budget.overshot')).toEqual([])
  })

  test('a warning at each share, once in a window, however often money is given back', async () => {
    const { reprise, work, named, clock } = bench({ pro: { day: { usd: 1 }, warnAt: [0.5, 0.8] } })
    const task = reprise.task('t', {}, async (_input, ctx) => {
      for (let index = 0; index < 5; index += 1)
        await ctx.call(`ask-${index}`, ({ cost }) => cost(0), { budget: { name: 'pro', usdMax: 0.6 } })
      await ctx.call('big', ({ cost }) => cost(0), { budget: { name: 'pro', usdMax: 0.9 } })
    })
    await reprise.submit(task, 1)
    await work()
    expect(named('budget.warned').map((event) => 'share' in event && event.share)).toEqual([0.5, 0.8])
    await clock.advance(DAY_MS)
    await reprise.submit(task, 2)
    await work()
    expect(named('budget.warned')).toHaveLength(4)
  })

  test('maxCost of a run refuses the send that could pass it, also among sends that are under way', async () => {
    const { reprise, work } = bench({})
    let sends = 0
    const task = reprise.task('t', {}, async (_input, ctx) => {
      const ask = (name: string) =>
        ctx.call(
          name,
          ({ cost }) => {
            sends += 1
            cost(0.1)
          },
          { usdMax: 0.4 },
        )
      await Promise.allSettled([ask('a'), ask('b'), ask('c')])
      await ctx.call('note', () => 1)
      await ask('d')
      await ask('e')
      await ask('f')
    })
    const run = await reprise.submit(task, 1, { maxCost: 0.8 })
    await work()
    // a and b reserve 0.8, so c is refused; then d, e and f find 0.2, 0.3 and 0.4 spent.
    expect(sends).toBe(5)
    expect(await run.result()).toMatchObject({ ok: true })
    const poor = await reprise.submit(task, 2, { maxCost: 0.3 })
    await work()
    expect(await poor.result()).toMatchObject({ ok: false, failure: { kind: 'exhausted', code: 'budget.run' } })
  })

  test('bad input is refused in words, and nothing is sent or reserved', async () => {
    const { reprise, work, store } = bench({ usd: { day: { usd: 1 } } })
    const messages: string[] = []
    const task = reprise.task('t', {}, async (_input, ctx) => {
      const attempts = [
        { name: 'nope' },
        { name: 'usd' },
        { name: 'usd', usdMax: -1 },
        [
          { name: 'usd', usdMax: 1 },
          { name: 'usd', usdMax: 1 },
        ],
      ]
      for (const [index, budget] of attempts.entries())
        await ctx.call(`c${index}`, () => 1, { budget }).catch((error: Error) => messages.push(error.message))
    })
    await reprise.submit(task, 1)
    await work()
    expect(messages).toEqual([
      'budget is "nope", which is not defined. Allowed: usd; define it with createReprise({ budgets }).',
      'budget "usd" caps money, and the call has no usdMax. Allowed: the most that one send may cost, US dollars.',
      'usdMax of budget "usd" is -1. Allowed: US dollars from 0 to 1,000,000.',
      'budget names "usd" twice. Allowed: each budget once.',
    ])
    expect((await store.budgets()).budgets).toEqual([])
  })
})

describe('reprise.budgets', () => {
  test('the same name with other values is an error, with the same it is nothing', () => {
    const { reprise } = bench({ pro: { day: 50, month: 1_000 } })
    reprise.budgets.define('pro', { month: 1_000, day: { calls: 50 }, onExhausted: 'person' })
    expect(() => reprise.budgets.define('pro', { day: 51 })).toThrow('Budget "pro" is defined already')
  })

  test('usage of a budget that nobody used is its definition; an unknown one is an error', async () => {
    const { reprise } = bench({ pro: { day: 50, zone: 'Europe/Berlin' } })
    const usage = await reprise.budgets.usage('pro')
    expect(usage.windows[0]).toMatchObject({ window: 'day', use: { calls: { spent: 0, reserved: 0, limit: 50 } } })
    await expect(reprise.budgets.usage('other')).rejects.toThrow('budget is "other", which is not defined')
  })

  test('what is wrong in a definition is named with its field and what is allowed', () => {
    const wrong =
      (options: BudgetOptions, name = 'pro') =>
      () =>
        bench({ [name]: options })
    expect(wrong({})).toThrow('budgets.pro: {} is not allowed; allowed is a budget with at least one of day, month.')
    expect(wrong({ day: -1 })).toThrow('budgets.pro.day: -1 is not allowed; allowed is a whole number from 0 to')
    expect(wrong({ month: { usd: Number.NaN } })).toThrow(
      'budgets.pro.month.usd: null is not allowed; allowed is dollars',
    )
    expect(wrong({ day: 1, zone: 'Mars' })).toThrow('budgets.pro.zone: "Mars" is not allowed; allowed is an IANA')
    expect(wrong({ day: 1, warnAt: [2] })).toThrow('budgets.pro.warnAt: [2] is not allowed')
    expect(wrong({ day: 1 }, 'run')).toThrow('and not "run"')
  })
})

test('only the system’s own word that there was no connection counts as not sent', () => {
  expect(wasNeverSent(refusedByHost())).toBe(true)
  const both = [refusedByHost(), refusedByHost()]
  expect(wasNeverSent(new AggregateError(both))).toBe(true)
  expect(wasNeverSent(new AggregateError([...both, new Error('reset')]))).toBe(false)
  expect(wasNeverSent(new Error('connect ECONNREFUSED 127.0.0.1:1'))).toBe(false)
  expect(wasNeverSent(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }))).toBe(false)
  expect(wasNeverSent(Object.assign(new Error('x'), { code: 'ECONNRESET', syscall: 'read' }))).toBe(false)
})
