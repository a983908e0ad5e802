import { describe, expect, test } from 'vitest'
import { RepriseError } from '../failure/reprise-error.ts'
import type { Store } from '../ports/store.ts'
import { memory } from '../stores/memory/index.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import type { Clock } from '../time/clock.ts'
import { createReprise } from './reprise.ts'
import { StoreTime } from './store-time.ts'
import { workbench } from './workbench.fixtures.ts'

/** A store of which one verb is out of reach for the first few times. */
function flaky<Verb extends 'journal' | 'keepPolicy'>(store: Store, verb: Verb, times: number): Store {
  let left = times
  const reached = store[verb] as (...args: unknown[]) => Promise<unknown>
  return {
    ...store,
    [verb]: async (...args: unknown[]) => {
      if (left-- > 0) throw new RepriseError('store.unavailable', `${verb} is out of reach`)
      return reached(...args)
    },
  }
}

describe('a store in trouble', () => {
  test('a policy is kept before the first decision, however often the store has to be asked', async () => {
    const clock = virtualClock()
    const store = memory({ clock })
    const reprise = createReprise({ store: flaky(store, 'keepPolicy', 3), clock })
    const task = reprise.task('t', {}, () => 'done')
    const run = await reprise.submit(task, 1)
    const worker = reprise.work()
    await clock.runUntilSettled(run.result())
    expect(await store.policy(task.policyHash)).toBe(JSON.stringify(task.policy))
    await clock.runUntilSettled(worker.stop())
  })

  test('a journal that cannot be read is asked for again, and the run is not blamed', async () => {
    const clock = virtualClock()
    const store = memory({ clock })
    const reprise = createReprise({ store: flaky(store, 'journal', 2), clock })
    let bought = 0
    const task = reprise.task('t', {}, async (_input, ctx) => {
      const answer = await ctx.call('ask', () => ++bought)
      if (ctx.attempt === 1) throw Object.assign(new Error('unavailable'), { status: 503 })
      return answer
    })
    const run = await reprise.submit(task, 1)
    const worker = reprise.work()
    expect(await clock.runUntilSettled(run.result())).toMatchObject({ ok: true, value: 1 })
    expect(await reprise.get(run.id)).toMatchObject({ attempt: 2, ledgers: { errors: 1 } })
    await clock.runUntilSettled(worker.stop())
  })

  test('an intent of which nobody knows whether it was written is asked again, and the attempt goes on', async () => {
    const clock = virtualClock()
    const store = memory({ clock })
    let unknown = 1
    const commit: Store['commit'] = async (change) => {
      const answer = await store.commit(change)
      if (change.type === 'intent' && unknown-- > 0) throw new RepriseError('store.unknown', 'the answer was lost')
      return answer
    }
    const reprise = createReprise({ store: { ...store, commit }, clock })
    let sent = 0
    const task = reprise.task('t', {}, (_input, ctx) => ctx.call('ask', () => ++sent))
    const run = await reprise.submit(task, 1)
    const worker = reprise.work()
    expect(await clock.runUntilSettled(run.result())).toMatchObject({ ok: true, value: 1 })
    expect(await reprise.get(run.id)).toMatchObject({ attempt: 1, ledgers: { errors: 0, lapses: 0 } })
    await clock.runUntilSettled(worker.stop())
  })
})

describe('crashes', () => {
  /** Lets `times` workers die with the run in hand, each by itself. */
  async function die({ store, clock }: ReturnType<typeof workbench>, times: number): Promise<void> {
    for (let time = 1; time <= times; time += 1) {
      await store.claim({
        worker: `dead-${time}`,
        nonce: `n${time}`,
        limit: 1,
        leaseMs: 1_000,
        alone: true,
        tasks: ['t'],
      })
      await clock.advance(1_001)
    }
  }

  test('spent crashes reach a person, also when the worker that found them stopped before it began', async () => {
    const bench = workbench()
    const { reprise, store, workUntil } = bench
    const task = reprise.task('t', {}, () => 'begun')
    const { id } = await reprise.submit(task, 1)
    await die(bench, 3)
    const { token } = await store.claim({
      worker: 'w',
      nonce: 'n',
      limit: 1,
      leaseMs: 1_000,
      alone: true,
      tasks: ['t'],
    })
    await store.commit({ type: 'end', run: id, token, state: 'ready', unstarted: true })
    await workUntil('idle')
    expect(await reprise.get(id)).toMatchObject({ state: 'review', ledgers: { lapses: 3 } })
  })

  test('a fourth crash before anybody decided about the third still asks a person', async () => {
    const bench = workbench()
    const { reprise, workUntil } = bench
    const task = reprise.task('t', {}, () => 'begun')
    const { id } = await reprise.submit(task, 1)
    await die(bench, 4)
    await workUntil('idle')
    expect(await reprise.get(id)).toMatchObject({ state: 'review', ledgers: { lapses: 4, errors: 0 } })
  })
})

describe('store time', () => {
  test('what a fast clock runs ahead is corrected by the next answer and never goes back for a reader', () => {
    let monotonic = 0
    const time = new StoreTime({ now: () => 5, monotonic: () => monotonic } as Clock)
    expect(time.now()).toBe(5)
    time.learn(1_000)
    monotonic = 1_100
    expect(time.now()).toBe(2_100)
    time.learn(2_000)
    expect(time.now()).toBe(2_100)
    monotonic = 2_200
    expect(time.now()).toBe(3_100)
    time.learn(2_900)
    monotonic = 3_300
    expect(time.now()).toBe(4_000)
  })

  test('an answer that was overtaken by a later one changes nothing', () => {
    const time = new StoreTime({ now: () => 5, monotonic: () => 0 } as Clock)
    time.learn(1_000)
    time.learn(990)
    expect(time.now()).toBe(1_000)
  })
})
