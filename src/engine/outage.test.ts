import { expect, test } from 'vitest'
import type { RepriseEvent } from '../run/event.ts'
import { sqlite } from '../stores/sqlite/index.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import { seededDice } from '../time/dice.ts'
import { createReprise } from './reprise.ts'

const SECOND = 1_000
/** What is proved are rates, which hold for few runs as for many. */
const RUNS_PER_SECOND = process.env['REPRISE_TEST_CHAOS'] === 'full' ? 50 : 20
const OUTAGE_S = 120
const DRAIN_S = 180
/** Tokens that a bucket may have saved when a window begins. */
const SAVED = 10

/** Two processes on one file, and no policy but the stock one; the provider is down for two minutes while runs keep coming. */
async function outage(thrown: () => Error) {
  const clock = virtualClock()
  const from = clock.now()
  const heals = from + OUTAGE_S * SECOND
  const store = sqlite({ file: ':memory:', clock })
  const dice = seededDice(7)
  const starts: { readonly second: number; readonly retry: boolean }[] = []
  const ends: number[] = []
  const events: RepriseEvent[] = []
  const processes = [1, 2].map(() => {
    const reprise = createReprise({ store, clock, dice })
    reprise.on('*', (event) => {
      if (event.name.startsWith('hold.')) events.push(event)
      const second = Math.floor((event.at - from) / SECOND)
      if (event.name === 'attempt.started') starts.push({ second, retry: event.attempt > 1 })
      if (event.name === 'run.succeeded') ends.push(second)
    })
    const task = reprise.task('t', { resources: ['provider'] }, async () => {
      await clock.sleep(50)
      if (clock.now() < heals) throw thrown()
    })
    return { task, reprise, worker: reprise.work({ concurrency: 64, leaseMs: '60s' }) }
  })
  const [{ reprise, task }] = processes as [(typeof processes)[number]]
  let submitted = 0
  for (let second = 0; second < OUTAGE_S + DRAIN_S; second += 1) {
    for (let part = 0; part < 10; part += 1) {
      await reprise.submitMany(Array.from({ length: RUNS_PER_SECOND / 10 }, (_, index) => [task, index] as const))
      submitted += RUNS_PER_SECOND / 10
      await clock.advance(SECOND / 10)
    }
  }
  await clock.advance(5 * SECOND)
  const unfinished = (await store.count({ states: ['ready', 'running', 'waiting'] })).reduce(
    (sum, { runs }) => sum + runs,
    0,
  )
  const attempts = starts.length
  for (const { worker } of processes) await clock.runUntilSettled(worker.stop())
  await store.close()
  const perSecond = (isWanted: (start: (typeof starts)[number]) => boolean) =>
    Array.from(
      { length: OUTAGE_S + DRAIN_S },
      (_, second) => starts.filter((start) => start.second === second && isWanted(start)).length,
    )
  return {
    submitted,
    unfinished,
    attempts,
    events,
    ends,
    all: perSecond(() => true),
    retries: perSecond(({ retry }) => retry),
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0)

/** From healing until what waited is done: no second has more than three times the mean. */
function expectNoPeak(starts: readonly number[], ends: readonly number[]): void {
  let second = OUTAGE_S
  while (second < starts.length && ends.filter((end) => end <= second).length < RUNS_PER_SECOND * (second - 1))
    second += 1
  const drain = starts.slice(OUTAGE_S, second)
  expect(drain.length).toBeGreaterThan(10)
  expect(drain.length).toBeLessThan(DRAIN_S)
  expect(Math.max(...drain), `${drain}`).toBeLessThanOrEqual((3 * sum(drain)) / drain.length)
}

test('a provider that is down for two minutes: few retries, drained within three minutes, no peak', async () => {
  const down = () => Object.assign(new Error('the provider is down'), { status: 503 })
  const { submitted, unfinished, all, retries, ends } = await outage(down)
  // Until the failures are noticed retries are not kept back; backoffs are longer than that.
  for (let second = 0; second + 10 <= OUTAGE_S; second += 1) {
    const given = sum(retries.slice(second, second + 10))
    const firstTries = sum(all.slice(second, second + 10)) - given
    expect(given, `retries from second ${second}`).toBeLessThanOrEqual(0.1 * firstTries + 10 + SAVED)
  }
  expect(unfinished).toBe(0)
  expect(ends).toHaveLength(submitted)
  expectNoPeak(all, ends)
}, 120_000)

test('a provider that limits for two minutes is asked once per hold', async () => {
  const limited = () => Object.assign(new Error('slow down'), { status: 429, headers: { 'retry-after': '20' } })
  const { submitted, unfinished, all, attempts, ends, events } = await outage(limited)
  // What was under way when the first answer came, and one probe per hold.
  expect(sum(all.slice(1, OUTAGE_S))).toBeLessThanOrEqual(OUTAGE_S / 20)
  expect(attempts - submitted).toBeLessThan(200)
  expect(events.filter(({ name }) => name === 'hold.released')).toHaveLength(1)
  expect(unfinished).toBe(0)
  expect(ends).toHaveLength(submitted)
  expectNoPeak(all, ends)
}, 120_000)

test('calls are not repeated inside their attempts while the provider is down: the sends are bounded, not only the attempts', async () => {
  const clock = virtualClock()
  const from = clock.now()
  const reprise = createReprise({ store: sqlite({ file: ':memory:', clock }), clock, dice: seededDice(7) })
  const sent: { readonly second: number; readonly isRetry: boolean }[] = []
  const known = new Set<string>()
  const task = reprise.task('t', { resources: ['provider'] }, (_input, ctx) =>
    ctx.call('ask', async () => {
      sent.push({ second: Math.floor((clock.now() - from) / SECOND), isRetry: known.has(ctx.run) })
      known.add(ctx.run)
      await clock.sleep(50)
      throw Object.assign(new Error('the provider is down'), { status: 503 })
    }),
  )
  const worker = reprise.work({ concurrency: 100 })
  for (let second = 0; second < 60; second += 1) {
    await reprise.submitMany(Array.from({ length: 10 }, (_, index) => [task, index] as const))
    await clock.advance(SECOND)
  }
  await clock.runUntilSettled(worker.stop())
  await reprise.close()
  // A call that has begun before the failures were noticed repeats itself for a few seconds yet.
  const late = sent.filter(({ second }) => second >= 15)
  const retries = late.filter(({ isRetry }) => isRetry).length
  expect(retries).toBeLessThanOrEqual(0.1 * (late.length - retries) + 45 + SAVED)
  expect(late.length - retries).toBeGreaterThan(400)
})
