/**
 * The ladder through the real SDK against a simulated provider, judged by the provider's own log: which model was asked how often.
 */
import { describe, expect, test } from 'vitest'
import type { Asked } from '../../src/ladder/ask.ts'
import { ladder } from '../../src/ladder/ladder.ts'
import { person, rung } from '../../src/ladder/rung.ts'
import type { Sent } from '../../src/ladder/send.ts'
import type { FaultName } from '../../src/sim/fault.ts'
import { documentNamed, FLASH, invoiceGate, ladderWorld, PRO, prompt } from './ladder-world.fixtures.ts'

const desk = person({ queue: 'accounts' })
const open = ladder([rung(FLASH, { attempts: 3 }), rung(PRO, { budget: { name: 'pro', day: 1_000 } }), desk])

describe('the 27 paths of three cheap tries, with the strong one right or wrong and its budget open or used up', () => {
  const outcomes = ['ok', 'syntax', 'semantic'] as const
  type Outcome = (typeof outcomes)[number]
  /** Each try fails in words of its own, because the same answer twice is another path. */
  const faultOf = (outcome: Outcome, index: number): FaultName =>
    outcome === 'ok' ? 'ok' : outcome === 'semantic' ? 'wrong-total-anew' : index === 1 ? 'empty' : 'no-json'

  const rows = outcomes
    .flatMap((a) => outcomes.flatMap((b) => outcomes.map((c) => [a, b, c] as const)))
    .flatMap((path) =>
      (['ok', 'fail'] as const).flatMap((strong) =>
        (['open', 'over'] as const).map((budget) => ({ path, strong, budget })),
      ),
    )
    .map((row, index) => ({ ...row, document: `PATH-${100 + index}` }))

  test('all 108 make exactly the calls they should, by the provider’s log', async () => {
    const script = Object.fromEntries(
      rows.map(({ document, path, strong }) => [
        document,
        { flash: path.map(faultOf), pro: [strong === 'ok' ? 'ok' : 'wrong-total'] as FaultName[] },
      ]),
    )
    await using world = await ladderWorld({
      script: { ...script, 'SPENT-01': { flash: ['safety-answer'], pro: ['ok'] } },
    })
    const { reprise, work, calls } = world
    const closed = ladder([rung(FLASH, { attempts: 3 }), rung(PRO, { budget: { name: 'closed', day: 1 } }), desk])
    const task = reprise.task('path', {}, (input: { document: string; budget: 'open' | 'over' }, ctx) =>
      ctx.ask('invoice', {
        ladder: input.budget === 'open' ? open : closed,
        prompt,
        document: documentNamed(input.document),
        gate: invoiceGate,
      }),
    )
    const spend = reprise.task('spend', {}, async (_input: unknown, ctx) => {
      const only = ladder([rung(PRO, { budget: { name: 'closed', day: 1 } })])
      return (
        await ctx.ask('invoice', { ladder: only, prompt, document: documentNamed('SPENT-01'), gate: invoiceGate })
      ).rung
    })
    await reprise.submit(spend, {})
    await work()
    const runs = await reprise.submitMany(rows.map(({ document, budget }) => [task, { document, budget }]) as never)
    await work()

    for (const [index, { document, path, strong, budget }] of rows.entries()) {
      const rightAt = path.indexOf('ok')
      const cheap = path.map((outcome, at) => `flash ${faultOf(outcome, at)}`)
      const expected =
        rightAt >= 0
          ? cheap.slice(0, rightAt + 1)
          : [...cheap, ...(budget === 'over' ? [] : [`pro ${strong === 'ok' ? 'ok' : 'wrong-total'}`])]
      expect({ document, calls: calls(document) }).toEqual({ document, calls: expected })
      const run = await reprise.get((runs[index] as { id: string }).id)
      const isAnswered = rightAt >= 0 || (budget === 'open' && strong === 'ok')
      expect({ document, state: run?.state }).toEqual({ document, state: isAnswered ? 'succeeded' : 'review' })
      if (isAnswered) {
        const { rung: by } = JSON.parse(run?.output ?? '') as Asked
        expect(by).toBe(rightAt >= 0 ? 'gemini:flash' : 'gemini:pro')
      }
    }
    const sent = world.simulator
      .requests()
      .filter(({ model, document }) => model.includes('pro') && document !== 'SPENT-01').length
    const { windows } = await reprise.budgets.usage('pro')
    expect(windows.find(({ window }) => window === 'day')?.use.calls).toEqual({
      spent: sent,
      reserved: 0,
      limit: 1_000,
    })
    expect(await reprise.store.verify()).toEqual([])
  }, 120_000)
})

describe('through the wire', () => {
  test('an answer is stored with what was asked, what answered, tokens, money and time', async () => {
    await using world = await ladderWorld({ script: { 'DOC-10': ['wrong-total-anew', 'ok'] } })
    const { reprise, work } = world
    const task = reprise.task('one', {}, (document: string, ctx) =>
      ctx.ask('invoice', { ladder: open, prompt, document: documentNamed(document), gate: invoiceGate }),
    )
    const run = await reprise.submit(task, 'DOC-10')
    await work()
    const result = await run.result()
    expect(result).toMatchObject({ ok: true, value: { value: { currency: 'CHF', total: 4159.63 } } })
    const journal = await reprise.store.journal(run.id, 1)
    const [first, second] = journal.map(({ answer }) => JSON.parse(answer ?? '') as Sent)
    const [asked, again] = world.simulator.requests()
    expect(first).toMatchObject({
      asked: FLASH,
      answered: 'gemini-flash-sim-001',
      finish: 'stop',
      finishRaw: 'STOP',
    })
    expect([first?.tokens.input, second?.tokens.input]).toEqual([asked?.tokens.input, again?.tokens.input])
    expect(second?.about).toMatchObject({
      told: {
        kind: 'semantic',
        issues: [{ code: expect.stringMatching(/total\.sum$/), path: '/total', message: 'total must be net plus tax' }],
      },
    })
    const spent = journal.reduce((sum, { costUsd = 0 }) => sum + costUsd, 0)
    expect(spent).toBeGreaterThan(0)
    expect(result.ok && result.value).toMatchObject({ cost: expect.closeTo(spent, 10) })
    expect(new Set(world.simulator.requests().map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2)
  })

  test('what the wire breaks is repeated under one key; what the model breaks is corrected under another', async () => {
    await using world = await ladderWorld({
      script: {
        'DOC-20': ['overloaded', 'reset', 'ok'],
        'DOC-21': [{ fault: 'rate-limit', retryAfter: '1s' }, 'ok'],
        'DOC-22': ['truncated', 'ok'],
        'DOC-23': ['unclosed'],
        'DOC-24': ['fenced'],
        'DOC-25': ['no-json', 'no-json', 'ok'],
        'DOC-26': ['safety'],
        'DOC-27': ['safety-answer'],
      },
    })
    const { reprise, work, calls, simulator } = world
    const task = reprise.task('many', {}, (document: string, ctx) =>
      ctx.ask('invoice', { ladder: open, prompt, document: documentNamed(document), gate: invoiceGate }),
    )
    const names = Array.from({ length: 8 }, (_, index) => `DOC-2${index}`)
    const runs = new Map<string, string>()
    for (const name of names) runs.set(name, (await reprise.submit(task, name)).id)
    await work()
    const states = await Promise.all(names.map(async (name) => (await reprise.get(runs.get(name) as string))?.state))
    expect(states).toEqual([...Array<string>(6).fill('succeeded'), 'review', 'review'])
    expect(names.map((name) => calls(name))).toEqual([
      ['flash overloaded', 'flash reset', 'flash ok'],
      ['flash rate-limit', 'flash ok'],
      ['flash truncated', 'flash ok'],
      ['flash unclosed'],
      ['flash fenced'],
      // The same words twice: a third try cannot help.
      ['flash no-json', 'flash no-json', 'pro ok'],
      ['flash safety'],
      ['flash safety-answer'],
    ])
    const keys = (name: string) =>
      new Set(simulator.requests().flatMap((each) => (each.document === name ? [each.idempotencyKey] : []))).size
    expect([keys('DOC-20'), keys('DOC-21'), keys('DOC-22')]).toEqual([1, 1, 2])
  })

  test('another provider’s model speaks its own format', async () => {
    await using world = await ladderWorld({ script: { 'DOC-30': ['wrong-total', 'ok'] } })
    const { reprise, work, simulator } = world
    const task = reprise.task('openai', {}, (document: string, ctx) =>
      ctx.ask('invoice', {
        ladder: ladder([rung('openai/gpt-5-mini', { attempts: 2 })]),
        prompt,
        document: documentNamed(document),
        gate: invoiceGate,
      }),
    )
    const run = await reprise.submit(task, 'DOC-30')
    await work()
    expect(await run.result()).toMatchObject({ ok: true, value: { rung: 'openai:gpt-5-mini' } })
    expect(simulator.requests().map(({ model, status }) => [model, status])).toEqual([
      ['gpt-5-mini', 200],
      ['gpt-5-mini', 200],
    ])
  })
})
