import { afterEach, expect, test } from 'vitest'
import { createReprise } from '../engine/reprise.ts'
import { failureOf } from '../failure/own.ts'
import { story } from '../ops/story.ts'
import { definePolicy } from '../policy/define-policy.ts'
import type { RepriseEvent } from '../run/event.ts'
import { memory } from '../stores/memory/index.ts'
import { type Bench, openBench } from './bigquery/real-client.fixtures.ts'
import { withReprise } from './bigquery/with-reprise.ts'

let bench: Bench
afterEach(() => bench.server.close())

/** Runs one task whose handler asks BigQuery inside a journalled call, until it has ended. */
async function work(client: (bench: Bench) => Bench['bigquery']) {
  const store = memory()
  const reprise = createReprise({ store })
  const events: RepriseEvent[] = []
  reprise.on('*', (event) => events.push(event))
  const bigquery = client(bench)
  const policy = definePolicy({ maxAttempts: 1 })
  const task = reprise.task('report', { policy }, async (_input, ctx) =>
    ctx.call('rows', async () => (await bigquery.query('SELECT 1'))[0]),
  )
  const run = await reprise.submit(task, 1)
  const worker = reprise.work({ concurrency: 1 })
  const result = await run.result({ timeoutMs: 50_000 })
  await worker.stop()
  return { result, events, store, run, names: events.map(({ name }) => name) }
}

test('what an adapter repeats inside a call is shown in the run’s events, and the call adds no repeats of its own', async () => {
  bench = await openBench()
  bench.server.fault({ on: 'POST /queries', times: 99, status: 503 })
  const { result, names, events, store, run } = await work(({ bigquery, clock }) => withReprise(bigquery, { clock }))
  expect(bench.sent()).toHaveLength(3)
  expect(await store.journal(run.id, 1)).toMatchObject([{ name: 'rows', takes: 3 }])
  expect((await story(store, run.id))?.takes).toBe(3)
  expect(names.filter((name) => name === 'client.repeated')).toHaveLength(2)
  expect(names).not.toContain('call.repeated')
  expect(events.find(({ name }) => name === 'client.failed')).toMatchObject({ task: 'report', attempt: 1 })
  expect(result).toMatchObject({ ok: false, failure: { code: 'bigquery.backendError', facts: { takes: 3 } } })
})

test('a handler’s time is the client’s time: what does not fit is given back, not failed', async () => {
  bench = await openBench()
  bench.server.fault({ on: 'POST /queries', times: 99, hang: true })
  const store = memory()
  const reprise = createReprise({ store })
  const bigquery = withReprise(bench.bigquery)
  const caught: unknown[] = []
  const policy = definePolicy({ limits: { attemptMs: 400, finalizeReserveMs: 200 } })
  const task = reprise.task('report', { policy }, async () => {
    await bigquery.query('SELECT 1').catch((error: unknown) => {
      caught.push(failureOf(error))
      throw error
    })
  })
  const interrupted = new Promise<void>((resolve) => {
    reprise.on('run.interrupted', () => resolve())
  })
  await reprise.submit(task, 1)
  const worker = reprise.work({ concurrency: 1 })
  await interrupted
  await worker.stop()
  expect(caught[0]).toMatchObject({ kind: 'interrupted', code: 'deadline.short' })
})

test('hidden retries leave a note on the run and an event that names it', async () => {
  bench = await openBench({ retryOptions: { retryDelayMultiplier: 0 } })
  bench.server.fault({ on: 'POST /queries', times: 2, status: 503 })
  const { result, events, store, run } = await work(({ bigquery }) => withReprise(bigquery, { mode: 'observe' }))
  expect(result).toMatchObject({ ok: true })
  expect(events.find(({ name }) => name === 'client.hidden_retries')).toMatchObject({
    run: run.id,
    task: 'report',
    sdk: 'bigquery',
    requests: 3,
    shown: 1,
    hidden: 2,
  })
  const told = (await story(store, run.id))?.entries.filter(({ type }) => type === 'note')
  expect(told).toMatchObject([{ sentence: expect.stringContaining('client.hidden_retries') }])
  expect(told?.[0]).toMatchObject({ sentence: expect.stringContaining('hidden 2') })
})

test('a run that was cancelled meanwhile sends nothing more', async () => {
  bench = await openBench()
  bench.server.fault({ on: 'POST /queries', times: 99, status: 503 })
  const store = memory()
  const reprise = createReprise({ store })
  let taken = 0
  const clock = {
    ...bench.clock,
    // Between the first take and its repeat an operator cancels the run.
    sleep: async () => {
      taken += 1
      const why = { code: 'run.cancelled', params: { by: 'ana' } } as const
      const expected = { generation: 1, states: ['ready'] } as const
      await store.steer({ run: run.id, type: 'cancel', by: 'ana', why, expect: expected })
    },
  }
  const bigquery = withReprise(bench.bigquery, { clock })
  const task = reprise.task('report', {}, (_input, ctx) => ctx.call('rows', () => bigquery.query('SELECT 1')))
  const run = await reprise.submit(task, 1)
  const worker = reprise.work({ concurrency: 1 })
  expect(await run.result({ timeoutMs: 50_000 })).toMatchObject({ ok: false })
  await worker.stop()
  expect([taken, bench.sent()]).toEqual([1, ['POST /queries 503']])
})

test('each request that an adapter repeats inside a call is paid for by itself, and a budget that is used up ends it', async () => {
  bench = await openBench()
  bench.server.fault({ on: 'POST /queries', times: 99, status: 503 })
  const reprise = createReprise({ store: memory(), budgets: { warehouse: { day: 2 } } })
  const bigquery = withReprise(bench.bigquery, { clock: bench.clock })
  const task = reprise.task('report', { policy: definePolicy({ maxAttempts: 1 }) }, (_input, ctx) =>
    ctx.call('rows', () => bigquery.query('SELECT 1'), { budget: { name: 'warehouse' } }),
  )
  const run = await reprise.submit(task, 1)
  const worker = reprise.work({ concurrency: 1 })
  await worker.idle()
  await worker.stop()
  expect(bench.sent()).toEqual(['POST /queries 503', 'POST /queries 503'])
  const { windows } = await reprise.budgets.usage('warehouse')
  expect(windows[0]?.use.calls).toMatchObject({ spent: 2, reserved: 0 })
  expect(await reprise.get(run.id)).toMatchObject({ state: 'review' })
})
