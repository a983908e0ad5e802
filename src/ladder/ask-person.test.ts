import { describe, expect, test } from 'vitest'
import { failure } from '../failure/own.ts'
import { askBench, right, wrong } from './ask-bench.fixtures.ts'
import { draftOf } from './ask-failure.ts'
import { ladder } from './ladder.ts'
import { person } from './rung.ts'

const answered = (value: unknown) => ({ act: 'answer', value: JSON.stringify(value), how: 'corrected' }) as const

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

  test('is asked about a document and answers of any size, each bought once', async () => {
    const { reprise, task, work, question, flash } = askBench({
      flash: () => ({ text: '\u0001'.repeat(500_000) }),
      ladder: (cheap) => ladder([cheap, person({ queue: 'accounts' })]),
      flashRung: { attempts: 9 },
    })
    const run = await reprise.submit(task, '\u0001'.repeat(150_000))
    await work()
    const asked = await question(run.id)
    expect(flash.asked).toHaveLength(9)
    expect(asked.document?.text?.length).toBe(15_000)
    expect(JSON.stringify(asked).length).toBeLessThan(1_000_000)
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
    const { reprise, task, work, store } = askBench({
      ...spent,
      ladder: (flash, pro) => ladder([flash, pro]),
      caught: (error) => {
        thrown = error
      },
    })
    const run = await reprise.submit(task, 'x')
    await work()
    expect(await run.result()).toMatchObject({
      ok: false,
      failure: { kind: 'final', code: 'ladder.spent', facts: { ask: 'invoice', takes: 4, issue: 'gate.sum' } },
    })
    expect((await store.get({ id: run.id }))?.state).toBe('failed')
    expect(thrown).toMatchObject({ draft: { value: wrong(3), rung: 'gemini:pro' } })
  })
})
