import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Context } from '../engine/context.ts'
import { defineTask } from '../engine/task.ts'
import { later, never, toPerson } from '../engine/throwables.ts'
import { systemClock } from '../time/clock.ts'
import { runOnce } from './run-once.ts'
import { virtualClock } from './virtual-clock.ts'

const MINUTE_MS = 60_000
const httpError = (status: number, message = `HTTP ${status}`) => Object.assign(new Error(message), { status })

describe('what a handler came to', () => {
  test('a value, through JSON', async () => {
    const ran = await runOnce(async (input: { n: number }) => ({ twice: input.n * 2, lost: undefined }), { n: 21 })
    expect(ran).toMatchObject({
      outcome: 'value',
      value: { twice: 42 },
      says: '',
      sends: [],
      run: { state: 'succeeded' },
    })
    expect(Object.keys(ran.value ?? {})).toEqual(['twice'])
    expect(ran.events.map(({ name }) => name)).toEqual(['attempt.started', 'run.succeeded'])
    expect('failure' in ran).toBe(false)
  })

  test('a question, and what came of it: a reply, or nobody in time', async () => {
    const handler = (_input: null, ctx: Context) =>
      ctx.person('total', { within: '4h', question: { title: 'Invoice 7', reason: 'the total is wrong' } })
    const { outcome, dueAt, journal, says } = await runOnce(handler, null)
    expect([outcome, says]).toEqual(['person', expect.stringContaining('The total is wrong.')])
    expect(dueAt).toBeTypeOf('number')
    const reply = { act: 'answer', value: 42, how: 'corrected', by: 'ann', at: 1 }
    const answered = journal.map((entry) => ({ ...entry, answer: JSON.stringify(reply) }))
    expect(await runOnce(handler, null, { journal: answered })).toMatchObject({ outcome: 'value', value: reply })
    const late = await runOnce(handler, null, { journal })
    expect(late).toMatchObject({ outcome: 'value', value: { act: 'overdue' }, sends: [] })
  })

  test('a join waits for its children until their results are in the journal', async () => {
    const embed = defineTask<string, number>({ name: 'embed' })
    const handler = async (_input: null, ctx: Context) =>
      (await ctx.join('chunks', [
        [embed, 'one'],
        [embed, 'three'],
      ])) as readonly number[]
    const { outcome, journal } = await runOnce(handler, null)
    expect(outcome).toBe('suspended')
    expect(await runOnce(handler, null, { attempt: 2, journal })).toMatchObject({ outcome: 'suspended', journal })
    const results = (last: unknown) =>
      journal.map((entry) => ({ ...entry, answer: JSON.stringify([{ ok: true, value: 3 }, last]) }))
    const right = await runOnce(handler, null, { attempt: 2, journal: results({ ok: true, value: 5 }) })
    expect(right).toMatchObject({ outcome: 'value', value: [3, 5], sends: [] })
    const failed = { ok: false, failure: { kind: 'final', code: 'http.400', message: 'no' } }
    const wrong = await runOnce(handler, null, { attempt: 2, journal: results(failed) })
    expect(wrong).toMatchObject({ outcome: 'failure', failure: { code: 'join.child_failed' } })
  })

  test('a step is given what it needs, through JSON', async () => {
    const handler = (_input: null, { needs }: Context) => ({ ...needs, none: 'absent' in needs })
    const needs = { fetch: { day: new Date(0), lost: undefined } }
    const { value } = await runOnce(handler, null, { needs })
    expect(value).toEqual({ fetch: { day: '1970-01-01T00:00:00.000Z' }, none: false })
    expect((await runOnce(handler, null)).value).toEqual({ none: false })
  })

  test('nothing', async () => {
    const ran = await runOnce(() => undefined, null)
    expect(ran.outcome).toBe('value')
    expect('value' in ran).toBe(false)
  })

  test('a failure, classified and decided', async () => {
    const ran = await runOnce(() => {
      throw httpError(503)
    }, {})
    expect(ran).toMatchObject({
      outcome: 'failure',
      failure: { kind: 'transient', code: 'http.503' },
      decision: { act: 'retry', counted: true },
      run: { state: 'waiting' },
    })
    expect(ran.says).toMatch(/^Attempt 2 at .*1 of 8 errors used\.$/)
    expect(ran.dueAt).toBeGreaterThan(ran.run.submittedAt)
  })

  test('the end, by a failure that cannot be cured or by the last attempt', async () => {
    const ended = await runOnce(() => {
      throw never('the file is empty')
    }, {})
    expect(ended).toMatchObject({ outcome: 'failure', decision: { act: 'fail' }, run: { state: 'failed' } })
    const last = await runOnce(
      () => {
        throw httpError(503)
      },
      {},
      { attempt: 8 },
    )
    expect(last).toMatchObject({ decision: { act: 'fail' }, run: { state: 'failed' } })
    expect(last.says).toContain('8 of 8 errors used')
  })

  test('later, a person, and a long sleep', async () => {
    const put = await runOnce(() => {
      throw later('10m', 'not ready')
    }, {})
    expect(put).toMatchObject({ outcome: 'later', says: expect.stringContaining('not ready') })
    expect((put.dueAt ?? 0) - put.run.submittedAt).toBe(10 * MINUTE_MS)
    const person = await runOnce(() => {
      throw toPerson('unreadable', { queue: 'accounts', within: '4h' })
    }, {})
    expect(person).toMatchObject({ outcome: 'person', run: { state: 'review' } })
    expect(person.says).toContain('accounts')
    const asleep = await runOnce((_input, ctx) => ctx.sleep('cool-off', '2h'), {})
    expect(asleep).toMatchObject({ outcome: 'suspended', run: { state: 'waiting' } })
    expect((asleep.dueAt ?? 0) - asleep.run.submittedAt).toBe(120 * MINUTE_MS)
  })
})

describe('calls', () => {
  const handler = async (input: { text: string }, ctx: Context<{ text: string }>) => {
    const words = await ctx.call(
      'read',
      ({ cost }) => {
        cost(0.002)
        return input.text.split(' ')
      },
      { input },
    )
    return words.length
  }

  test('each physical send, with its answer and its price', async () => {
    const { sends, value, run } = await runOnce(handler, { text: 'a b c' })
    expect(value).toBe(3)
    expect(sends).toEqual([{ name: 'read', take: 1, answer: ['a', 'b', 'c'], costUsd: 0.002 }])
    expect(run.costUsd).toBe(0.002)
  })

  test('repeats inside the attempt are sends, and their waits cost no time', async () => {
    let calls = 0
    const clock = virtualClock()
    const startedAt = clock.now()
    const ran = await runOnce(
      (_input, ctx) =>
        ctx.call('flaky', () => {
          calls += 1
          if (calls < 3) throw httpError(503)
          return 'right'
        }),
      {},
      { clock },
    )
    expect(ran.value).toBe('right')
    expect(ran.sends.map(({ take, failure }) => [take, failure?.code])).toEqual([
      [1, 'http.503'],
      [2, 'http.503'],
      [3, undefined],
    ])
    expect(clock.now() - startedAt).toBe(4_000)
    expect(clock.pending()).toBe(0)
  })

  test('the journal of one attempt spares the sends of the next', async () => {
    let attempt = 0
    const twoCalls = async (_input: unknown, ctx: Context) => {
      const first = await ctx.call('first', () => 1)
      const second = await ctx.call('second', () => {
        if (attempt === 0) throw httpError(404)
        return 2
      })
      return first + second
    }
    const first = await runOnce(twoCalls, {})
    expect(first.outcome).toBe('failure')
    attempt = 1
    const second = await runOnce(twoCalls, {}, { attempt: 2, journal: first.journal })
    expect(second).toMatchObject({ outcome: 'value', value: 3, run: { state: 'succeeded' } })
    expect(second.sends).toEqual([{ name: 'second', take: 2, answer: 2 }])
    expect(second.events.map(({ name }) => name)).toContain('call.replayed')
  })

  test('answers by hand; another input is another call', async () => {
    const journal = [{ name: 'read', input: { text: 'x' }, answer: ['from', 'yesterday'] }]
    expect(await runOnce(handler, { text: 'x' }, { journal })).toMatchObject({ value: 2, sends: [] })
    expect(await runOnce(handler, { text: 'y' }, { journal })).toMatchObject({ value: 1, sends: [{ name: 'read' }] })
  })

  test('a send that nobody knows about', async () => {
    const pay = (_input: unknown, ctx: Context) => ctx.call('pay', () => 'paid', { ambiguous: 'person' })
    expect(await runOnce(pay, {}, { journal: [{ name: 'pay' }] })).toMatchObject({ outcome: 'person', sends: [] })
    expect(await runOnce(pay, {})).toMatchObject({ outcome: 'value' })
  })

  test('a sleep goes on where the attempt before left it', async () => {
    const clock = virtualClock()
    const nap = async (_input: unknown, ctx: Context) => {
      await ctx.sleep('nap', '2h')
      return 'awake'
    }
    const first = await runOnce(nap, {}, { clock })
    await clock.advance(120 * MINUTE_MS)
    expect(await runOnce(nap, {}, { clock, attempt: 2, journal: first.journal })).toMatchObject({ value: 'awake' })
  })
})

describe('the rest of ctx', () => {
  test('progress, log and artifacts', async () => {
    const ran = await runOnce(
      async (_input, ctx) => {
        await ctx.progress(1, 2, 'half')
        ctx.log.warn('odd page', { page: 2 })
        const { uri } = await ctx.artifact('report.txt', 'all is well')
        return [uri, ctx.attempt, ctx.key, ctx.generation]
      },
      {},
      { key: 'k', attempt: 3 },
    )
    expect(ran.progress).toEqual([{ done: 1, of: 2, note: 'half' }])
    expect(ran.events).toContainEqual(expect.objectContaining({ name: 'log', level: 'warn', message: 'odd page' }))
    expect(ran.artifacts).toMatchObject([{ path: ['r1', 'report.txt'], text: 'all is well', bytes: 11, reused: false }])
    expect(ran.value).toEqual([ran.artifacts[0]?.uri, 3, 'k', 1])
  })

  test('the task’s schemas, policy and timeout hold', async () => {
    const task = defineTask({
      name: 'strict',
      input: z.object({ n: z.number() }),
      output: z.object({ sum: z.number() }),
      policy: { maxAttempts: 1 },
      timeout: '5m',
    })
    await expect(runOnce(() => ({ sum: 1 }), { n: 'x' } as never, { task })).rejects.toMatchObject({
      code: 'submit.input',
    })
    const wrong = await runOnce((() => ({ sum: 'x' })) as never, { n: 1 }, { task })
    expect(wrong).toMatchObject({ outcome: 'failure', failure: { code: 'output.invalid' } })
    const obedient = await runOnce(
      async (_input, ctx) => {
        await ctx.sleep('a', '50s')
        for (let n = 0; n < 10; n += 1) await ctx.sleep(`b${n}`, '50s')
        return { sum: 1 }
      },
      { n: 1 },
      { task },
    )
    expect(obedient).toMatchObject({ failure: { code: 'attempt.timeout' }, decision: { act: 'fail' } })
    const deaf = await runOnce(() => new Promise<never>(() => {}), { n: 1 }, { task })
    expect(deaf).toMatchObject({ failure: { code: 'attempt.timeout' } })
  })

  test('it waits for real events too, and with a real clock in real time', async () => {
    const real = async (_input: unknown, ctx: Context) => {
      for (let n = 0; n < 5; n += 1) await setImmediate()
      await ctx.sleep('blink', 5)
      return 'seen'
    }
    expect(await runOnce(real, {})).toMatchObject({ value: 'seen' })
    expect(await runOnce(real, {}, { clock: systemClock })).toMatchObject({ value: 'seen' })
  })

  test('an attempt that is none is refused', async () => {
    await expect(runOnce(() => 1, {}, { attempt: 0 })).rejects.toThrow('attempt: 0; allowed are whole numbers from 1')
  })
})
