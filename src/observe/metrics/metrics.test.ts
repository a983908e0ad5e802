import { describe, expect, test } from 'vitest'
import { createReprise } from '../../engine/reprise.ts'
import { workbench } from '../../engine/workbench.fixtures.ts'
import { failure } from '../../failure/own.ts'
import type { Store } from '../../ports/store.ts'
import type { RepriseEvent } from '../../run/event.ts'
import { SAMPLES } from '../../run/event-samples.fixtures.ts'
import { memory } from '../../stores/memory/index.ts'
import { virtualClock } from '../../testing/virtual-clock.ts'
import { createMetrics } from './index.ts'

/** Name and labels → value, of every line of a page. */
async function seriesOf(metrics: ReturnType<typeof createMetrics>): Promise<ReadonlyMap<string, number>> {
  const { body } = await metrics.page()
  const lines = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

describe('metrics of a run of everything', () => {
  test('counters and gauges are equal to what the store holds, at rest', async () => {
    const bench = workbench()
    const metrics = createMetrics({ store: bench.store, clock: bench.clock })
    bench.reprise.on('*', metrics.listen)
    const read = bench.reprise.task('read', {}, async (input: { fail: number; end?: 'never' | 'person' }, ctx) => {
      await ctx.call('ask', ({ cost }) => cost(0.25))
      if (input.end === 'never') throw failure({ kind: 'final', code: 'app.bad', message: 'bad' })
      if (ctx.attempt <= input.fail)
        throw failure({ kind: 'transient', code: 'app.busy', message: `busy ${ctx.attempt}` })
    })
    for (const input of [{ fail: 0 }, { fail: 0 }, { fail: 2 }, { fail: 0, end: 'never' as const }])
      await bench.reprise.submit(read, input)
    await bench.workUntil()
    await bench.reprise.submit(read, { fail: 0 }, { at: bench.clock.now() + 3_600_000 })

    const series = await seriesOf(metrics)
    const counts = await bench.store.count({})
    const inStore = (state: string) => counts.find((count) => count.state === state)?.runs ?? 0
    for (const state of ['succeeded', 'failed'])
      expect(series.get(`reprise_runs_ended_total{task="read",state="${state}"}`), state).toBe(inStore(state))
    expect(series.get('reprise_runs{task="read",state="waiting"}')).toBe(inStore('waiting'))
    expect(series.get('reprise_runs_submitted_total{task="read"}')).toBe(5)
    expect(series.get('reprise_attempts_total{task="read"}')).toBe(6)
    expect(series.get('reprise_failures_total{task="read",kind="transient",code="app.busy"}')).toBe(2)
    expect(series.get('reprise_decisions_total{task="read",act="retry"}')).toBe(2)
    expect(series.get('reprise_decisions_total{task="read",act="fail"}')).toBe(1)
    expect(series.get('reprise_calls_total{task="read"}')).toBe(4)
    expect(series.get('reprise_calls_replayed_total{task="read"}')).toBe(2)
    expect(series.get('reprise_cost_usd_total{task="read"}')).toBe(1)
    expect(series.get('reprise_run_seconds_count{task="read"}')).toBe(3)
    expect(series.get('reprise_store_up')).toBe(1)
  })

  test('a hold is shown with those who wait for it, and is gone when it is', async () => {
    const bench = workbench()
    const metrics = createMetrics({ store: bench.store, clock: bench.clock })
    const read = bench.reprise.task('read', { resources: ['gemini:flash'] }, () => undefined)
    await bench.reprise.submit(read, {})
    await bench.store.hold({ what: 'resource:gemini:flash', why: 'test', by: 'ops', probe: false })
    await bench.clock.advance(90_000)
    const held = await seriesOf(metrics)
    expect(held.get('reprise_held_runs{what="resource:gemini:flash"}')).toBe(1)
    expect(held.get('reprise_hold_seconds{what="resource:gemini:flash"}')).toBe(90)
    await bench.store.release({ what: 'resource:gemini:flash', by: 'ops' })
    await bench.clock.advance(10_000)
    expect([...(await seriesOf(metrics)).keys()].filter((name) => name.includes('gemini'))).toEqual([])
  })
})

test('a budget is shown as the share of each limit that is spent or reserved', async () => {
  const clock = virtualClock()
  const store = memory({ clock })
  const reprise = createReprise({ store, clock, budgets: { pro: { day: 4, month: { usd: 10 } } } })
  const metrics = createMetrics({ store, clock })
  const ask = reprise.task('ask', {}, (_input, ctx) =>
    ctx.call('ask', ({ cost }) => cost(1), { budget: { name: 'pro', usdMax: 2 } }),
  )
  await reprise.submit(ask, 1)
  const worker = reprise.work()
  await clock.runUntilSettled(worker.idle())
  await clock.runUntilSettled(worker.stop())
  const series = await seriesOf(metrics)
  expect(series.get('reprise_budget_used_ratio{budget="pro",window="day",unit="calls"}')).toBe(0.25)
  expect(series.get('reprise_budget_used_ratio{budget="pro",window="month",unit="usd"}')).toBe(0.1)
})

describe('runs that nobody takes', () => {
  const world = (stuckAfterMs?: number) => {
    const bench = workbench()
    const { store, clock } = bench
    const metrics = createMetrics({ store, clock, ...(stuckAfterMs === undefined ? {} : { stuckAfterMs }) })
    return { ...bench, metrics, read: bench.reprise.task('read', { resources: ['flash'] }, () => undefined) }
  }

  test('are told with how long, count as stuck from a day on, and are gone when somebody has taken them', async () => {
    const { reprise, clock, metrics, read, workUntil } = world()
    await reprise.submit(read, {})
    await clock.advance(24 * 3_600_000)
    await reprise.submit(read, {})
    const series = await seriesOf(metrics)
    expect(series.get('reprise_oldest_waiting_seconds{task="read"}')).toBe(86_400)
    expect(series.get('reprise_stuck_runs{task="read"}')).toBe(0)
    await clock.advance(6_000)
    expect((await seriesOf(metrics)).get('reprise_stuck_runs{task="read"}')).toBe(1)
    await workUntil()
    await clock.advance(6_000)
    const after = [...(await seriesOf(metrics)).keys()]
    expect(after.filter((name) => /oldest_waiting|stuck_runs/.test(name))).toEqual([])
  })

  test('the age is one’s own to choose, and a hold is a reason to wait', async () => {
    const { reprise, clock, metrics, read, store } = world(60_000)
    await reprise.submit(read, {})
    await clock.advance(60_001)
    expect((await seriesOf(metrics)).get('reprise_stuck_runs{task="read"}')).toBe(1)
    await store.hold({ what: 'resource:flash', why: 'test', by: 'ops', probe: false })
    await clock.advance(6_000)
    expect((await seriesOf(metrics)).get('reprise_stuck_runs{task="read"}')).toBeUndefined()
    expect(() => createMetrics({ stuckAfterMs: -1 })).toThrow('stuckAfterMs: -1; allowed are milliseconds from 0')
  })
})

describe('metrics stay bounded and clean', () => {
  test('every event of the catalogue can be heard', async () => {
    const metrics = createMetrics()
    for (const event of Object.values(SAMPLES) as readonly RepriseEvent[]) metrics.listen(event)
    expect((await metrics.page()).body).toContain('reprise_attempts_total')
  })

  test('hidden retries are counted by their number, not by how often they were told', async () => {
    const metrics = createMetrics()
    for (let n = 0; n < 2; n += 1) metrics.listen(SAMPLES['client.hidden_retries'])
    expect((await seriesOf(metrics)).get('reprise_hidden_retries_total{sdk="bigquery"}')).toBe(6)
  })

  test('ten thousand hostile names make a bounded number of series, and none of them leaves a line', async () => {
    const metrics = createMetrics()
    for (let n = 0; n < 10_000; n += 1) {
      const task = `task"}\n${n}${'x'.repeat(n % 300)}`
      metrics.listen({
        name: 'attempt.started',
        at: 0,
        run: 'r',
        task,
        generation: 1,
        attempt: 1,
        worker: 'w',
        token: 1,
        retry: 0,
        retriesMax: 7,
      })
    }
    const series = [...(await seriesOf(metrics)).keys()].filter((name) => name.startsWith('reprise_attempts_total'))
    expect(series.length).toBeLessThanOrEqual(101)
    expect(series.every((name) => name.includes('{task='))).toBe(true)
  })

  test('no label carries the id of a run, a key or a worker', async () => {
    const metrics = createMetrics()
    for (const event of Object.values(SAMPLES) as readonly RepriseEvent[]) metrics.listen(event)
    const labels = [...(await seriesOf(metrics)).keys()].flatMap((name) =>
      [...name.matchAll(/(\w+)="/g)].map(([, label]) => label),
    )
    const allowed = new Set([
      'task',
      'state',
      'kind',
      'code',
      'act',
      'ledger',
      'counted',
      'recourse',
      'what',
      'le',
      'rung',
      'how',
      'to',
      'reason',
      'solved_by',
      'budget',
      'window',
      'unit',
      'queue',
      'sdk',
    ])
    expect(labels.filter((label) => !allowed.has(label ?? ''))).toEqual([])
  })

  test('a store that is down is told as 0, and the page answers', async () => {
    const down = {
      count: () => Promise.reject(new Error('gone')),
      pulse: () => Promise.reject(new Error('gone')),
      holds: () => Promise.reject(new Error('gone')),
      budgets: () => Promise.reject(new Error('gone')),
    }
    const metrics = createMetrics({ store: down as unknown as Store, clock: virtualClock() })
    expect((await seriesOf(metrics)).get('reprise_store_up')).toBe(0)
  })

  test('two scrapes within seconds share one read of the store', async () => {
    const { store, clock } = workbench()
    let reads = 0
    const counted: Store = {
      ...store,
      holds: () => store.holds(),
      budgets: () => store.budgets(),
      count: (query) => {
        reads += 1
        return store.count(query)
      },
    }
    const metrics = createMetrics({ store: counted, clock })
    await Promise.all([metrics.page(), metrics.page()])
    await metrics.page()
    expect(reads).toBe(1)
    await clock.advance(6_000)
    await metrics.page()
    expect(reads).toBe(2)
  })
})
