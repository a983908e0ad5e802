import { describe, expect, test } from 'vitest'
import { RepriseError } from '../failure/reprise-error.ts'
import { definePolicy } from '../policy/define-policy.ts'
import { memory } from '../stores/memory/index.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import { systemClock } from '../time/clock.ts'
import { flow } from './flow.ts'
import { createReprise } from './reprise.ts'
import { workbench } from './workbench.fixtures.ts'

/** A promise and the hand that settles it. */
const gate = () => Promise.withResolvers<void>()

describe('graceful stop', () => {
  test('handlers may end; what was claimed and not begun is given back as if nothing had happened', async () => {
    const { reprise, clock, named } = workbench()
    const open = gate()
    const task = reprise.task('t', {}, () => open.promise)
    const runs = await Promise.all([1, 2].map((input) => reprise.submit(task, input)))
    const worker = reprise.work({ concurrency: 1 })
    await clock.advance(10)
    const stopped = worker.stop({ drainMs: '10s' })
    await clock.advance(1_000)
    open.resolve()
    await clock.runUntilSettled(stopped)
    const [first, second] = await Promise.all(runs.map(({ id }) => reprise.get(id)))
    expect(first).toMatchObject({ state: 'succeeded', attempt: 1 })
    expect(second).toMatchObject({ state: 'ready', attempt: 0, ledgers: { interruptions: 0 } })
    expect(named('worker.stopped')[0]).toMatchObject({ released: 0 })
    expect(clock.pending()).toBe(0)
  })

  test('past the drain time a run is given back, not counted, and another worker goes on', async () => {
    const { reprise, clock, named, workUntil } = workbench()
    let begun = 0
    const task = reprise.task('t', {}, async (_input, ctx) => {
      begun += 1
      if (begun === 1)
        await new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)))
      return 'done'
    })
    const run = await reprise.submit(task, 1)
    const worker = reprise.work()
    await clock.advance(10)
    await clock.runUntilSettled(worker.stop({ drainMs: '2s' }))
    expect(await reprise.get(run.id)).toMatchObject({ ledgers: { errors: 0, interruptions: 1 } })
    expect(named('run.interrupted')[0]).toMatchObject({ counted: false })
    await workUntil()
    expect(await run.result()).toMatchObject({ ok: true, value: 'done' })
  })

  test('a handler that does not listen is left alone, and its late result is not heard', async () => {
    const { reprise, clock, workUntil } = workbench()
    const open = gate()
    let begun = 0
    const task = reprise.task('t', {}, async () => {
      begun += 1
      if (begun > 1) return 'second'
      await open.promise
      return 'zombie'
    })
    const run = await reprise.submit(task, 1)
    const worker = reprise.work()
    await clock.advance(10)
    await clock.runUntilSettled(worker.stop({ drainMs: 0 }))
    open.resolve()
    await workUntil()
    expect(await run.result()).toMatchObject({ ok: true, value: 'second' })
  })
})

describe('handlers that answer at once', () => {
  test('are called one after the other, but the event loop has its turns between', async () => {
    let at = 0
    const reprise = createReprise({ store: memory(), clock: { ...systemClock, monotonic: () => at } })
    const story: string[] = []
    const task = reprise.task('t', {}, () => {
      if (story.length === 0) setImmediate(() => story.push('turn'))
      story.push('run')
      at += 3
    })
    await reprise.submitMany(Array.from({ length: 40 }, (_, input) => [task, input]))
    const worker = reprise.work({ concurrency: 40 })
    await worker.idle()
    await worker.stop()
    expect(story.filter((what) => what === 'run')).toHaveLength(40)
    // 10 ms of runs that take 3.
    expect(story.indexOf('turn')).toBe(4)
  })
})

describe('a store in trouble', () => {
  test('stop ends although the store stays away', async () => {
    const { reprise, clock, store } = workbench()
    const task = reprise.task('t', {}, () => 'done')
    await reprise.submit(task, 1)
    const away = () => Promise.reject(new RepriseError('store.unavailable', 'gone'))
    Object.assign(store, { commit: away, renew: away, claim: away })
    const worker = reprise.work()
    await clock.advance(5_000)
    await clock.runUntilSettled(worker.stop({ drainMs: '1s' }))
    expect(clock.pending()).toBe(0)
  })

  test('a store that this code can never use breaks the worker for whoever waits', async () => {
    const { reprise, clock, store } = workbench()
    reprise.task('t', {}, () => 'done')
    Object.assign(store, { claim: () => Promise.reject(new RepriseError('sqlite.schema', 'the file is newer')) })
    const worker = reprise.work()
    await expect(clock.runUntilSettled(worker.idle())).rejects.toThrow('the file is newer')
    await expect(worker.idle()).rejects.toThrow('the file is newer')
    await clock.runUntilSettled(worker.stop())
  })
})

describe('leases', () => {
  test('a long handler keeps its run', async () => {
    const { reprise, clock, named, workUntil } = workbench()
    const task = reprise.task('t', {}, (_input, ctx) => ctx.sleep('work', '55s'))
    await reprise.submit(task, 1)
    await workUntil('settled', { leaseMs: '10s' })
    expect(named('run.succeeded')).toHaveLength(1)
    expect(named('run.lapsed')).toHaveLength(0)
    expect(clock.pending()).toBe(0)
  })

  test('cancel takes the run away from its owner: the signal is aborted and the end is refused', async () => {
    const { reprise, clock, store, named } = workbench()
    let reason: unknown
    const task = reprise.task('t', {}, async (_input, ctx) => {
      await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()))
      reason = ctx.signal.reason
      return 'too late'
    })
    const run = await reprise.submit(task, 1)
    const worker = reprise.work({ leaseMs: '3s' })
    await clock.advance(10)
    await store.steer({
      run: run.id,
      type: 'cancel',
      expect: { generation: 1, states: ['ready'] },
      by: 'ops',
      why: { code: 'run.cancelled', params: { by: 'ops' } },
    })
    await clock.advance(2_000)
    expect(String(reason)).toContain(`run ${run.id} is no longer owned`)
    expect(named('lease.lost')).toHaveLength(1)
    expect(await reprise.get(run.id)).toMatchObject({ state: 'cancelled' })
    await clock.runUntilSettled(worker.stop())
    expect(await run.result()).toMatchObject({
      ok: false,
      failure: { code: 'run.cancelled', message: 'The run was cancelled by ops.' },
    })
  })

  test('a run whose worker vanishes three times goes to a person, and is not begun a fourth time', async () => {
    const { reprise, clock, store, named, workUntil } = workbench()
    let begun = 0
    const task = reprise.task('t', {}, () => {
      begun += 1
    })
    const run = await reprise.submit(task, 1)
    for (const nonce of ['a', 'b', 'c']) {
      await store.claim({ worker: `dead-${nonce}`, nonce, limit: 1, leaseMs: 1_000, alone: true, tasks: ['t'] })
      await clock.advance(1_001)
    }
    await workUntil('idle')
    expect(begun).toBe(0)
    expect(await reprise.get(run.id)).toMatchObject({ state: 'review', ledgers: { lapses: 3 } })
    expect(named('run.lapsed')[0]).toMatchObject({ worker: 'dead-c', counted: true, lapses: 3, lapsesMax: 3 })
    expect(named('run.review')).toHaveLength(1)
  })

  test('runs that vanished together are suspects: taken one at a time, and none is blamed', async () => {
    const { reprise, clock, store, workUntil } = workbench()
    let together = 0
    let most = 0
    const task = reprise.task('t', {}, async (_input, ctx) => {
      together += 1
      most = Math.max(most, together)
      await ctx.sleep('work', '1s')
      together -= 1
    })
    const runs = await Promise.all([1, 2, 3].map((input) => reprise.submit(task, input)))
    await store.claim({ worker: 'dead', nonce: 'x', limit: 3, leaseMs: 1_000, alone: false, tasks: ['t'] })
    await clock.advance(1_001)
    await workUntil()
    expect(most).toBe(1)
    for (const { id } of runs)
      expect(await reprise.get(id)).toMatchObject({ state: 'succeeded', ledgers: { lapses: 0 } })
  })
})

describe('choosing', () => {
  test('a worker takes only its categories', async () => {
    const { reprise, workUntil } = workbench()
    const done: unknown[] = []
    const task = reprise.task('t', {}, (input) => void done.push(input))
    await reprise.submit(task, 'a', { category: 'invoices' })
    await reprise.submit(task, 'b', { category: 'letters' })
    await reprise.submit(task, 'c')
    await workUntil('idle', { categories: ['invoices'] })
    expect(done).toEqual(['a'])
  })

  test('fast handlers are claimed ahead, slow ones are not', async () => {
    const { reprise, clock, store } = workbench()
    const task = reprise.task('slow', {}, (_input, ctx) => ctx.sleep('work', '10s'))
    await reprise.submitMany(Array.from({ length: 50 }, (_, index) => [task, index] as const))
    const worker = reprise.work({ concurrency: 4 })
    await clock.advance(25_000)
    const running = (await store.find({ states: ['running'], limit: 100 })).runs
    expect(running).toHaveLength(4)
    await clock.runUntilSettled(worker.stop({ drainMs: 0 }))
  })
})

describe('idle', () => {
  test('what an end unblocks is seen, also when a look found nothing before it and every hint is lost', async () => {
    const clock = virtualClock()
    const store = { ...memory({ clock }), watch: () => () => {} }
    const reprise = createReprise({ store, clock })
    const open = gate()
    const first = reprise.task('first', {}, () => open.promise)
    const second = reprise.task('second', {}, () => 'done')
    const { id } = await reprise.submitFlow(flow('both', { a: [first, 1], b: [second, 1, { needs: ['a'] }] }))
    const worker = reprise.work({ concurrency: 2, pollMs: '1h' })
    const idle = worker.idle()
    await clock.advance(10)
    open.resolve()
    await clock.runUntilSettled(idle)
    expect((await store.flow({ id }))?.steps.map(({ state }) => state)).toEqual(['succeeded', 'succeeded'])
    await clock.runUntilSettled(worker.stop())
  })
})

describe('a process that ends at a known time', () => {
  const endless = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

  test('what it cannot end is given back once, and not taken again', async () => {
    const { reprise, clock, named } = workbench()
    const task = reprise.task('t', {}, (_input, ctx) => endless(ctx.signal))
    const run = await reprise.submit(task, 1)
    const worker = reprise.work({ concurrency: 1, leaseMs: '60s', endsAt: clock.now() + 10_000 })
    await clock.runUntilSettled(worker.idle())
    expect(await reprise.get(run.id)).toMatchObject({ state: 'ready', attempt: 1, ledgers: { interruptions: 1 } })
    expect(named('attempt.started')).toHaveLength(1)
    await clock.runUntilSettled(worker.stop())
  })

  test('a call for which too little time is left is given back once, also to a reserve of its own', async () => {
    const { reprise, clock } = workbench()
    const policy = definePolicy({ limits: { finalizeReserveMs: '20s' } })
    const task = reprise.task('t', { policy }, (_input, ctx) => ctx.call('c', () => 'sent'))
    const run = await reprise.submit(task, 1)
    const worker = reprise.work({ concurrency: 1, endsAt: clock.now() + 10_000 })
    await clock.runUntilSettled(worker.idle())
    expect(await reprise.get(run.id)).toMatchObject({ state: 'ready', attempt: 1, ledgers: { interruptions: 1 } })
    await clock.runUntilSettled(worker.stop())
  })

  test('nothing more is begun in the time that is kept back', async () => {
    const { reprise, clock } = workbench()
    const task = reprise.task('t', {}, () => clock.sleep(4_000))
    const runs = await Promise.all([1, 2, 3].map((input) => reprise.submit(task, input)))
    const worker = reprise.work({ concurrency: 1, endsAt: clock.now() + 10_000, finalizeReserveMs: '5s' })
    await clock.runUntilSettled(worker.idle())
    const views = await Promise.all(runs.map(({ id }) => reprise.get(id)))
    expect(views.map((view) => [view?.state, view?.attempt])).toEqual([
      ['succeeded', 1],
      ['succeeded', 1],
      ['ready', 0],
    ])
    await clock.runUntilSettled(worker.stop())
  })

  test('an end that is none is refused', () => {
    const { reprise } = workbench()
    reprise.task('t', {}, () => 1)
    expect(() => reprise.work({ endsAt: Number.NaN })).toThrow(/^endsAt is NaN\. Allowed/)
  })
})
