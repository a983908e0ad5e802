import { describe, expect, test } from 'vitest'
import { memory } from '../stores/memory/index.ts'
import { sqlite } from '../stores/sqlite/index.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import type { Clock } from '../time/clock.ts'
import { seededDice } from '../time/dice.ts'
import { createReprise } from './reprise.ts'

const PER_WINDOW = 20
const WINDOW_MS = 10_000
const RUNS = 100

/** A provider that allows so many calls per window and says in each answer how many are left. */
function provider(clock: Clock) {
  let window = -1
  let used = 0
  const counts = { answered: 0, refused: 0 }
  return {
    counts,
    call: async (): Promise<Response> => {
      const now = clock.now()
      if (Math.floor(now / WINDOW_MS) !== window) {
        window = Math.floor(now / WINDOW_MS)
        used = 0
      }
      used += 1
      const reset = Math.ceil(((window + 1) * WINDOW_MS - now) / 1_000)
      await clock.sleep(200)
      const headers = {
        'x-ratelimit-limit-requests': String(PER_WINDOW),
        'x-ratelimit-remaining-requests': String(Math.max(0, PER_WINDOW - used)),
        'x-ratelimit-reset-requests': `${reset}s`,
      }
      return new Response('', { headers })
    },
    /** Decided when the call comes in. */
    admits: (): boolean => {
      const isSame = Math.floor(clock.now() / WINDOW_MS) === window
      return !isSame || used < PER_WINDOW
    },
  }
}

async function drain(tells: boolean, open: (clock: Clock) => ReturnType<typeof memory>) {
  const clock = virtualClock()
  const store = open(clock)
  const { call, counts, admits } = provider(clock)
  const slowed: string[] = []
  const instances = [1, 2].map((seed) => {
    const reprise = createReprise({ store, clock, dice: seededDice(seed) })
    reprise.on('hold.slowed', ({ left }) => slowed.push(left))
    const task = reprise.task('t', { resources: ['gpt'] }, (_input, ctx) =>
      ctx.call('ask', async ({ limits }) => {
        if (!admits()) {
          counts.refused += 1
          throw Object.assign(new Error('slow down'), { status: 429, headers: { 'retry-after': '10' } })
        }
        const response = await call()
        if (tells) limits(response)
        counts.answered += 1
      }),
    )
    return { reprise, task, worker: reprise.work({ concurrency: 4 }) }
  })
  const [{ reprise, task }] = instances as [(typeof instances)[number]]
  const runs = await reprise.submitMany(Array.from({ length: RUNS }, (_, index) => [task, index] as const))
  await clock.advance(300_000)
  for (const run of runs) expect(await run.result({ timeoutMs: 0 })).toMatchObject({ ok: true })
  for (const { worker } of instances) await clock.runUntilSettled(worker.stop())
  expect(await store.verify()).toEqual([])
  await store.close()
  return { ...counts, slowed }
}

describe.each([
  ['memory', (clock: Clock) => memory({ clock })],
  ['sqlite', (clock: Clock) => sqlite({ file: ':memory:', clock })],
] as const)('on %s, what answers say about how much is left', (_name, open) => {
  test('slows everyone before anybody is refused', async () => {
    const { answered, refused, slowed } = await drain(true, open)
    expect([answered, refused]).toEqual([RUNS, 0])
    expect(slowed[0]).toMatch(/^\d+ of 20 requests are left$/)
  })

  test('is not known when nobody tells it', async () => {
    expect((await drain(false, open)).refused).toBeGreaterThan(0)
  })
})
