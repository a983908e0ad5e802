import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { failure } from '../failure/own.ts'
import { createReprise } from './reprise.ts'
import { defineTask } from './task.ts'
import { later, never, toPerson } from './throwables.ts'
import { workbench } from './workbench.fixtures.ts'

const hiccup = () => failure({ kind: 'transient', code: 'http.503', message: 'unavailable' })

describe('submit and result', () => {
  test('a run is executed once and gives its value', async () => {
    const { reprise, workUntil, named } = workbench()
    const double = reprise.task('double', { input: z.object({ n: z.number() }) }, ({ n }) => n * 2)
    const run = await reprise.submit(double, { n: 21 })
    await workUntil()
    expect(await run.result()).toEqual({ ok: true, value: 42, cost: 0 })
    expect(named('attempt.started')).toHaveLength(1)
    expect(await reprise.store.attempts(run.id), 'a first-try success needs no history').toEqual([])
  })

  test('a wrong input is refused by name and nothing is stored', async () => {
    const { reprise, store } = workbench()
    const double = defineTask({ name: 'double', input: z.object({ n: z.number() }) })
    await expect(reprise.submit(double, { n: 'x' } as never)).rejects.toThrow(
      /double input is \/n: .*number.*Nothing was submitted/,
    )
    expect((await store.find({ limit: 10 })).runs).toEqual([])
  })

  test.each([
    [{ priority: 1.5 }, /priority is 1\.5\. Allowed: a whole number/],
    [{ key: '' }, /key is \. Allowed: text of 1 to 255/],
    [{ category: 'a b' }, /category is "a b"/],
    [{ maxCost: -1 }, /maxCost is -1/],
    [{ at: 'soon' }, /at: "soon" is not a duration/],
    [{ onExisting: 'again' as never }, /onExisting is again\. Allowed: "return", "retry"/],
    [{ prio: 1 } as never, /prio of t is no option of a run\. Allowed: key, .*priority, .*Nothing was submitted/],
  ])('option %j is refused', async (options, message) => {
    const { reprise } = workbench()
    await expect(reprise.submit(defineTask({ name: 't' }), 1, options)).rejects.toThrow(message)
  })

  test('one key, one run; another input under it is an error', async () => {
    const { reprise } = workbench()
    const task = defineTask<{ a: number; b: number }>({ name: 't' })
    const first = await reprise.submit(task, { a: 1, b: 2 }, { key: 'k' })
    const again = await reprise.submit(task, { b: 2, a: 1 }, { key: 'k' })
    expect([again.id, again.created]).toEqual([first.id, false])
    await expect(reprise.submit(task, { a: 1, b: 3 }, { key: 'k' })).rejects.toThrow(
      /Key "k" of t belongs to a run with another input/,
    )
  })

  test('of many, a key that belongs to another input is refused alone, and the error says what became of the others', async () => {
    const { reprise, store } = workbench()
    const task = defineTask<number>({ name: 't' })
    await reprise.submit(task, 1, { key: 'k' })
    const items = [[task, 2] as const, [task, 3, { key: 'k' }] as const, [task, 4] as const]
    await expect(reprise.submitMany(items)).rejects.toThrow('Refused are 1 of 3 items; the others are submitted.')
    expect((await store.find({ limit: 10 })).runs.map(({ input }) => input)).toEqual(['4', '2', '1'])
    // A transaction is of the whole call, so one that is meant for an item alone would be ignored.
    await expect(reprise.submitMany([[task, 5, { tx: {} } as never]])).rejects.toThrow('tx of t is no option of a run')
  })

  test('onExisting "retry" gives a failed run its next generation', async () => {
    const { reprise, workUntil } = workbench()
    let broken = true
    const task = reprise.task('t', {}, () => {
      if (broken) throw never('not yet')
      return 'fine'
    })
    await reprise.submit(task, 1, { key: 'k' })
    await workUntil()
    broken = false
    const again = await reprise.submit(task, 1, { key: 'k', onExisting: 'retry' })
    await workUntil()
    expect(await again.result()).toMatchObject({ ok: true, value: 'fine' })
    expect((await reprise.get(again.id))?.generation).toBe(2)
  })

  test('result gives up after its time with the state it saw', async () => {
    const { reprise, clock } = workbench()
    const run = await reprise.submit(defineTask({ name: 't' }), 1)
    const result = clock.runUntilSettled(run.result({ timeoutMs: '5s' }))
    await expect(result).rejects.toThrow(`Run ${run.id} is ready after 5000 ms`)
  })

  test('smaller priority first, then the older one', async () => {
    const { reprise, clock, workUntil } = workbench()
    const order: unknown[] = []
    const task = reprise.task('t', {}, (input) => void order.push(input))
    await reprise.submit(task, 'late')
    await clock.advance(10)
    await reprise.submit(task, 'later')
    await reprise.submit(task, 'urgent', { priority: -1 })
    await workUntil('settled', { concurrency: 1 })
    expect(order).toEqual(['urgent', 'late', 'later'])
  })

  test('a worker without handlers, or with a wrong option, is refused', () => {
    const { reprise } = workbench()
    expect(() => reprise.work()).toThrow('work() has no handlers')
    reprise.task('t', {}, () => 1)
    expect(() => reprise.work({ concurrency: 0 })).toThrow('concurrency is 0. Allowed')
    expect(() => reprise.work({ tasks: ['u'] })).toThrow('tasks names "u", which has no handler. Allowed: t')
    expect(() => createReprise({} as never)).toThrow('store is undefined')
    expect(() => reprise.task('t', {}, () => 1)).toThrow('has a handler already')
    expect(() => defineTask({ name: '../x' })).toThrow('task name is "../x"')
  })
})

describe('failures', () => {
  test('a hiccup is waited out and tried again; history and events tell it', async () => {
    const { reprise, workUntil, named, store } = workbench()
    let calls = 0
    const task = reprise.task('t', {}, () => {
      calls += 1
      if (calls === 1) throw hiccup()
      return calls
    })
    const run = await reprise.submit(task, 1)
    await workUntil()
    expect(await run.result()).toMatchObject({ ok: true, value: 2 })
    const [failed, succeeded] = await store.attempts(run.id)
    expect(failed).toMatchObject({
      attempt: 1,
      outcome: 'failed',
      dice: 0.5,
      decision: { act: 'retry', counted: true },
    })
    expect(succeeded).toMatchObject({ attempt: 2, outcome: 'succeeded' })
    expect(named('attempt.retried')[0]).toMatchObject({ retry: 1, delayMs: 30_000 })
    expect(named('run.succeeded')[0]).toMatchObject({ retries: 1 })
  })

  test('attempts are bounded, and the end names the ledger', async () => {
    const { reprise, workUntil, named } = workbench()
    const task = reprise.task('t', {}, () => {
      throw hiccup()
    })
    const run = await reprise.submit(task, 1)
    await workUntil()
    expect(named('attempt.started')).toHaveLength(8)
    expect(await run.result()).toMatchObject({ ok: false, failure: { code: 'http.503' } })
    expect(named('run.failed')[0]).toMatchObject({ attempts: 8, ledger: 'errors' })
    expect(await reprise.get(run.id)).toMatchObject({
      state: 'failed',
      why: { code: 'end.errors_spent' },
      ledgers: { errors: 8 },
    })
  })

  test('an operator’s policy for a task goes over what the task says', async () => {
    const { clock, store } = workbench()
    const reprise = createReprise({ store, clock, policies: { t: { maxAttempts: 2 } } })
    let calls = 0
    const task = reprise.task('t', { policy: 'daemon' }, () => {
      calls += 1
      throw hiccup()
    })
    const run = await reprise.submit(task, 1)
    const worker = reprise.work()
    await clock.runUntilSettled(worker.idle({ until: 'settled' }))
    await clock.runUntilSettled(worker.stop())
    expect([calls, (await run.result()).ok]).toEqual([2, false])
  })

  test('what cannot ever work fails at once', async () => {
    const { reprise, workUntil, named } = workbench()
    const task = reprise.task('t', {}, () => {
      throw never('the file is empty')
    })
    const run = await reprise.submit(task, 1)
    await workUntil()
    expect(named('attempt.started')).toHaveLength(1)
    expect(await run.result()).toMatchObject({
      ok: false,
      failure: { kind: 'final', code: 'app.never', message: 'the file is empty' },
    })
  })

  test('a told wait costs no attempt', async () => {
    const { reprise, workUntil, store, clock } = workbench()
    let calls = 0
    const task = reprise.task('t', {}, () => {
      calls += 1
      if (calls === 1) throw failure({ kind: 'rate_limited', code: 'http.429', retryAfterMs: 90_000 })
      return calls
    })
    const run = await reprise.submit(task, 1)
    const startedAt = clock.now()
    await workUntil()
    expect(await reprise.get(run.id)).toMatchObject({ state: 'succeeded', ledgers: { errors: 0, rateWaits: 1 } })
    expect((await store.attempts(run.id))[0]).toMatchObject({ decision: { at: startedAt + 90_000, counted: false } })
  })

  test('a benign race ends well and leaves no error', async () => {
    const { reprise, workUntil } = workbench()
    const task = reprise.task('t', {}, () => {
      throw failure({ kind: 'conflict', code: 'pg.23505' })
    })
    const run = await reprise.submit(task, 1)
    await workUntil()
    const view = await reprise.get(run.id)
    expect(view).toMatchObject({ state: 'succeeded', why: { code: 'ignored' } })
    expect(view?.failure).toBeUndefined()
  })

  test('an output that is not as declared is a failure like a throw', async () => {
    const { reprise, workUntil } = workbench()
    const task = reprise.task(
      't',
      { output: z.object({ total: z.number() }), policy: { maxAttempts: 1 } },
      () => ({ total: 'x' }) as never,
    )
    const run = await reprise.submit(task, 1)
    await workUntil()
    expect(await run.result()).toMatchObject({ ok: false, failure: { kind: 'semantic', code: 'output.invalid' } })
  })

  test('a run that is past its deadline ends without being started', async () => {
    const { reprise, clock, workUntil, named } = workbench()
    const task = reprise.task('t', {}, () => 1)
    const run = await reprise.submit(task, 1, { deadline: '10s' })
    await clock.advance(11_000)
    await workUntil()
    expect(named('attempt.started')).toHaveLength(0)
    expect(await run.result()).toMatchObject({ ok: false, failure: { kind: 'exhausted', code: 'deadline.passed' } })
  })

  test('a handler that overruns is told, and ended without its help', async () => {
    const { reprise, workUntil, named } = workbench()
    let aborted = false
    const task = reprise.task('t', { timeout: '5s', policy: { maxAttempts: 1 } }, (_input, ctx) => {
      ctx.signal.addEventListener('abort', () => {
        aborted = true
      })
      return new Promise(() => {})
    })
    const run = await reprise.submit(task, 1)
    await workUntil()
    expect(aborted).toBe(true)
    expect(await run.result()).toMatchObject({ ok: false, failure: { code: 'attempt.timeout' } })
    expect(named('run.failed')).toHaveLength(1)
  })
})

describe('handing over and waiting', () => {
  test('later waits without counting, and the handler runs again', async () => {
    const { reprise, workUntil, clock, named } = workbench()
    let ready = false
    const task = reprise.task('t', {}, () => {
      if (!ready) throw later('10m', 'the report is not ready')
      return 'report'
    })
    const run = await reprise.submit(task, 1)
    await workUntil('idle')
    expect(await reprise.get(run.id)).toMatchObject({
      state: 'waiting',
      dueAt: clock.now() + 600_000,
      suspensions: 1,
      ledgers: { errors: 0 },
    })
    ready = true
    await workUntil()
    expect(await run.result()).toMatchObject({ ok: true, value: 'report' })
    expect(named('run.suspended')).toHaveLength(1)
  })

  test('toPerson puts the run on a desk, with its time', async () => {
    const { reprise, workUntil, clock, named } = workbench()
    const task = reprise.task('t', {}, () => {
      throw toPerson('the totals cannot be read', { queue: 'accounts', within: '4h' })
    })
    const run = await reprise.submit(task, 1)
    const now = clock.now()
    await workUntil('idle')
    expect(await reprise.get(run.id)).toMatchObject({ state: 'review', dueAt: now + 4 * 3_600_000 })
    expect(named('run.review')[0]).toMatchObject({ queue: 'accounts' })
  })
})
