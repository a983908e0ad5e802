import { expect, test } from 'vitest'
import { exponential } from '../policy/backoff.ts'
import { definePolicy } from '../policy/define-policy.ts'
import { presets } from '../policy/presets.ts'
import { memory } from '../stores/memory/index.ts'
import { sqlite } from '../stores/sqlite/index.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import { seededDice } from '../time/dice.ts'
import { flow } from './flow.ts'
import { createReprise } from './reprise.ts'

const POLICY = definePolicy(
  { maxAttempts: 50, kinds: { transient: { backoff: exponential({ base: '1s', cap: '5s' }) } } },
  presets.daemon,
)
const FLOWS = 30
const CHILDREN = 3
const OUTAGE_MS = 60_000

test.each([
  ['memory', memory],
  ['sqlite', (options: { clock: ReturnType<typeof virtualClock> }) => sqlite({ file: ':memory:', ...options })],
] as const)('%s: steps and the children of joins come through an outage by the retry bucket', async (_name, open) => {
  const clock = virtualClock()
  const heals = clock.now() + OUTAGE_MS
  const store = open({ clock })
  const reprise = createReprise({ store, clock, dice: seededDice(3) })
  let retries = 0
  let unblocked = 0
  reprise.on('attempt.started', ({ attempt, task, at }) => {
    if (attempt > 1 && task !== 'gather' && at < heals) retries += 1
  })
  reprise.on('run.unblocked', () => {
    unblocked += 1
  })
  const needy = { resources: ['provider'], policy: POLICY }
  const ask = <Value>(value: Value): Value => {
    if (clock.now() < heals) throw Object.assign(new Error('the provider is down'), { status: 503 })
    return value
  }
  const fetch = reprise.task('fetch', needy, (n: number) => ask(n))
  const part = reprise.task('part', needy, (n: number) => ask(n))
  const gather = reprise.task('gather', {}, async (_input: unknown, ctx) => {
    const parts = await ctx.join(
      'parts',
      Array.from({ length: CHILDREN }, (_, n) => [part, n] as const),
    )
    return parts.length
  })
  const worker = reprise.work({ concurrency: 16 })
  const runs = await Promise.all(
    Array.from({ length: FLOWS }, (_, n) =>
      reprise.submitFlow(flow('report', { fetch: [fetch, n], gather: [gather, {}, { needs: ['fetch'] }] })),
    ),
  )
  const joins = await reprise.submitMany(Array.from({ length: FLOWS }, () => [gather, {}] as const))
  await clock.advance(OUTAGE_MS + 600_000)
  for (const run of [...runs, ...joins]) expect(await run.result({ timeoutMs: 0 })).toMatchObject({ ok: true })
  // Each of the runs would have tried again a dozen times.
  expect(retries).toBeGreaterThan(0)
  expect(retries).toBeLessThan(FLOWS * (1 + CHILDREN) * 2)
  // Of a flow its second step and the join of that; of a run alone its join.
  expect(unblocked).toBe(3 * FLOWS)
  expect(await store.verify()).toEqual([])
  await clock.runUntilSettled(worker.stop())
  await store.close()
})
