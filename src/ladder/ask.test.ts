import { describe, expect, test } from 'vitest'
import { failure, failureOf } from '../failure/own.ts'
import { runOnce } from '../testing/run-once.ts'
import { askBench, right, wrong } from './ask-bench.fixtures.ts'
import { draftOf } from './ask-failure.ts'
import { ladder } from './ladder.ts'
import { person } from './rung.ts'
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

describe('a provider that refuses', () => {
  test.each([
    ['in its answer', { text: '', finish: 'content-filter' as const }],
    ['with an error', failure({ kind: 'refused', code: 'gemini.safety', message: 'blocked' })],
  ])('%s is never asked again: a person is next, past the strong model', async (_how, answer) => {
    const { reprise, task, work, flash, pro, question, reply, named } = askBench({
      flash: [answer],
      pro: [{ json: right }],
    })
    const run = await reprise.submit(task, 'Invoice R-1')
    await work()
    expect(await question(run.id)).toMatchObject({
      title: 'invoice',
      reason: 'The provider refused (safety). Never asked twice; a person decides.',
      document: { text: 'Invoice R-1' },
      rungs: ['gemini:flash', 'gemini:pro'],
    })
    await reply(run.id, answered(right))
    await work()
    expect(await run.result()).toMatchObject({
      ok: true,
      value: { value: right, rung: 'accounts', takes: [{ kind: 'refused' }, { kind: 'ok', by: 'ann' }] },
    })
    expect([flash.asked.length, pro.asked.length]).toEqual([1, 0])
    expect(named('ask.ended')).toMatchObject([{ solvedBy: 'person', takes: 1 }])
  })
})

describe('a person', () => {
  const spent = { flash: ['prose', { json: wrong(1) }, { json: wrong(2) }], pro: [{ json: wrong(3) }, { json: right }] }

  test('sees the draft, what is wrong with it in figures, and all answers', async () => {
    const { reprise, task, work, question, store } = askBench(spent)
    const run = await reprise.submit(task, 'Invoice R-1')
    await work()
    expect((await store.get({ id: run.id }))?.state).toBe('review')
    expect(await question(run.id)).toMatchObject({
      draft: wrong(3),
      reason: 'No model gave an answer that passes the gate; the last issue: gate.sum at /total.',
      issues: [
        {
          path: '/total',
          code: 'gate.sum',
          message: 'must be the sum of total over /lines: 3 is the sum of the lines, and 6 is stated',
        },
      ],
      answers: [{ rung: 'gemini:flash', take: 1, text: 'prose' }, {}, {}, { rung: 'gemini:pro', take: 1 }],
      schema: { type: 'object' },
    })
  })

  test('is judged by the same gate, and asked again with the issues', async () => {
    const { reprise, task, work, question, reply, named } = askBench(spent)
    const run = await reprise.submit(task, 'x')
    await work()
    await reply(run.id, answered(wrong(4)))
    await work()
    expect(await question(run.id)).toMatchObject({
      reason: 'The gate refused the answer: gate.sum at /total.',
      draft: wrong(4),
    })
    await reply(run.id, answered(right))
    await work()
    expect(await run.result()).toMatchObject({ ok: true, value: { value: right, rung: 'accounts' } })
    expect(named('answer.refused').at(-1)).toMatchObject({ rung: 'accounts', how: 'semantic' })
  })

  test('sends it back to a rung with a hint, which that rung hears', async () => {
    const { reprise, task, work, reply, pro, named } = askBench(spent)
    const run = await reprise.submit(task, 'x')
    await work()
    await reply(run.id, { act: 'back', to: 'gemini:pro', hint: 'the total is on page 2' })
    await work()
    expect(await run.result()).toMatchObject({ ok: true, value: { value: right, rung: 'gemini:pro' } })
    expect(pro.asked).toHaveLength(2)
    expect(pro.asked[1]?.text).toContain('the total is on page 2')
    expect(named('model.asked').at(-1)).toMatchObject({ how: 'hint', take: 2 })
  })

  test('rejects it: the run fails, and the last answer is a draft, never a result', async () => {
    const { reprise, task, work, reply, store } = askBench(spent)
    const run = await reprise.submit(task, 'x')
    await work()
    await reply(run.id, { act: 'reject', reason: 'not an invoice' })
    await work()
    expect(await run.result()).toMatchObject({
      ok: false,
      failure: { code: 'review.rejected', message: expect.stringContaining('not an invoice') },
    })
    expect((await store.get({ id: run.id }))?.output).toBeUndefined()
    expect(draftOf(await store.journal(run.id, 1), 'invoice')).toEqual({
      text: JSON.stringify(wrong(3)),
      value: wrong(3),
      rung: 'gemini:pro',
    })
  })

  test('who does not answer is followed by the next desk; the last one keeps it', async () => {
    const { reprise, task, work, question, clock, store, reply, named } = askBench({
      ...spent,
      ladder: (flash, pro) =>
        ladder([flash, pro, person({ queue: 'accounts', within: '4h' }), person({ queue: 'lead', within: '1h' })]),
    })
    const run = await reprise.submit(task, 'x')
    await work()
    await clock.advance(4 * 3_600_000)
    await work()
    expect(await question(run.id)).toMatchObject({ reason: 'accounts did not answer in time.' })
    await clock.advance(3_600_000)
    await work()
    expect(await question(run.id)).toMatchObject({ reason: 'Overdue, and nobody comes after this desk.' })
    expect((await store.get({ id: run.id }))?.dueAt).toBeUndefined()
    await reply(run.id, answered(right))
    await work()
    expect(await run.result()).toMatchObject({ ok: true, value: { rung: 'lead' } })
    expect(named('rung.left').map(({ to, reason }) => [to, reason])).toEqual([
      ['gemini:pro', 'spent'],
      ['accounts', 'spent'],
      ['lead', 'overdue'],
    ])
  })

  test('a ladder without one fails, with the draft beside it', async () => {
    let thrown: unknown
    const { reprise, task, work, store } = askBench({ ...spent, ladder: (flash, pro) => ladder([flash, pro]) })
    const catching = reprise.task('catch', {}, async (input: unknown, ctx) => {
      await ctx.ask('none', { ladder: ladder([]), prompt: 'p', schema: {} }).catch((error: unknown) => {
        thrown = error
      })
      return input
    })
    await reprise.submit(catching, 'x').catch(() => {})
    const run = await reprise.submit(task, 'x')
    await work()
    expect(await run.result()).toMatchObject({
      ok: false,
      failure: { kind: 'final', code: 'ladder.spent', facts: { ask: 'invoice', takes: 4, issue: 'gate.sum' } },
    })
    expect((await store.get({ id: run.id }))?.state).toBe('failed')
    expect(failureOf(thrown)).toBeUndefined()
  })
})

describe('a budget', () => {
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
      proRung: { budget: { name: 'pro', day: 1 }, onExhausted: 'wait' },
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
