import { describe, expect, test } from 'vitest'
import { headline } from '../ops/headline.ts'
import type { Store } from '../ports/store.ts'
import { memory } from '../stores/memory/index.ts'
import { freshFile } from '../stores/sqlite/file.fixtures.ts'
import { sqlite } from '../stores/sqlite/index.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import type { Clock } from '../time/clock.ts'
import { createReprise } from './reprise.ts'
import { defineTask } from './task.ts'

interface Order {
  readonly customer: string
}

/** As two processes would open it: memory is one store, a file is two. */
const OPEN: Readonly<Record<string, (clock: Clock) => readonly [Store, Store]>> = {
  memory: (clock) => {
    const store = memory({ clock })
    return [store, store]
  },
  sqlite: (clock) => {
    const file = freshFile()
    return [sqlite({ file, clock, durability: 'process' }), sqlite({ file, clock, durability: 'process' })]
  },
}

describe.each(Object.keys(OPEN))('concurrency keys on %s', (name) => {
  test.each([1, 3])('%i of a key at a time over two workers, and all of them get done', async (perKey) => {
    const clock = virtualClock()
    const stores = OPEN[name]?.(clock) ?? []
    const out = new Map<string, number>()
    const most = new Map<string, number>()
    const task = defineTask<Order, void>({ name: 't', concurrency: { key: ({ customer }) => customer, perKey } })
    const instances = stores.map((store) => {
      const reprise = createReprise({ store, clock, dice: () => 0.5 })
      reprise.handle(task, async ({ customer }) => {
        const now = (out.get(customer) ?? 0) + 1
        out.set(customer, now)
        most.set(customer, Math.max(now, most.get(customer) ?? 0))
        await clock.sleep(100)
        out.set(customer, (out.get(customer) ?? 0) - 1)
      })
      return { reprise, worker: reprise.work({ concurrency: 8 }) }
    })
    const [{ reprise }] = instances as [(typeof instances)[number]]
    const orders = Array.from({ length: 60 }, (_, index) => [task, { customer: `c${index % 4}` }] as const)
    const runs = await reprise.submitMany(orders)
    await clock.advance(60_000)
    for (const run of runs) expect(await run.result({ timeoutMs: 0 })).toMatchObject({ ok: true })
    expect(Object.fromEntries(most)).toEqual({ c0: perKey, c1: perKey, c2: perKey, c3: perKey })
    expect(await stores[0]?.verify()).toEqual([])
    for (const { worker } of instances) await clock.runUntilSettled(worker.stop())
    for (const store of stores) await store.close()
  })
})

test('a parked run is told with its key, and a key of the submit goes before the task’s', async () => {
  const clock = virtualClock()
  const store = memory({ clock })
  const reprise = createReprise({ store, clock })
  const task = reprise.task<Order, void>('t', { concurrency: { key: 'everyone' } }, () => clock.sleep(1_000))
  const own = await reprise.submit(task, { customer: 'a' }, { concurrencyKey: 'a' })
  const [, second] = await reprise.submitMany([
    [task, { customer: 'a' }],
    [task, { customer: 'b' }],
  ])
  const worker = reprise.work({ concurrency: 4 })
  await clock.advance(10)
  expect((await reprise.get(own.id))?.concurrency).toEqual({ key: 'a', max: 1 })
  const parked = await reprise.get(second?.id ?? '')
  expect(parked).toMatchObject({ state: 'waiting', concurrency: { key: 'everyone', max: 1 } })
  if (parked) expect(headline(parked, clock.now())).toBe('Waits for its turn: one run of everyone at a time.')
  await clock.runUntilSettled(worker.idle({ until: 'settled' }))
  await clock.runUntilSettled(worker.stop())
})

test('what is no key or no limit is refused by name', async () => {
  expect(() => defineTask({ name: 't', concurrency: { perKey: 0 } })).toThrow(
    'concurrency.perKey of t is 0. Allowed: a whole number from 1 to 10000.',
  )
  expect(() => defineTask({ name: 't', concurrency: { key: '' } })).toThrow('concurrency.key of t is "".')
  const slip = { key: 'k', perkey: 2 } as never
  expect(() => defineTask({ name: 't', concurrency: slip })).toThrow(
    'concurrency of t has perkey. Allowed: { key, perKey }.',
  )
  expect(() => defineTask({ name: 't', concurrency: 2 as never })).toThrow('concurrency of t is number. Allowed')
  const reprise = createReprise({ store: memory() })
  const task = reprise.task('t', {}, () => undefined)
  await expect(reprise.submit(task, 1, { concurrencyKey: '' })).rejects.toThrow('concurrencyKey of t is "". Allowed')
  expect((await reprise.store.find({ limit: 1 })).runs).toEqual([])
})
