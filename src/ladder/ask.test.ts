import { describe, expect, test } from 'vitest'
import { failure } from '../failure/own.ts'
import { fakeModel } from '../testing/fake-model.ts'
import { runOnce } from '../testing/run-once.ts'
import { askBench, PRO, right, rules, schema, wrong } from './ask-bench.fixtures.ts'
import type { Asks } from './asking-context.ts'
import { ladder } from './ladder.ts'
import { rung } from './rung.ts'
import type { Sent } from './send.ts'

const answered = (value: unknown) => ({ act: 'answer', value: JSON.stringify(value), how: 'corrected' }) as const

describe('an ask', () => {
  test('gives back the gate’s value, the rung, the takes and the cost', async () => {
    const { reprise, task, work, flash, named } = askBench({
      flash: [{ json: right, tokens: { input: 1_000_000, output: 100_000 } }],
    })
    const run = await reprise.submit(task, 'Invoice R-1')
    await work()
    const result = await run.result()
    expect(result).toMatchObject({ ok: true, cost: expect.closeTo(0.55) })
    expect(result.ok && result.value).toEqual({
      value: right,
      rung: 'gemini:flash',
      takes: [
        {
          rung: 'gemini:flash',
          take: 1,
          kind: 'ok',
          codes: [],
          repaired: false,
          model: 'google/gemini-flash-latest',
          ms: 0,
          usd: expect.closeTo(0.55),
        },
      ],
      cost: expect.closeTo(0.55),
    })
    expect(flash.asked[0]).toMatchObject({ files: 0, maxOutputTokens: 8_192 })
    expect(flash.asked[0]?.options.responseFormat).toMatchObject({ type: 'json', schema: { type: 'object' } })
    expect(named('ask.ended')).toMatchObject([{ solvedBy: 'first', takes: 1 }])
  })

  test('slows everyone when the provider says with an answer that little is left', async () => {
    const model = fakeModel([{ json: right }])
    const headers = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '30s' }
    const doGenerate = async (options: never): Promise<never> =>
      ({ ...((await model.doGenerate(options)) as object), response: { headers } }) as never
    const { outcome, events } = await runOnce(
      (_input: null, ctx: Asks) =>
        ctx.ask('invoice', { prompt: 'The total?', schema, ladder: ladder([rung({ ...model, doGenerate })]) }),
      null,
    )
    expect(outcome).toBe('value')
    expect(events.filter(({ name }) => name === 'hold.slowed')).toMatchObject([
      { what: 'resource:fake:model', by: 'x-ratelimit-remaining-requests', left: '0 requests are left' },
    ])
  })

  test('stores with each send what was asked, what answered, what it took, and what was wrong before', async () => {
    const { reprise, task, work, store } = askBench({ flash: [{ json: wrong(1) }, { json: right }] })
    const run = await reprise.submit(task, 'Invoice R-1')
    await work()
    const journal = await store.journal(run.id, 1)
    expect(journal.map(({ name }) => name)).toEqual(['invoice/gemini:flash.1', 'invoice/gemini:flash.2'])
    const [first, second] = journal.map(({ answer }) => JSON.parse(answer ?? '') as Sent)
    expect(first).toMatchObject({
      asked: 'google/gemini-flash-latest',
      answered: 'gemini-flash-latest',
      text: JSON.stringify(wrong(1)),
      finish: 'stop',
      tokens: { input: 100, output: 20 },
      usd: expect.closeTo((100 * 0.3 + 20 * 2.5) / 1e6),
      ms: 0,
      salt: expect.stringMatching(/^0*\d+$/),
      about: {
        ask: 'invoice',
        rung: 'gemini:flash',
        take: 1,
        hashes: { prompt: expect.any(String), schema: expect.any(String), input: expect.any(String) },
      },
    })
    expect(second?.about).toMatchObject({
      told: { take: 1, kind: 'semantic', issues: [{ path: '/total', code: 'gate.sum' }] },
    })
  })

  test('repairs here before it pays for another call', async () => {
    const { reprise, task, work, flash, named } = askBench({ flash: [`\`\`\`json\n${JSON.stringify(right)}\n\`\`\``] })
    const run = await reprise.submit(task, 'x')
    await work()
    expect(await run.result()).toMatchObject({ ok: true, value: { value: right, takes: [{ repaired: true }] } })
    expect(flash.asked).toHaveLength(1)
    expect(named('answer.repaired')).toHaveLength(1)
    expect(named('ask.ended')).toMatchObject([{ solvedBy: 'repair' }])
  })

  test('corrects with the errors and the image, then climbs with all that was said', async () => {
    const image = { data: 'aGk=', mediaType: 'image/png' }
    const { reprise, task, work, flash, pro, named } = askBench({
      flash: ['prose', { json: wrong(1) }, { json: wrong(2) }],
      pro: [{ json: right }],
      ask: { image },
    })
    const run = await reprise.submit(task, 'x')
    await work()
    expect(await run.result()).toMatchObject({ ok: true, value: { rung: 'gemini:pro' } })
    expect(flash.asked.map(({ files }) => files)).toEqual([0, 1, 1])
    expect(flash.asked[1]?.text).toContain('answer.syntax')
    expect(flash.asked[2]?.text).toContain('/total gate.sum: must be the sum of total over /lines')
    expect(flash.asked[2]?.text).not.toContain('prose')
    expect(pro.asked[0]?.text).toContain('3 earlier attempts failed')
    expect(pro.asked[0]?.text).toContain('prose')
    expect(named('answer.refused').map(({ how, codes }) => [how, ...codes])).toEqual([
      ['syntax', 'answer.syntax'],
      ['semantic', 'gate.sum'],
      ['semantic', 'gate.sum'],
    ])
    expect(named('rung.left')).toMatchObject([
      { rung: 'gemini:flash', to: 'gemini:pro', reason: 'spent', isPerson: false },
    ])
    expect(named('ask.ended')).toMatchObject([{ solvedBy: 'rung', takes: 4 }])
    const documents = new Set(
      ['model.asked', 'answer.refused', 'rung.left', 'ask.ended'].flatMap((name) =>
        named(name as 'ask.ended').map(({ document }) => document),
      ),
    )
    expect(documents.size).toBe(1)
  })

  test('gives an answer that was cut off more room, and never makes a whole of it', async () => {
    const half = JSON.stringify(right).slice(0, -12)
    const { reprise, task, work, flash } = askBench({
      flash: [{ text: half, finish: 'length' }, { json: right }],
      flashRung: { attempts: 3, maxOutputTokens: 100 },
    })
    const run = await reprise.submit(task, 'x')
    await work()
    expect(await run.result()).toMatchObject({ ok: true, value: { takes: [{ kind: 'truncated' }, { kind: 'ok' }] } })
    expect(flash.asked.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([100, 200])
  })

  test('the same answer with the same fault twice goes on at the next rung', async () => {
    const { reprise, task, work, flash, pro, named } = askBench({
      flash: [{ json: wrong(1) }, { json: wrong(1) }],
      pro: [{ json: right }],
    })
    await reprise.submit(task, 'x')
    await work()
    expect([flash.asked.length, pro.asked.length]).toEqual([2, 1])
    expect(named('rung.left')).toMatchObject([{ reason: 'no_progress' }])
  })

  test('is refused at the door when it makes no sense', async () => {
    const bad = async (ask: object, message: RegExp) => {
      const options = { prompt: 'p', schema: {}, ...ask }
      const { failure: failed } = await runOnce((_input, ctx) => ctx.ask('invoice', options), 'x')
      expect(failed?.message).toMatch(message)
    }
    await bad({ prompt: ' ' }, /prompt of ask "invoice" is " "\. Allowed: text that says what is asked/)
    await bad({ schema: undefined }, /schema of ask "invoice" is not given/)
    await bad({ ladder: 3 }, /ladder of ask "invoice" is 3/)
  })
})

describe('what is paid for is kept', () => {
  test('a handler that fails after it, and runs again, buys nothing', async () => {
    const { reprise, task, work, flash, named, executions } = askBench({
      flash: ['prose', { json: right }],
      after: (execution) => {
        if (execution < 3) throw failure({ kind: 'transient', code: 'http.503', message: 'unavailable' })
      },
    })
    const run = await reprise.submit(task, 'x')
    await work('settled')
    expect(await run.result()).toMatchObject({ ok: true })
    expect([executions(), flash.asked.length]).toEqual([3, 2])
    // Told once: what was replayed is not told again.
    expect([named('model.asked').length, named('answer.refused').length, named('ask.ended').length]).toEqual([2, 1, 1])
  })

  test('a service that fails in the middle of the climb is asked again there, not from the bottom', async () => {
    const down = Object.assign(new Error('Service Unavailable'), { status: 503 })
    const { reprise, task, work, flash, executions } = askBench({ flash: ['prose', down, down, down, { json: right }] })
    const run = await reprise.submit(task, 'x')
    await work('settled')
    expect(await run.result()).toMatchObject({ ok: true, value: { takes: [{ kind: 'syntax' }, { kind: 'ok' }] } })
    expect([executions(), flash.asked.length]).toEqual([2, 5])
    // The repeats are the same to the letter.
    expect(new Set(flash.asked.slice(1).map(({ text }) => text)).size).toBe(1)
  })

  test('a mended rule judges what was stored, and nothing is bought', async () => {
    let isMended = false
    const rule = {
      name: 'odd',
      check: () => {
        if (isMended) return true
        throw new Error('no such table')
      },
    }
    const { reprise, task, work, flash, question, reply, named } = askBench({
      flash: [{ json: right }],
      ask: { gate: [rule] },
    })
    const run = await reprise.submit(task, 'x')
    await work()
    expect(await question(run.id)).toMatchObject({
      reason: expect.stringContaining('cannot be judged: Rule "gate.odd" threw'),
      draft: right,
    })
    expect(named('answer.refused')).toMatchObject([{ how: 'bug', codes: ['gate.bug'] }])
    isMended = true
    await reply(run.id, { act: 'back', hint: 'mended' })
    await work()
    expect(await run.result()).toMatchObject({ ok: true, value: { value: right, rung: 'gemini:flash' } })
    expect(flash.asked).toHaveLength(1)
  })
})

describe('a provider that says to wait', () => {
  test('for long is held for everyone, and the climb goes on where it was', async () => {
    const told = Object.assign(new Error('Too Many Requests'), { status: 429, headers: { 'retry-after': '300' } })
    const { reprise, task, work, flash, named, clock, store } = askBench({ flash: ['prose', told, { json: right }] })
    const run = await reprise.submit(task, 'x')
    await work()
    expect(named('hold.set')).toMatchObject([{ what: 'resource:gemini:flash', until: clock.now() + 300_000 }])
    expect(await store.get({ id: run.id })).toMatchObject({
      resource: 'gemini:flash',
      ledgers: { errors: 0, rateWaits: 1 },
    })
    await clock.advance(300_000)
    await work()
    expect(await run.result()).toMatchObject({ ok: true, value: { takes: [{ kind: 'syntax' }, { kind: 'ok' }] } })
    expect(flash.asked).toHaveLength(3)
  })

  test('that hangs is given up after its time', async () => {
    const { reprise, task, work, named } = askBench({
      flash: () => new Promise<string>(() => {}),
      flashRung: { timeout: '2s', attempts: 1 },
    })
    const run = await reprise.submit(task, 'x')
    await work()
    expect(named('call.failed')).toMatchObject([{ failure: { code: 'call.timeout' } }])
    expect((await reprise.get(run.id))?.state).toBe('waiting')
  })
})

describe('what an answer depends on', () => {
  test('a stored answer of a higher rung is not used after other answers than it was given for', async () => {
    const pro = fakeModel([{ json: wrong(1) }, { json: right }], { id: PRO })
    const cheap = (text: string) => fakeModel([text], { id: `google/gemini-flash-${text}` })
    let executions = 0
    const handler = async (ctx: Asks) => {
      executions += 1
      const first = rung(cheap(executions === 1 ? 'one' : 'two'), { name: 'cheap' })
      const { value } = await ctx.ask('invoice', {
        ladder: ladder([first, rung(pro)]),
        prompt: 'p',
        schema,
        gate: rules,
      })
      return value
    }
    const before = await runOnce((_input, ctx) => handler(ctx), 'x')
    expect(before.failure?.code).toBe('ladder.spent')
    const after = await runOnce((_input, ctx) => handler(ctx), 'x', { attempt: 2, journal: before.journal })
    expect([after.value, pro.asked.length]).toEqual([right, 2])
  })
})

describe('a budget', () => {
  test('of money reserves the worst case, and is closed when that does not fit', async () => {
    const { reprise, task, work, flash, question } = askBench({
      flash: () => ({ json: right, tokens: { input: 1_000, output: 1_000 } }),
      flashRung: {
        maxOutputTokens: 2_000,
        price: { input: 1, output: 10 },
        budget: { name: 'cents', day: { usd: 0.035 } },
      },
    })
    const first = await reprise.submit(task, 'a')
    await work()
    expect(await first.result()).toMatchObject({ ok: true, cost: expect.closeTo(0.011) })
    const second = await reprise.submit(task, 'b')
    await work()
    expect(await second.result()).toMatchObject({ ok: true })
    const third = await reprise.submit(task, 'c')
    await work()
    expect(flash.asked).toHaveLength(2)
    expect((await question(third.id)).reason).toMatch(/^cents is used up for today/)
  })

  const spent = {
    flash: (_ask: unknown, index: number) => ({ json: wrong(index + 1) }),
    pro: (_ask: unknown, index: number) => ({ json: { ...right, again: index } }),
  }

  test('that is used up sends the next document to a person, and stays so when it opens meanwhile', async () => {
    const { reprise, task, work, pro, question, reply, clock, named } = askBench({
      ...spent,
      proRung: { budget: { name: 'pro', day: 1 } },
    })
    const first = await reprise.submit(task, 'a')
    await work()
    expect(await first.result()).toMatchObject({ ok: true, value: { rung: 'gemini:pro' } })
    const second = await reprise.submit(task, 'b')
    await work()
    expect(pro.asked).toHaveLength(1)
    expect(await question(second.id)).toMatchObject({
      reason: expect.stringMatching(/^pro is used up for today \(1 of 1\)\. To a person now\.$/),
    })
    expect(named('rung.left').at(-1)).toMatchObject({ rung: 'gemini:pro', to: 'accounts', reason: 'exhausted' })
    await clock.advance(2 * 3_600_000)
    await reply(second.id, answered(right))
    await clock.advance(24 * 3_600_000)
    await work()
    expect(await second.result()).toMatchObject({ ok: true, value: { rung: 'accounts' } })
    expect(pro.asked).toHaveLength(1)
  })

  test('that asks to wait is waited for, without a slot', async () => {
    const { reprise, task, work, pro, store, clock } = askBench({
      ...spent,
      budgets: { pro: { day: 1, onExhausted: 'person' } },
      proRung: { budget: 'pro', onExhausted: 'wait' },
    })
    await reprise.submit(task, 'a')
    await work()
    const second = await reprise.submit(task, 'b')
    await work()
    expect(await store.get({ id: second.id })).toMatchObject({ state: 'waiting', why: { code: 'budget.spent' } })
    expect(pro.asked).toHaveLength(1)
    await clock.advance(24 * 3_600_000)
    await work()
    expect(await second.result()).toMatchObject({ ok: true, value: { rung: 'gemini:pro' } })
    expect(pro.asked).toHaveLength(2)
  })

  test('of the run itself ends in a person, not in another call', async () => {
    const { reprise, task, work, flash, pro, question } = askBench({ ...spent, flashRung: { maxOutputTokens: 1_000 } })
    const run = await reprise.submit(task, 'a', { maxCost: 0.002 })
    await work()
    expect([flash.asked.length, pro.asked.length]).toEqual([0, 0])
    expect((await question(run.id)).reason).toMatch(/used up/)
  })
})
