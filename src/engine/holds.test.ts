import { describe, expect, test } from 'vitest'
import { setHold } from '../ops/index.ts'
import { workbench } from './workbench.fixtures.ts'

/** An error as HTTP clients throw it. */
const limited = (retryAfter?: number): Error =>
  Object.assign(new Error('Too many requests'), {
    status: 429,
    headers: retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
  })

describe('a rate limit', () => {
  test('is found out once and holds its resource for everyone; waiting is no attempt', async () => {
    const { reprise, clock, store, named, workUntil } = workbench()
    const begun: number[] = []
    const heals = clock.now() + 95_000
    const task = reprise.task('t', { resources: ['gemini:flash'] }, async (_input, ctx) => {
      begun.push(clock.now())
      await ctx.call('ask', () => {
        if (clock.now() < heals) throw limited(90)
        return 'done'
      })
    })
    const first = await reprise.submit(task, 0)
    await workUntil('idle')
    const { holds } = await store.holds()
    expect(holds).toMatchObject([
      { what: 'resource:gemini:flash', until: clock.now() + 90_000, by: 'http.429', phase: 'held', probe: true },
    ])
    const others = await reprise.submitMany(Array.from({ length: 30 }, (_, index) => [task, index] as const))
    await workUntil('settled')
    for (const run of [first, ...others]) expect(await run.result()).toMatchObject({ ok: true })
    // The probe at 90 s was told to wait again and extended the hold; nobody else asked meanwhile.
    const attempts = await Promise.all([first, ...others].map(async ({ id }) => (await reprise.get(id))?.attempt))
    expect(attempts.reduce((sum = 0, each = 0) => sum + each, 0)).toBe(31 + 2)
    expect(named('hold.set')).toHaveLength(2)
    expect(named('hold.probe')).toHaveLength(2)
    expect(named('hold.released')).toMatchObject([{ what: 'resource:gemini:flash' }])
    expect((await reprise.get(first.id))?.ledgers).toMatchObject({ errors: 0 })
    expect((await store.holds()).holds).toEqual([])
  })

  test('that a call waits out in its attempt keeps everyone else away, too', async () => {
    const { reprise, clock, store, named } = workbench()
    const heals = clock.now() + 8_000
    const sent: number[] = []
    const task = reprise.task('t', { resources: ['gemini:flash'] }, (place: number, ctx) =>
      ctx.call('ask', () => {
        sent.push(place)
        if (clock.now() < heals) throw limited(5)
      }),
    )
    const [first] = await Promise.all([reprise.submit(task, 0), reprise.submit(task, 1)])
    const workers = [reprise.work({ concurrency: 4 })]
    await clock.advance(1_000)
    expect((await store.holds()).holds).toMatchObject([
      { what: 'resource:gemini:flash', until: heals - 3_000, by: 'http.429', why: 'Too many requests', phase: 'held' },
    ])
    // Another process with free slots, and work for them.
    await reprise.submitMany(Array.from({ length: 20 }, (_, index) => [task, index + 2] as const))
    workers.push(reprise.work({ concurrency: 16 }))
    await clock.advance(3_900)
    expect(sent).toEqual([0, 1])
    await clock.advance(120_000)
    for (const worker of workers) await clock.runUntilSettled(worker.stop())
    expect((await store.count({})).map(({ state, runs }) => [state, runs])).toEqual([['succeeded', 22]])
    // The two that waited, and the first ones of the ramp; whoever was refused kept the rest away again.
    expect(sent.length).toBeLessThanOrEqual(22 + 8)
    expect(await reprise.get(first.id)).toMatchObject({ attempt: 1, ledgers: { rateWaits: 0 } })
    expect(named('hold.slowed')[0]).toMatchObject({ by: 'http.429', left: 'Too many requests' })
  })

  test('of a call holds what that call needs, and the run waits in its lane', async () => {
    const { reprise, store, workUntil } = workbench()
    const task = reprise.task('t', { resources: ['gemini:flash'] }, async (_input, ctx) => {
      await ctx.call(
        'embed',
        () => {
          throw limited(600)
        },
        { resource: 'embedder' },
      )
    })
    const run = await reprise.submit(task, 1)
    await workUntil('idle')
    expect((await store.holds()).holds.map(({ what }) => what)).toEqual(['resource:embedder'])
    expect(await reprise.get(run.id)).toMatchObject({ state: 'waiting', resource: 'embedder' })
  })

  test('without a told delay the backoff says how long', async () => {
    const { reprise, clock, store, workUntil } = workbench()
    const task = reprise.task('t', { resources: ['r'] }, () => {
      throw limited()
    })
    const run = await reprise.submit(task, 1)
    await workUntil('idle')
    const { dueAt } = (await reprise.get(run.id)) ?? {}
    expect(dueAt).toBeGreaterThan(clock.now())
    expect((await store.holds()).holds).toMatchObject([{ until: dueAt, by: 'backoff after http.429' }])
  })

  test('a probe that meets an outage extends the hold; one that gets a wrong answer opens it', async () => {
    const { reprise, clock, store, workUntil } = workbench()
    const script = [
      limited(90),
      Object.assign(new Error('down'), { status: 503 }),
      Object.assign(new Error('gate: total is wrong'), { failure: undefined }),
    ]
    const task = reprise.task('t', { resources: ['r'] }, () => {
      const thrown = script.shift()
      if (thrown) throw thrown
    })
    await reprise.submit(task, 1)
    await workUntil('idle')
    await clock.advance(90_000)
    await workUntil('idle')
    expect((await store.holds()).holds).toMatchObject([{ phase: 'held', by: 'backoff after http.503' }])
    await workUntil('settled')
    expect((await store.holds()).holds.filter(({ phase }) => phase === 'held')).toEqual([])
  })
})

test('an operator’s pause keeps a task’s runs; what is out goes on', async () => {
  const { reprise, clock, store, workUntil } = workbench()
  const task = reprise.task('t', {}, () => 'done')
  const run = await reprise.submit(task, 1)
  await setHold(store, { what: 'task:t', forMs: 3_600_000, why: 'new prompt', by: 'ann' })
  await workUntil('idle')
  expect(await reprise.get(run.id)).toMatchObject({ state: 'ready', attempt: 0 })
  await clock.advance(3_600_000)
  await workUntil('idle')
  expect(await reprise.get(run.id)).toMatchObject({ state: 'succeeded', attempt: 1 })
})
