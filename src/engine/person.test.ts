import { describe, expect, test } from 'vitest'
import { applyReview, type Verdict } from '../run/apply-review.ts'
import type { Question, Reply } from '../run/question.ts'
import { workbench } from './workbench.fixtures.ts'

const QUESTION: Question = {
  title: 'Invoice 7',
  reason: 'the total is not the sum of its lines',
  schema: { type: 'object' },
  draft: { total: 12 },
  issues: [{ path: '/total', code: 'gate.total', message: 'is not the sum of the lines' }],
}

const HOUR = 3_600_000

/** A handler that asks one person, and again whenever the answer is below 10; what it heard is kept. */
function desk({ within }: { within?: string } = { within: '4h' }) {
  const bench = workbench()
  const heard: Reply[] = []
  const task = bench.reprise.task('invoice', {}, async (_input: unknown, ctx) => {
    for (let round = 1; ; round += 1) {
      const limit = within === undefined ? {} : { within }
      const options = { queue: 'accounts', question: QUESTION, input: { round }, ...limit }
      const reply = await ctx.person('total', options)
      heard.push(reply)
      if (reply.act !== 'answer') return reply
      const { total } = reply.value as { total: number }
      if (total >= 10) return total
    }
  })
  /** As a reviewer does: take, then one fenced end. */
  const decide = async (run: string, verdict: Verdict, by = 'ann') => {
    const view = await bench.store.get({ id: run })
    if (!view) throw new Error('the run is there')
    const taken = await bench.store.take({ run, by, leaseMs: HOUR, expect: { generation: view.generation } })
    if (taken.answer !== 'ok') return taken.answer
    const { token, now } = taken
    const entry = (await bench.store.journal(run, view.generation)).find(
      (each) => each.question !== undefined && each.token === view.endedBy,
    )
    const applied = applyReview(view, { by, token, takenAt: now, now }, verdict, entry)
    return (await bench.store.commit({ type: 'end', run, token, ...applied })).answer
  }
  return { ...bench, task, heard, decide }
}

const answer = (total: number): Verdict => ({ act: 'answer', value: JSON.stringify({ total }), how: 'corrected' })

describe('ctx.person', () => {
  test('ends the attempt in review, with the question in the journal and the time it is due', async () => {
    const { reprise, task, store, clock, workUntil, named } = desk()
    const { id } = await reprise.submit(task, {})
    const at = clock.now()
    await workUntil('idle')
    const run = await store.get({ id })
    expect(run).toMatchObject({ state: 'review', suspensions: 1, dueAt: at + 4 * HOUR, ledgers: { errors: 0 } })
    expect(run?.why).toMatchObject({ code: 'run.handed_over', params: { queue: 'accounts' } })
    const [entry, ...more] = await store.journal(id, 1)
    expect([JSON.parse(entry?.question ?? ''), entry?.answer, more]).toEqual([QUESTION, undefined, []])
    expect(named('review.asked')).toMatchObject([{ question: 'total', queue: 'accounts', dueAt: at + 4 * HOUR }])
  })

  test('gives the reply to the handler, which runs again from the top', async () => {
    const { reprise, task, workUntil, decide, heard, clock, store } = desk()
    const run = await reprise.submit(task, {})
    await workUntil('idle')
    await clock.advance(HOUR)
    expect(await decide(run.id, answer(42))).toBe('ok')
    const at = clock.now()
    await workUntil('idle')
    expect(await run.result()).toEqual({ ok: true, value: 42, cost: 0 })
    expect(heard).toEqual([{ act: 'answer', value: { total: 42 }, how: 'corrected', by: 'ann', at }])
    const rows = (await store.attempts(run.id)).map(({ outcome, worker, why }) => [outcome, why?.code, worker])
    expect(rows.map(([outcome, code]) => [outcome, code])).toEqual([
      ['suspended', 'run.handed_over'],
      ['operator', 'review.answered'],
      ['succeeded', undefined],
    ])
    expect(rows[1]?.[2]).toBe('ann')
    expect(await store.verify()).toEqual([])
  })

  test('asks again in a new round, and replays the replies of the rounds before', async () => {
    const { reprise, task, workUntil, decide, heard, store } = desk()
    const run = await reprise.submit(task, {})
    await workUntil('idle')
    await decide(run.id, answer(1))
    await workUntil('idle')
    expect((await store.get({ id: run.id }))?.state).toBe('review')
    await decide(run.id, answer(11), 'bob')
    await workUntil('idle')
    expect(await run.result()).toMatchObject({ ok: true, value: 11 })
    expect(heard.map((reply) => 'by' in reply && reply.by)).toEqual(['ann', 'ann', 'bob'])
  })

  test.each<[Verdict, object]>([
    [
      { act: 'back', to: 'pro', hint: 'page 2' },
      { act: 'back', to: 'pro', hint: 'page 2', by: 'ann' },
    ],
    [
      { act: 'reject', reason: 'not an invoice' },
      { act: 'reject', reason: 'not an invoice', by: 'ann' },
    ],
  ])('hands on what is no answer: %o', async (verdict, reply) => {
    const { reprise, task, workUntil, decide } = desk()
    const run = await reprise.submit(task, {})
    await workUntil('idle')
    await decide(run.id, verdict)
    await workUntil('idle')
    expect(await run.result()).toMatchObject({ ok: true, value: reply })
  })

  test('tells once that nobody answered in time, and the same to every later attempt', async () => {
    const { reprise, workUntil, clock, named, store } = workbench()
    const heard: Reply[] = []
    const task = reprise.task('invoice', {}, async (_input: unknown, ctx) => {
      heard.push(await ctx.person('total', { within: '4h', question: QUESTION }))
      if (heard.length === 1) throw new Error('the alert could not be sent')
      return heard.at(-1)
    })
    const run = await reprise.submit(task, {})
    const asked = clock.now()
    await workUntil('idle')
    await clock.advance(4 * HOUR)
    await workUntil('settled')
    const reply = { act: 'overdue', since: asked + 4 * HOUR }
    expect(await run.result()).toMatchObject({ ok: true, value: reply })
    expect(heard).toEqual([reply, reply])
    expect(named('review.overdue')).toMatchObject([{ question: 'total', queue: 'review', since: asked + 4 * HOUR }])
    expect(await store.verify()).toEqual([])
  })

  test('is never overdue while somebody has it in hand, and waits for ever when no time is set', async () => {
    const timed = desk()
    const run = await timed.reprise.submit(timed.task, {})
    await timed.workUntil('idle')
    await timed.clock.advance(4 * HOUR - 1)
    await timed.store.take({ run: run.id, by: 'ann', leaseMs: HOUR, expect: { generation: 1 } })
    await timed.clock.advance(HOUR - 1)
    await timed.workUntil('idle')
    expect([timed.heard, await timed.decide(run.id, answer(42))]).toEqual([[], 'ok'])
    await timed.workUntil('idle')
    expect(await run.result()).toMatchObject({ ok: true, value: 42 })

    const patient = desk({})
    const other = await patient.reprise.submit(patient.task, {})
    await patient.workUntil('idle')
    await patient.clock.advance(1_000 * HOUR)
    await patient.workUntil('settled')
    expect(await patient.store.get({ id: other.id })).toMatchObject({ state: 'review' })
  })

  test.each([
    [{ question: { title: '', reason: 'x' } }, /question\.title of person "q" is ""/],
    [{ question: { title: 'x' } }, /question\.reason of person "q" is undefined/],
    [{ question: QUESTION, queue: '' }, /queue of person "q" is ""/],
    [{ question: QUESTION, within: 'soon' }, /within of "q"/],
  ])('refuses what nobody could answer: %o', async (options, message) => {
    const { reprise, workUntil, store } = workbench()
    const task = reprise.task('t', {}, (_input: unknown, ctx) => ctx.person('q', options as never))
    const { id } = await reprise.submit(task, {})
    await workUntil('idle')
    const run = await store.get({ id })
    expect(run?.failure?.message).toMatch(message)
    expect(await store.journal(id, 1)).toEqual([])
  })

  test('the same question twice in one execution is an error that names it', async () => {
    const { reprise, workUntil, store } = workbench()
    const task = reprise.task('t', {}, async (_input: unknown, ctx) => {
      const both = [1, 2].map(() => ctx.person('q', { question: QUESTION }))
      const [, second] = await Promise.allSettled(both)
      throw second?.status === 'rejected' ? second.reason : new Error('asked twice')
    })
    const { id } = await reprise.submit(task, {})
    await workUntil('idle')
    // The first one has suspended the attempt; that the second is refused keeps the journal from mixing them up.
    expect((await store.get({ id }))?.state).toBe('review')
    expect(await store.journal(id, 1)).toHaveLength(1)
  })
})
