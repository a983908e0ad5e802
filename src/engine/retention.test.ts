import { describe, expect, test } from 'vitest'
import { memoryArtifacts } from '../artifacts/memory/index.ts'
import type { Pruned, Store } from '../ports/store.ts'
import type { RepriseEvent } from '../run/event.ts'
import { memory } from '../stores/memory/index.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import { createReprise, type RepriseOptions } from './reprise.ts'
import type { RetentionOptions } from './retention.ts'

const DAY_MS = 86_400_000

function bench(retention: RetentionOptions | undefined, more: Partial<RepriseOptions> = {}) {
  const clock = virtualClock()
  const store = memory({ clock })
  let prunes = 0
  const counting: Store = {
    ...store,
    prune: async (request) => {
      prunes += 1
      return (await store.prune?.(request)) ?? { now: 0, pruned: [], keys: 0, more: false }
    },
  }
  const reprise = createReprise({ store: counting, clock, ...(retention ? { retention } : {}), ...more })
  const events: RepriseEvent[] = []
  reprise.on('*', (event) => events.push(event))
  const work = async (forMs = 0): Promise<void> => {
    const worker = reprise.work({ concurrency: 2 })
    await clock.runUntilSettled(worker.idle())
    await clock.advance(forMs)
    await clock.runUntilSettled(worker.stop())
  }
  return {
    clock,
    store,
    reprise,
    work,
    pruned: () => prunes,
    told: () => events.filter(({ name }) => name === 'store.pruned'),
  }
}

describe('retention', () => {
  test('without it nothing is ever deleted', async () => {
    const { reprise, work, clock, store, pruned } = bench(undefined)
    const task = reprise.task('t', {}, () => 1)
    const { id } = await reprise.submit(task, {})
    await work()
    await clock.advance(1_000 * DAY_MS)
    await work(DAY_MS)
    expect(pruned()).toBe(0)
    expect(await store.get({ id })).toMatchObject({ state: 'succeeded' })
  })

  test('an idle worker deletes what is older, and tells how much', async () => {
    const { reprise, work, clock, store, told } = bench({ succeeded: '7d' })
    const task = reprise.task('t', {}, (input) => {
      if (input === 'bad') throw new TypeError('bad')
    })
    const old = await reprise.submit(task, 'good')
    const bad = await reprise.submit(task, 'bad')
    await work()
    await clock.advance(7 * DAY_MS)
    const young = await reprise.submit(task, 'good')
    await work()
    expect(await store.get({ id: old.id })).toBeUndefined()
    expect(await store.get({ id: bad.id })).toBeDefined()
    expect(await store.get({ id: young.id })).toBeDefined()
    expect(told()).toMatchObject([{ runs: 1, keys: 0 }])
    await expect(old.result()).rejects.toMatchObject({ code: 'run.not_found' })
  })

  test('it looks once per interval, in batches, however often it is idle', async () => {
    const { reprise, work, clock, pruned, told } = bench({ succeeded: 0, every: '1h' })
    const task = reprise.task('t', {}, () => undefined)
    await reprise.submitMany(Array.from({ length: 1_201 }, () => [task, {}] as const))
    await work(30 * 60_000)
    // 1,200 and the newest, which stays: three batches.
    expect(pruned()).toBe(3)
    expect(told()).toMatchObject([{ runs: 1_200 }])
    const worker = reprise.work()
    await clock.runUntilSettled(worker.idle())
    const before = pruned()
    await clock.advance(59 * 60_000)
    expect(pruned()).toBe(before)
    await clock.advance(2 * 60_000)
    expect(pruned()).toBe(before + 1)
    await clock.runUntilSettled(worker.stop())
  })

  test('never while there is work: a run that comes between two batches is executed to its end before the next', async () => {
    const clock = virtualClock()
    const store = memory({ clock })
    const order: string[] = []
    const reprise = createReprise({
      clock,
      store: {
        ...store,
        prune: async (request) => {
          order.push('prune')
          if (order.length === 1) await reprise.submit(task, 'urgent')
          return (await store.prune?.(request)) as Pruned
        },
      },
      retention: { succeeded: 0 },
    })
    const task = reprise.task('t', {}, async (input, ctx) => {
      if (input !== 'urgent') return
      order.push('urgent')
      await ctx.sleep('a while', '5s')
      order.push('done')
    })
    await reprise.submitMany(Array.from({ length: 1_600 }, (_, n) => [task, n] as const))
    const worker = reprise.work({ concurrency: 2 })
    await clock.advance(10_000)
    await clock.runUntilSettled(worker.stop())
    expect(order).toEqual(['prune', 'urgent', 'done', 'prune', 'prune', 'prune'])
  })

  test('trouble is told, stops nothing, and is tried again', async () => {
    const clock = virtualClock()
    const store = memory({ clock })
    let calls = 0
    const broken: Store = {
      ...store,
      prune: async () => {
        calls += 1
        throw new Error('disk on fire')
      },
    }
    const reprise = createReprise({ store: broken, clock, retention: { failed: '1d' } })
    const trouble: unknown[] = []
    reprise.on('store.trouble', ({ verb, message }) => trouble.push([verb, message]))
    const task = reprise.task('t', {}, () => 'done')
    const worker = reprise.work()
    await clock.runUntilSettled(worker.idle())
    const run = await reprise.submit(task, {})
    expect(await clock.runUntilSettled(run.result())).toMatchObject({ ok: true })
    await clock.advance(6 * 60_000)
    expect(calls).toBe(2)
    expect(trouble).toEqual([
      ['prune', 'disk on fire'],
      ['prune', 'disk on fire'],
    ])
    await clock.runUntilSettled(worker.stop())
  })

  test.each([
    ['keep', true],
    ['with-run', false],
  ] as const)('artifacts: %s', async (artifacts, stays) => {
    const shelf = memoryArtifacts()
    const { reprise, work, clock } = bench({ succeeded: '1d', artifacts }, { artifacts: shelf })
    const task = reprise.task('t', {}, (_input, ctx) => ctx.artifact('report.txt', 'words'))
    await reprise.submit(task, {})
    await reprise.submit(task, {})
    await work()
    await clock.advance(DAY_MS)
    await work()
    expect((await shelf.get('memory:r1/report.txt')) !== undefined).toBe(stays)
    expect(await shelf.get('memory:r2/report.txt')).toBeDefined()
  })

  test.each([
    [{ succeeded: 'soon' }, /retention\.succeeded: "soon" is not a duration/],
    [{ keys: '1d' }, /retention\.keys is "1d"\. Allowed: 7 d and more/],
    [{ succeded: '7d' } as never, /retention\.succeded is "7d"\. Allowed: the fields succeeded, failed, cancelled/],
    [7 as never, /retention is number\. Allowed: an object of succeeded/],
    [{ keepMax: -1 }, /retention\.keepMax is -1\. Allowed: a whole number from 0/],
    [{ every: 5 }, /retention\.every is 5\. Allowed: 1 s and more/],
    [{ artifacts: 'burn' as never }, /retention\.artifacts is "burn"\. Allowed: "keep", "with-run"/],
    [{ artifacts: 'with-run' }, /there are no artifacts\. Allowed: "keep"/],
  ] as const)('%j is refused', (retention, message) => {
    expect(() => createReprise({ store: memory(), retention })).toThrow(message)
  })

  test('a store that cannot prune is refused at the door', () => {
    const { prune: _without, ...store } = memory()
    expect(() => createReprise({ store, retention: { failed: '1d' } })).toThrow(
      /memory store deletes nothing by itself/,
    )
  })
})
