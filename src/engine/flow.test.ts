import { describe, expect, test } from 'vitest'
import { failure } from '../failure/own.ts'
import { retryRuns } from '../ops/steer-runs.ts'
import { flow } from './flow.ts'
import { defineTask } from './task.ts'
import { never } from './throwables.ts'
import { workbench } from './workbench.fixtures.ts'

const hiccup = () => failure({ kind: 'transient', code: 'http.503', message: 'unavailable' })

/** Four tasks whose handlers say what they were given; `fetch` does what it is told. */
function reporting(fetch: () => string = () => 'rows') {
  const bench = workbench()
  const { reprise } = bench
  const ran: string[] = []
  const tasks = {
    fetch: reprise.task('fetch', {}, (_input: unknown) => {
      ran.push('fetch')
      return fetch()
    }),
    chart: reprise.task('chart', {}, (_input: unknown, ctx) => {
      ran.push('chart')
      return `chart of ${String(ctx.needs['fetch'])}`
    }),
    write: reprise.task('write', {}, (_input: unknown, ctx) => {
      ran.push('write')
      return ctx.needs
    }),
  }
  const report = (onNeedFailed: 'fail' | 'skip' | 'wait' = 'fail') =>
    flow('report', {
      write: [tasks.write, {}, { needs: ['fetch', 'chart'], onNeedFailed }],
      chart: [tasks.chart, {}, { needs: ['fetch'], onNeedFailed }],
      fetch: [tasks.fetch, { day: 1 }],
    })
  return { ...bench, tasks, ran, report }
}

describe('a flow', () => {
  test('runs each step after its needs and gives it their outputs', async () => {
    const { reprise, ran, report, workUntil, named } = reporting()
    const run = await reprise.submitFlow(report())
    await workUntil()
    expect(ran).toEqual(['fetch', 'chart', 'write'])
    const result = await run.result()
    expect(result.ok).toBe(true)
    expect(result.steps.write).toEqual({ ok: true, value: { fetch: 'rows', chart: 'chart of rows' }, cost: 0 })
    expect(await run.steps.chart.result()).toMatchObject({ ok: true, value: 'chart of rows' })
    expect(named('run.unblocked').map(({ run: id, after }) => [id, after])).toEqual([
      [run.steps.chart.id, run.steps.fetch.id],
      [run.steps.write.id, run.steps.chart.id],
    ])
  })

  test('is submitted once for a key, and other content under it is refused', async () => {
    const { reprise, report, tasks } = reporting()
    const first = await reprise.submitFlow(report(), { key: 'today' })
    const again = await reprise.submitFlow(report(), { key: 'today' })
    expect([again.id, again.created]).toEqual([first.id, false])
    await expect(reprise.submitFlow(flow('report', { fetch: [tasks.fetch, 2] }), { key: 'today' })).rejects.toThrow(
      'Key "today" of flow report belongs to a flow with other steps or inputs.',
    )
    await expect(reprise.submitFlow(report(), { key: '' })).rejects.toThrow(/key is \. Allowed/)
  })

  test('a step that fails takes along what needs it, and its retry brings them back', async () => {
    let broken = true
    const { reprise, store, report, workUntil, ran, named } = reporting(() => {
      if (broken) throw never('the source is gone')
      return 'rows'
    })
    const run = await reprise.submitFlow(report())
    await workUntil()
    const { ok, steps } = await run.result()
    expect(ok).toBe(false)
    expect(steps.write).toMatchObject({
      ok: false,
      failure: { code: 'need.failed', message: 'it needs fetch, which failed' },
    })
    expect(named('run.failed').map(({ run: id }) => id)).toEqual(
      [run.steps.fetch.id, run.steps.chart.id, run.steps.write.id].sort(),
    )
    expect(await retryRuns(store, { ids: [run.steps.write.id] }, { by: 'ann' })).toMatchObject({
      done: 0,
      skipped: [{ run: run.steps.write.id, reason: 'ended by its need' }],
    })
    broken = false
    expect(await retryRuns(store, { ids: [run.steps.fetch.id] }, { by: 'ann' })).toMatchObject({ done: 1 })
    await workUntil()
    expect((await run.result()).ok).toBe(true)
    expect(ran).toEqual(['fetch', 'fetch', 'chart', 'write'])
    expect((await store.get({ id: run.steps.write.id }))?.generation).toBe(2)
    expect(await store.verify()).toEqual([])
  })

  test('a step may be skipped instead, or wait', async () => {
    const { reprise, report, workUntil, named, store, clock } = reporting(() => {
      throw never('the source is gone')
    })
    const skipped = await reprise.submitFlow(report('skip'))
    const waiting = await reprise.submitFlow(report('wait'))
    await workUntil()
    expect(named('run.skipped').map(({ run }) => run)).toEqual([skipped.steps.chart.id, skipped.steps.write.id])
    expect((await skipped.result()).steps.chart).toMatchObject({ ok: false, failure: { code: 'run.skipped' } })
    expect((await store.get({ id: waiting.steps.chart.id }))?.state).toBe('blocked')
    const late = expect(waiting.result({ timeoutMs: 1 })).rejects.toThrow(
      /Step (write|chart): Run r\d+ is blocked after/,
    )
    await clock.advance(10)
    await late
  })

  test('retries of one step do not move the others', async () => {
    let left = 2
    const { reprise, report, workUntil, ran } = reporting(() => {
      left -= 1
      if (left >= 0) throw hiccup()
      return 'rows'
    })
    const run = await reprise.submitFlow(report())
    await workUntil()
    expect((await run.result()).ok).toBe(true)
    expect(ran).toEqual(['fetch', 'fetch', 'fetch', 'chart', 'write'])
  })
})

describe('a flow that cannot be is refused in words', () => {
  const t = defineTask({ name: 't' })

  test.each([
    [{}, 'Flow f has 0 steps. Allowed: 1 to 1,000.'],
    [{ 'a.b': [t, 1] }, /Flow f has a step "a\.b"\. Allowed: 1 to 128 letters, digits, "_" or "-", beginning/],
    [{ a: [t, 1], b: [t, 1, { needs: ['x'] }] }, 'Flow f has a step b that needs "x". Allowed: a.'],
    [{ a: [t, 1], b: [t, 1, { needs: ['a', 'a'] }] }, 'Flow f has a step b that names a need twice.'],
    [{ a: [t, 1, { needs: ['a'] }] }, 'Flow f goes in a circle: a needs a. Allowed: needs without circles.'],
    [
      { a: [t, 1, { needs: ['c'] }], b: [t, 1, { needs: ['a'] }], c: [t, 1, { needs: ['b'] }], d: [t, 1] },
      'Flow f goes in a circle: a needs c needs b needs a.',
    ],
    [
      { a: [t, 1, { onNeedFailed: 'go' }] },
      'Flow f has a step a with onNeedFailed "go". Allowed: "fail", "skip", "wait".',
    ],
    [{ a: [undefined, 1] }, 'Flow f has no task in its step a.'],
    [{ a: t }, 'Flow f has no task in its step a. Allowed: [task, input] or [task, input, { needs }].'],
    [{ a: null }, 'Flow f has no task in its step a.'],
    [{ a: [t, 1, 'fast'] }, 'Flow f has no options in its step a.'],
    [{ a: [t, 1], b: [t, 1, { needs: 'a' }] }, 'Flow f has a step b whose needs are "a". Allowed: a list of names.'],
    [{ a: [t, 1], b: [t, 1, { need: ['a'] }] }, 'Flow f has a step b with need. Allowed: needs, onNeedFailed,'],
    [{ a: [t, 1, { key: 'k' }] }, 'Flow f has a step a with key. Allowed: needs, '],
    [undefined, 'Flow f has undefined for steps.'],
  ])('%j', (steps, message) => {
    expect(() => flow('f', steps as never)).toThrow(message)
  })

  test('also when it is submitted as plain data, and nothing is stored', async () => {
    const { reprise, store } = workbench()
    const steps = { a: [t, 1], b: [t, 1, { needs: ['x'] }] } as const
    await expect(reprise.submitFlow({ name: 'f', steps })).rejects.toThrow('Flow f has a step b that needs "x".')
    await expect(reprise.submitFlow({} as never)).rejects.toThrow('flow name is undefined. Allowed: 1 to 128')
    expect((await store.find({ limit: 1 })).runs).toEqual([])
  })

  test('inside a transaction of the application’s own, and nothing is submitted', async () => {
    const { reprise } = workbench()
    const one = flow('report', { fetch: [defineTask({ name: 'fetch' }), 1] })
    const options = { key: 'k', tx: {} }
    await expect(reprise.submitFlow(one, options)).rejects.toMatchObject({
      code: 'submit.tx_flow',
      message:
        'tx is given for flow report. Allowed for runs without needs only: submit the flow after the commit, with a key.',
    })
    expect(await reprise.store.flow({ name: 'report', key: 'k' })).toBeUndefined()
  })

  test('more than 1,000 steps', () => {
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`s${index}`, [t, 1] as const]))
    expect(() => flow('f', many)).toThrow('Flow f has 1001 steps. Allowed: 1 to 1,000.')
  })
})
