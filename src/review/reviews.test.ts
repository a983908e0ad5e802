import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { RepriseError } from '../failure/reprise-error.ts'
import type { Store } from '../ports/store.ts'
import { memory } from '../stores/memory/index.ts'
import { sqlite } from '../stores/sqlite/index.ts'
import type { VirtualClock } from '../testing/virtual-clock.ts'
import { desk, HOUR, QUESTION } from './desk.fixtures.ts'
import type { GoldCase } from './gold.ts'
import { createReviews, type Hand, type Reviews } from './reviews.ts'

const folder = mkdtempSync(join(tmpdir(), 'reprise-reviews-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
const STORES: readonly (readonly [name: string, open: (clock: VirtualClock) => Store])[] = [
  ['memory', (clock) => memory({ clock })],
  ['sqlite', (clock) => sqlite({ file: join(folder, `${files++}.db`), clock, durability: 'process' })],
]

async function taken(reviews: Reviews, run: string, by = 'ann'): Promise<Hand> {
  const answer = await reviews.take(run, { by })
  if (answer.answer !== 'ok') throw new Error(answer.says)
  return answer.hand
}

async function asked(options: Parameters<typeof desk>[0] = {}) {
  const bench = desk(options)
  const run = await bench.reprise.submit(bench.invoice, { within: '4h' }, { key: 'INV-7' })
  await bench.work()
  return { ...bench, run }
}

describe.each(STORES)('reviews on %s', (_name, store) => {
  test('the desk lists what is due first, by queue, and says what is overdue', async () => {
    const { reprise, invoice, scan, reviews, work, clock } = desk({ store })
    for (const within of ['8h', '2h', undefined]) await reprise.submit(invoice, within === undefined ? {} : { within })
    await reprise.submit(scan, {})
    await work()
    await clock.advance(3 * HOUR)
    const all = await reviews.list()
    expect(all.items.map(({ run, queue, overdue }) => [run, queue, overdue])).toEqual([
      ['r2', 'accounts', true],
      ['r4', 'scans', false],
      ['r1', 'accounts', false],
      ['r3', 'accounts', false],
    ])
    expect([all.total, all.overdue]).toEqual([4, 1])
    expect(all.items[0]).toMatchObject({ title: 'Invoice 7', reason: QUESTION.reason })
    expect(all.items[1]).toMatchObject({ title: 'scan r4', reason: 'the scan is upside down' })
    const scans = await reviews.list({ queue: 'scans', limit: 1 })
    expect([scans.items.length, scans.total, scans.overdue]).toEqual([1, 1, 0])
  })

  test('accept gives the draft, correct another value; both go back to the handler', async () => {
    const { run, reviews, work, heard, clock, store: kept, events } = await asked({ store })
    await clock.advance(HOUR)
    const hand = await taken(reviews, run.id)
    expect((await reviews.show(run.id))?.taken).toEqual({ by: 'ann', until: clock.now() + HOUR })
    expect(await reviews.answer(hand, { act: 'accept' })).toMatchObject({ answer: 'ok' })
    const at = clock.now()
    await work()
    expect(heard).toEqual([{ act: 'answer', value: { total: 12 }, how: 'accepted', by: 'ann', at }])
    expect(await run.result()).toMatchObject({ ok: true, value: { total: 12 } })
    expect((await kept.notes({ run: run.id })).map(({ by, what }) => [by, what])).toEqual([
      ['ann', 'review.taken'],
      ['ann', 'review.answered'],
    ])
    expect(events.filter(({ name }) => name.startsWith('review.')).map(({ name }) => name)).toEqual([
      'review.asked',
      'review.taken',
      'review.answered',
    ])
    expect(await kept.verify()).toEqual([])
  })

  test('a value that the schema refuses stays at the desk, and nothing is written', async () => {
    const { run, reviews, store: kept } = await asked({ store })
    const hand = await taken(reviews, run.id)
    const before = [await kept.get({ id: run.id }), await kept.journal(run.id, 1), await kept.notes({ run: run.id })]
    expect(await reviews.answer(hand, { act: 'correct', value: { sum: 1 } })).toMatchObject({
      answer: 'refused',
      issues: [{ path: '/total', code: 'required' }],
    })
    expect([await kept.get({ id: run.id }), await kept.journal(run.id, 1), await kept.notes({ run: run.id })]).toEqual(
      before,
    )
    expect(await reviews.answer(hand, { act: 'correct', value: { total: 42 } })).toMatchObject({ answer: 'ok' })
  })

  test('an answer that the application refuses is asked again: a new version, and the old one is stale', async () => {
    const { run, reviews, work } = await asked({ store })
    const first = await reviews.show(run.id)
    await reviews.answer(await taken(reviews, run.id), { act: 'correct', value: { total: 1 } })
    await work()
    const second = await reviews.show(run.id)
    expect([first?.asked, second?.asked]).toEqual([
      { name: 'total', round: 1 },
      { name: 'total', round: 2 },
    ])
    expect(second?.version).not.toBe(first?.version)
    const stale = await reviews.take(run.id, { by: 'bob', version: first?.version ?? '' })
    expect(stale).toMatchObject({ answer: 'lost', reason: 'changed' })
    expect(await reviews.show(run.id)).not.toHaveProperty('taken')
    expect(await reviews.take(run.id, { by: 'bob', version: second?.version ?? '' })).toMatchObject({ answer: 'ok' })
  })

  test('a second reviewer is told who has it, and afterwards who decided it and when', async () => {
    const { run, reviews, clock, work } = await asked({ store })
    const ann = await taken(reviews, run.id)
    const until = clock.now() + HOUR
    expect(await reviews.take(run.id, { by: 'bob' })).toMatchObject({
      answer: 'lost',
      reason: 'taken',
      by: 'ann',
      at: until,
    })
    await clock.advance(HOUR)
    const bob = await taken(reviews, run.id, 'bob')
    expect(await reviews.answer(ann, { act: 'accept' })).toMatchObject({ answer: 'lost', reason: 'taken', by: 'bob' })
    expect(await reviews.renew(ann)).toBe('lost')
    await reviews.answer(bob, { act: 'accept' })
    const at = clock.now()
    const decided = { answer: 'lost', reason: 'decided', by: 'bob', at }
    expect(await reviews.answer(ann, { act: 'accept' })).toMatchObject(decided)
    expect(await reviews.take(run.id, { by: 'ann' })).toMatchObject(decided)
    await work()
    expect(await reviews.take(run.id, { by: 'ann' })).toMatchObject(decided)
  })

  test('what is given back may be taken by anyone at once', async () => {
    const { run, reviews, store: kept } = await asked({ store })
    const ann = await taken(reviews, run.id)
    expect(await reviews.renew(ann)).toBe('ok')
    await reviews.giveBack(ann)
    await taken(reviews, run.id, 'bob')
    await reviews.giveBack(ann)
    expect((await kept.notes({ run: run.id })).map(({ what }) => what)).toEqual([
      'review.taken',
      'review.given_back',
      'review.taken',
    ])
  })

  test('sent back and rejected reach the handler as such', async () => {
    const back = await asked({ store })
    await back.reviews.answer(await taken(back.reviews, back.run.id), { act: 'back', to: 'pro', hint: ' page 2 ' })
    await back.work()
    expect(back.heard).toMatchObject([{ act: 'back', to: 'pro', hint: 'page 2', by: 'ann' }])
    const no = await asked({ store })
    await no.reviews.answer(await taken(no.reviews, no.run.id), { act: 'reject', reason: 'not an invoice' })
    await no.work()
    expect(no.heard).toMatchObject([{ act: 'reject', reason: 'not an invoice', by: 'ann' }])
  })

  test('a run without a question: sent back it runs again, given a result it succeeds, rejected it fails', async () => {
    const schemaOf = () => ({ required: ['text'] })
    const { reprise, scan, reviews, work, clock, store: kept, events } = desk({ store, schemaOf })
    const hand = async (run: string) => taken(reviews, run)
    const back = await reprise.submit(scan, {})
    await work()
    await expect(reviews.answer(await hand(back.id), { act: 'accept' })).rejects.toThrow(/no draft that could be/)
    await reviews.answer(await hand(back.id), { act: 'back' })
    await work()
    expect(await back.result()).toMatchObject({ ok: true, value: 'read' })

    const bench = desk({ store, schemaOf })
    const given = await bench.reprise.submit(bench.scan, {})
    await bench.work()
    const mine = await taken(bench.reviews, given.id)
    expect(await bench.reviews.answer(mine, { act: 'correct', value: 'no' })).toMatchObject({ answer: 'refused' })
    await bench.reviews.answer(mine, { act: 'correct', value: { text: 'upside up' } })
    expect(await given.result()).toMatchObject({ ok: true, value: { text: 'upside up' } })
    expect(await bench.store.get({ id: given.id })).toMatchObject({
      state: 'succeeded',
      why: { code: 'review.answered', params: { by: 'ann', how: 'given' } },
    })

    const other = desk({ store })
    const rejected = await other.reprise.submit(other.scan, {})
    await other.work()
    await other.reviews.answer(await taken(other.reviews, rejected.id), { act: 'reject', reason: 'not a scan' })
    expect(await rejected.result()).toMatchObject({ ok: false, failure: { code: 'review.rejected' } })
    for (const each of [kept, bench.store, other.store]) expect(await each.verify()).toEqual([])
    expect(events.map(({ name }) => name)).toContain('review.sent_back')
    expect(other.events.map(({ name }) => name)).toEqual(expect.arrayContaining(['review.rejected', 'run.failed']))
    expect(clock.now()).toBeGreaterThan(0)
  })

  test('a run whose ladder came to a person may be sent back to one of its rungs', async () => {
    const { reprise, extract, reviews, work, store: kept } = desk({ store })
    const { id } = await reprise.submit(extract, {})
    await work('settled')
    const item = await reviews.show(id)
    expect(item?.rungs).toEqual(['gemini:flash', 'gemini:pro'])
    const hand = await taken(reviews, id)
    await expect(reviews.answer(hand, { act: 'back', to: 'gpt' })).rejects.toThrow(
      /to is "gpt"\. Allowed: gemini:flash, gemini:pro/,
    )
    await reviews.answer(hand, { act: 'back', to: 'gemini:pro' })
    expect(await kept.get({ id })).toMatchObject({ state: 'ready', rung: 1, resource: 'gemini:pro' })
    expect(await kept.verify()).toEqual([])
  })

  test('export writes the last round of each decision as a gold case', async () => {
    const { run, reviews, work, reprise, invoice, clock } = await asked({ store })
    await reviews.answer(await taken(reviews, run.id), { act: 'correct', value: { total: 1 } })
    await work()
    await reviews.answer(await taken(reviews, run.id, 'bob'), { act: 'correct', value: { total: 42 } })
    const at = clock.now()
    await work()
    const rejected = await reprise.submit(invoice, {})
    await reprise.submit(invoice, { queue: 'open' })
    await work()
    await reviews.answer(await taken(reviews, rejected.id), { act: 'reject', reason: 'a letter' })
    const cases: GoldCase[] = []
    for await (const gold of reviews.export()) cases.push(gold)
    expect(cases).toMatchObject([
      { run: rejected.id, verdict: 'rejected', reason: 'a letter', wrong: { total: 12 }, by: 'ann' },
      {
        run: run.id,
        key: 'INV-7',
        question: 'total',
        input: { within: '4h' },
        wrong: { total: 12 },
        right: { total: 42 },
        checks: QUESTION.issues,
        verdict: 'corrected',
        by: 'bob',
        at,
      },
    ])
    expect(cases).toHaveLength(2)
    for await (const gold of reviews.export({ task: 'scan' })) throw new Error(gold.run)
  })
})

describe('reviews', () => {
  test('refuse what is asked wrongly, and change nothing', async () => {
    const { run, reviews, store } = await asked()
    await expect(reviews.take(run.id, { by: ' ' })).rejects.toThrow(/by is " "/)
    const hand = await taken(reviews, run.id)
    const before = await store.get({ id: run.id })
    for (const [act, message] of [
      [{ act: 'reject', reason: ' ' }, /reason is empty/],
      [{ act: 'reject', reason: 'x'.repeat(2_001) }, /reason has 2001 characters/],
      [{ act: 'back', to: 'gpt' }, /to is "gpt"\. Allowed: flash, pro/],
      [{ act: 'correct', value: undefined }, /value is undefined/],
    ] as const)
      await expect(reviews.answer(hand, act)).rejects.toThrow(message)
    expect(await store.get({ id: run.id })).toEqual(before)
    expect(await reviews.take('r99', { by: 'ann' })).toMatchObject({ answer: 'lost', reason: 'unknown' })
    expect(await reviews.show('r99')).toBeUndefined()
  })

  test.each([
    ['landed', true],
    ['landed, and the run went on', true],
    ['did not land', false],
  ] as const)('an answer whose outcome is unknown is looked up, not written twice: it %s', async (how, hasLanded) => {
    const { store: kept, run, work } = await asked()
    let commits = 0
    const failing: Store = {
      ...kept,
      commit: async (change) => {
        commits += 1
        if (commits > 1) return kept.commit(change)
        if (hasLanded) await kept.commit(change)
        if (how.includes('went on')) await work()
        throw new RepriseError('store.unknown', 'the connection is gone')
      },
    }
    const reviews = createReviews({ store: failing, judge: () => [] })
    expect(await reviews.answer(await taken(reviews, run.id), { act: 'accept' })).toMatchObject({ answer: 'ok' })
    expect(commits).toBe(hasLanded ? 1 : 2)
    expect((await kept.attempts(run.id)).filter(({ outcome }) => outcome === 'operator')).toHaveLength(1)
  })

  test.each(['right', 'crash'] as const)('a poison run that is sent back gets one more try: %s', async (then) => {
    const { reprise, clock, store, reviews } = desk()
    const task = reprise.task('poison', {}, () => 'right')
    const { id } = await reprise.submit(task, {})
    const crash = async () => {
      const request = { worker: 'w', nonce: `${clock.now()}`, limit: 1, leaseMs: 1_000, alone: true, tasks: ['poison'] }
      expect((await store.claim(request)).runs).toHaveLength(1)
      await clock.advance(1_000)
    }
    for (let n = 0; n < 3; n += 1) await crash()
    const work = async () => {
      const worker = reprise.work({ concurrency: 1 })
      await clock.runUntilSettled(worker.idle())
      await clock.runUntilSettled(worker.stop())
    }
    await work()
    expect(await store.get({ id })).toMatchObject({ state: 'review', why: { code: 'person.lapses_spent' } })
    await reviews.answer(await taken(reviews, id), { act: 'back', hint: 'memory was full' })
    if (then === 'crash') await crash()
    await work()
    // Nobody is asked twice about the same crashes.
    expect(await store.get({ id })).toMatchObject({ state: then === 'right' ? 'succeeded' : 'failed' })
    expect(await store.verify()).toEqual([])
  })
})
