import { describe, expect, test } from 'vitest'
import { failure } from '../failure/own.ts'
import { workbench } from './workbench.fixtures.ts'

const hiccup = () => failure({ kind: 'transient', code: 'http.503', message: 'unavailable' })
const wrong = () => failure({ kind: 'semantic', code: 'gate.total', message: 'the sum is wrong' })

describe('ctx.call', () => {
  test('an answer that was paid for is never bought again', async () => {
    const { reprise, workUntil, named } = workbench()
    let bought = 0
    let attempts = 0
    const task = reprise.task('t', {}, async (_input, ctx) => {
      const answer = await ctx.call('ask', () => ({ text: `answer ${++bought}` }))
      attempts += 1
      if (attempts < 3) throw hiccup()
      return answer
    })
    const run = await reprise.submit(task, 1)
    await workUntil()
    expect(await run.result()).toMatchObject({ ok: true, value: { text: 'answer 1' } })
    expect([bought, attempts]).toEqual([1, 3])
    expect(named('call.replayed')).toHaveLength(2)
  })

  test('a changed input is another call', async () => {
    const { reprise, workUntil } = workbench()
    const bought: unknown[] = []
    let attempts = 0
    const task = reprise.task('t', {}, async (_input, ctx) => {
      attempts += 1
      const prompt = { version: attempts }
      await ctx.call('ask', () => void bought.push(prompt.version), { input: prompt })
      if (attempts === 1) throw hiccup()
    })
    await reprise.submit(task, 1)
    await workUntil()
    expect(bought).toEqual([1, 2])
  })

  test('infrastructure is retried silently inside the attempt, with one key for all sends', async () => {
    const { reprise, workUntil, named } = workbench()
    const keys: string[] = []
    const takes: number[] = []
    const task = reprise.task('t', {}, (_input, ctx) =>
      ctx.call('ask', ({ idempotencyKey, take }) => {
        keys.push(idempotencyKey)
        takes.push(take)
        if (takes.length < 3) throw hiccup()
        return 'fine'
      }),
    )
    const run = await reprise.submit(task, 1)
    await workUntil()
    expect(await run.result()).toMatchObject({ ok: true, value: 'fine' })
    expect(takes).toEqual([1, 2, 3])
    expect(new Set(keys).size).toBe(1)
    expect(named('attempt.started')).toHaveLength(1)
    expect(named('call.repeated').map(({ retry, delayMs }) => [retry, delayMs])).toEqual([
      [1, 2_000],
      [2, 2_000],
    ])
  })

  test('a workflow failure leaves the call at once, unchanged', async () => {
    const { reprise, workUntil } = workbench()
    const thrown = wrong()
    let caught: unknown
    const task = reprise.task('t', {}, async (_input, ctx) => {
      await ctx
        .call('ask', () => {
          throw thrown
        })
        .catch((error: unknown) => {
          caught = error
        })
    })
    await reprise.submit(task, 1)
    await workUntil()
    expect(caught).toBe(thrown)
  })

  test('a told wait above a minute leaves the attempt and is waited out by the store', async () => {
    const { reprise, workUntil, named } = workbench()
    let sent = 0
    const task = reprise.task('t', {}, (_input, ctx) =>
      ctx.call('ask', () => {
        sent += 1
        if (sent === 1) throw failure({ kind: 'rate_limited', code: 'http.429', retryAfterMs: 300_000 })
        return sent
      }),
    )
    const run = await reprise.submit(task, 1)
    await workUntil()
    expect(await run.result()).toMatchObject({ ok: true, value: 2 })
    expect(named('call.repeated')).toHaveLength(0)
    expect(await reprise.get(run.id)).toMatchObject({ ledgers: { errors: 0, rateWaits: 1 } })
  })

  test('a call that does not answer in time fails, even if it does not listen', async () => {
    const { reprise, workUntil, named } = workbench()
    const task = reprise.task('t', { policy: { maxAttempts: 1 } }, (_input, ctx) =>
      ctx.call('ask', () => new Promise(() => {}), { timeout: '3s' }),
    )
    const run = await reprise.submit(task, 1)
    await workUntil()
    expect(await run.result()).toMatchObject({ ok: false, failure: { code: 'call.timeout' } })
    expect(named('call.sent'), 'the in-call policy tries a timeout three times').toHaveLength(3)
  })

  test('a name used twice in one execution is an error that names it', async () => {
    const { reprise, workUntil } = workbench()
    const task = reprise.task('t', {}, async (_input, ctx) => {
      await ctx.call('ask', () => 1)
      await ctx.call('ask', () => 2)
    })
    const run = await reprise.submit(task, 1)
    await workUntil()
    const result = await run.result()
    expect(result.ok === false && result.failure.message).toContain('call name "ask" is used twice')
  })

  test('an answer that is not JSON is refused instead of being lost later', async () => {
    const { reprise, workUntil } = workbench()
    const task = reprise.task('t', {}, (_input, ctx) => ctx.call('ask', () => ({ big: 1n }) as never))
    const run = await reprise.submit(task, 1)
    await workUntil()
    const result = await run.result()
    expect(result.ok === false && result.failure.message).toContain('answer of call "ask" is not JSON')
  })

  test('money told by a call is on the run', async () => {
    const { reprise, workUntil } = workbench()
    const task = reprise.task('t', {}, (_input, ctx) =>
      ctx.call('ask', ({ cost }) => {
        cost(0.25)
        return 1
      }),
    )
    const run = await reprise.submit(task, 1)
    await workUntil()
    expect(await run.result()).toEqual({ ok: true, value: 1, cost: 0.25 })
  })
})

describe('ctx.sleep', () => {
  test('a long sleep suspends; the handler runs again from the top and does not sleep again', async () => {
    const { reprise, clock, workUntil, named } = workbench()
    let begun = 0
    const task = reprise.task('t', {}, async (_input, ctx) => {
      begun += 1
      await ctx.sleep('cool-off', '1h')
      return clock.now()
    })
    const startedAt = clock.now()
    const run = await reprise.submit(task, 1)
    await workUntil()
    const result = await run.result()
    expect(begun).toBe(2)
    expect(result.ok && (result.value as number) - startedAt).toBeGreaterThanOrEqual(3_600_000)
    expect(named('run.suspended')[0]).toMatchObject({ on: 'cool-off', until: startedAt + 3_600_000 })
    expect(await reprise.get(run.id)).toMatchObject({ ledgers: { errors: 0 }, suspensions: 1 })
  })

  test('a short sleep is waited out in the attempt, once', async () => {
    const { reprise, clock, workUntil, named } = workbench()
    let attempts = 0
    const times: number[] = []
    const task = reprise.task('t', {}, async (_input, ctx) => {
      await ctx.sleep('breath', '10s')
      times.push(clock.now())
      attempts += 1
      if (attempts === 1) throw hiccup()
    })
    const startedAt = clock.now()
    await reprise.submit(task, 1)
    await workUntil()
    expect(named('run.suspended')).toHaveLength(0)
    expect(times).toEqual([startedAt + 10_000, startedAt + 10_000 + 30_000])
  })

  test('a handler that swallows the suspension suspends all the same, and is named', async () => {
    const { reprise, workUntil, named } = workbench()
    let begun = 0
    const task = reprise.task('careless', {}, async (_input, ctx) => {
      begun += 1
      await ctx.sleep('cool-off', '1h').catch(() => {})
      return 'too early'
    })
    const run = await reprise.submit(task, 1)
    await workUntil('idle')
    expect(await reprise.get(run.id)).toMatchObject({ state: 'waiting' })
    expect(named('suspension.swallowed')[0]).toMatchObject({ task: 'careless', on: 'cool-off' })
    await workUntil()
    expect([begun, (await run.result()).ok]).toEqual([2, true])
  })
})

describe('ctx.progress and ctx.log', () => {
  test('progress that nobody waits for does no harm after the end', async () => {
    const { reprise, workUntil, named } = workbench()
    let late: Promise<void> | undefined
    const task = reprise.task('t', {}, (_input, ctx) => {
      void ctx.progress(1, 2)
      late = Promise.resolve().then(() => ctx.progress(2, 2))
      return 'done'
    })
    const run = await reprise.submit(task, 1)
    await workUntil()
    await expect(late).resolves.toBeUndefined()
    expect(await run.result()).toMatchObject({ ok: true })
    expect(named('write.refused')).toEqual([])
  })

  test('progress is seen while the run runs, and log lines are events', async () => {
    const { reprise, clock, named } = workbench()
    const task = reprise.task('t', {}, async (_input, ctx) => {
      ctx.log.warn('half way', { page: 3 })
      await ctx.progress(3, 6, 'pages')
      await ctx.sleep('reading', '5s')
    })
    const run = await reprise.submit(task, 1)
    const worker = reprise.work()
    await clock.advance(1_000)
    expect(await reprise.get(run.id)).toMatchObject({ progress: { done: 3, of: 6, note: 'pages' } })
    expect(named('log')[0]).toMatchObject({ level: 'warn', message: 'half way', data: { page: 3 } })
    await clock.runUntilSettled(worker.stop())
  })
})
