/**
 * The dashboards are what the script makes, and every query of theirs answers with data: asked of a real Prometheus that scrapes a real
 * run of the engine, with failures, holds, models, budgets and people, and a real pass of the sweep.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BOARDS, dashboardJson } from '../../scripts/dashboards.ts'
import { sweepEndpoint } from '../../src/cli/sweep-endpoint.ts'
import { createReprise } from '../../src/create-reprise.ts'
import { defineTask } from '../../src/engine/task.ts'
import { right, rules, schema, wrong } from '../../src/ladder/ask-bench.fixtures.ts'
import { ladder } from '../../src/ladder/ladder.ts'
import { person, rung } from '../../src/ladder/rung.ts'
import { createMetrics } from '../../src/observe/metrics/index.ts'
import { setHold } from '../../src/ops/index.ts'
import { SAMPLES } from '../../src/run/event-samples.fixtures.ts'
import { serveSignals } from '../../src/server/signals.ts'
import { memory } from '../../src/stores/memory/index.ts'
import { sweepMetrics } from '../../src/sweep/metrics.ts'
import { DAY, sweepWorld } from '../../src/sweep/sweep.fixtures.ts'
import { fakeModel } from '../../src/testing/fake-model.ts'
import { noPrometheus, type PrometheusService, prometheusService } from '../services/prometheus.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const alerts = join(root, 'deploy/prometheus/alerts')

test.each(BOARDS.map((board) => [board.file, board] as const))('%s.json is what the script makes', (file, board) => {
  expect(readFileSync(join(root, 'deploy/grafana/dashboards', `${file}.json`), 'utf8')).toBe(dashboardJson(board))
})

test('“Retry Policy Monitoring” has its five panels, and warns at 50 and 200', () => {
  const board = BOARDS.find(({ file }) => file === 'retry-policy')
  expect(board?.title).toBe('Retry Policy Monitoring')
  expect(board?.panels).toHaveLength(5)
  expect(board?.panels[0]).toMatchObject({ title: 'Stuck documents', thresholds: [50, 200] })
})

const missing = noPrometheus()

describe('asked of a real Prometheus', () => {
  const closing: (() => Promise<unknown>)[] = []
  let prometheus: PrometheusService

  beforeAll(async () => {
    if (missing !== undefined) return
    const engine = await engineAtWork()
    const sweep = await sweepAtWork()
    closing.push(engine.close, sweep.close)
    prometheus = await prometheusService({
      targets: { reprise: engine.target, 'retry-job': sweep.target },
      ruleFiles: readdirSync(alerts).map((file) => join(alerts, file)),
    })
    closing.push(prometheus.dispose)
    // Rates need a figure before and one after: the second half of the work is done when the first has been seen.
    await engine.round()
    await sweep.round()
    await until(async () => (await prometheus.query('reprise_runs_ended_total')).length > 0)
    await until(async () => (await prometheus.query('retry_job_runs_total')).length > 0)
    await engine.round()
    await sweep.round()
  }, 30_000)

  afterAll(async () => {
    for (const close of closing.reverse()) await close()
  })

  const panels = BOARDS.flatMap(({ file, panels: all }) =>
    all.map((panel) => [`${file}: ${panel.title}`, panel.expr] as const),
  )

  test.for(panels)('%s has data', async ([_name, expr], context) => {
    if (missing !== undefined) return context.skip(missing)
    const hasData = async () => {
      // A panel that shows 0 where there is nothing must be right about the something.
      const series = await prometheus.query(expr.replace(/ or vector\(0\)$/, ''))
      return series.length > 0 && series.some(({ value }) => Number.isFinite(value))
    }
    await until(hasData)
  })

  test('every alert rule is loaded and evaluates', async (context) => {
    if (missing !== undefined) return context.skip(missing)
    const named = readdirSync(alerts).flatMap((file) =>
      [...readFileSync(join(alerts, file), 'utf8').matchAll(/^ +- alert: (\w+)$/gm)].map(([, name]) => name ?? ''),
    )
    await until(async () => (await prometheus.rules()).every(({ health }) => health !== 'unknown'))
    const loaded = await prometheus.rules()
    expect(loaded.map(({ name }) => name).sort()).toEqual(named.sort())
    expect(loaded.filter(({ health }) => health !== 'ok')).toEqual([])
  })
})

/** Polls, as Prometheus itself does; a bound instead of a hope. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 8_000
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error('not within 8 s')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Workers, models and people: runs that succeed, fail, wait for a hold, climb a ladder, and lie overdue on a desk. */
async function engineAtWork() {
  const store = memory()
  const reprise = createReprise({ store, budgets: { pro: { day: 50 } } })
  const metrics = createMetrics({ store })
  reprise.on('*', metrics.listen)
  let asks = 0
  // Of three documents one is right at once, one after a correction and a stronger model, and one is for a person.
  const flash = fakeModel(() => ({ json: wrong(++asks) }), { id: 'google/gemini-flash-latest' })
  const pro = fakeModel((_ask, index) => ({ json: index % 2 === 0 ? right : wrong(1) }), {
    id: 'google/gemini-pro-latest',
  })
  const used = ladder([
    rung(flash, { attempts: 2 }),
    rung(pro, { budget: 'pro' }),
    person({ queue: 'accounts', within: '50ms' }),
  ])
  const extract = reprise.task('extract', {}, (input: unknown, ctx) =>
    ctx.ask('invoice', { ladder: used, prompt: 'Extract.', document: String(input), schema, gate: rules }),
  )
  const greet = reprise.task('greet', {}, async (input: unknown, ctx) => {
    const answer = await ctx.call('model', ({ cost }) => {
      cost(0.002)
      return `Hello, ${String(input)}`
    })
    // A second execution finds the answer in the journal: a call that is spared.
    if (ctx.attempt === 1) throw Object.assign(new Error('busy'), { status: 503 })
    return answer
  })
  const fail = reprise.task('fail', { policy: { maxAttempts: 1 } }, () => {
    throw Object.assign(new Error('no'), { status: 403 })
  })
  const held = reprise.task('held', {}, () => 'never')
  await setHold(store, { what: 'task:held', why: 'maintenance', by: 'ana' })
  await reprise.submit(held, 1)
  // Nobody here has a handler for it: it waits for ever.
  await reprise.submit(defineTask({ name: 'unserved' }), 1)
  const worker = reprise.work({ pollMs: 50 })
  const signals = await serveSignals({ port: 0, page: metrics.page, ready: () => store.notes({ limit: 1 }) })
  return {
    target: new URL(signals.url).host,
    async round() {
      for (const name of ['a', 'b']) await reprise.submit(extract, name)
      await reprise.submit(greet, 'Ada')
      await reprise.submit(fail, 1)
      // A crash takes a process to be lost; what the metrics make of it is the same.
      metrics.listen({ ...SAMPLES['run.lapsed'], counted: true })
      await worker.idle()
    },
    async close() {
      await worker.stop({ drainMs: 0 })
      await signals.close()
      await reprise.close()
    },
  }
}

async function sweepAtWork() {
  const { source, sweep, clock, report } = await sweepWorld()
  const metrics = sweepMetrics({ intervalMs: 900_000 })
  let rounds = 0
  const endpoint = await sweepEndpoint(metrics, () => true, { host: '127.0.0.1', port: 0 })
  return {
    target: `127.0.0.1:${endpoint.port}`,
    async round() {
      const of = `r${rounds++}`
      const old = clock.now() - 2 * DAY
      await source.put('archives', [
        { id: `${of}-stuck`, createdAt: old },
        { id: `${of}-spent`, attempts: 3, lastAttemptAt: old, createdAt: 0 },
        { id: `${of}-waits`, attempts: 1, lastAttemptAt: clock.now(), createdAt: 0 },
      ])
      await report(`${of}-waits`)
      metrics.observe(await sweep.pass())
    },
    async close() {
      await endpoint.close()
      await sweep.close()
    },
  }
}
