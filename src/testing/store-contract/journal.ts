/**
 * Laws of the journal: intents before sends, raw answers, receipts; nothing is bought or charged twice because of a race.
 */
import assert from 'node:assert/strict'
import { subject } from './law.ts'
import { BEGUN_AGAIN, FAILURE, type Held, type World } from './world.ts'

const only = async (world: World, run: string, generation = 1) => {
  const entries = await world.store.journal(run, generation)
  assert.equal(entries.length, 1)
  const [entry] = entries
  assert.ok(entry)
  return entry
}

/** The first owner sent a call and lost the run before its answer came. */
async function answerUnderway(world: World): Promise<{ late: Held; owner: Held }> {
  const late = await world.hold()
  await world.intent(late)
  await world.outliveLeases()
  return { late, owner: await world.take(late.run, { worker: 'w2' }) }
}

export const journalLaws = subject('journal', {
  'an intent is kept with its token, its take and the store’s time': [
    'intent-unwritten',
    async (world) => {
      const held = await world.hold()
      await world.clock.advance(7)
      assert.deepEqual(await world.intent(held), { now: world.now, answer: 'ok' })
      const expected = { name: 'call', inputHash: 'hash', token: held.token, takes: 1, intentAt: world.now }
      assert.deepEqual(await only(world, held.run), expected)
    },
  ],
  'a raw answer is kept beside its intent': [
    'answer-unwritten',
    async (world) => {
      const held = await world.hold()
      await world.intent(held)
      const intent = await only(world, held.run)
      await world.clock.advance(7)
      assert.deepEqual(await world.answer(held, '{"text":"hi"}'), { now: world.now, answer: 'ok' })
      assert.deepEqual(await only(world, held.run), { ...intent, answer: '{"text":"hi"}', answeredAt: world.now })
    },
  ],
  'a sure failure is kept beside its intent, and is no answer': [
    'answer-unwritten',
    async (world) => {
      const held = await world.hold()
      await world.intent(held)
      await world.store.commit({
        type: 'answer',
        ...held,
        generation: 1,
        name: 'call',
        inputHash: 'hash',
        failure: FAILURE,
      })
      const { failure, answer } = await only(world, held.run)
      assert.deepEqual([failure, answer], [FAILURE, undefined])
    },
  ],
  'the next intent opens the entry again: what the take before came to is no longer its answer': [
    'intent-keeps-answer',
    async (world) => {
      const held = await world.hold()
      await world.intent(held)
      await world.answer(held, '1')
      await world.intent(held, 'call', 2)
      const expected = { name: 'call', inputHash: 'hash', token: held.token, takes: 2, intentAt: world.now }
      assert.deepEqual(await only(world, held.run), expected)
    },
  ],
  'one entry per name and input hash': [
    'hash-ignored',
    async (world) => {
      const held = await world.hold()
      for (const [name, hash] of [
        ['a', '1'],
        ['a', '2'],
        ['b', '1'],
        ['a1', ''],
      ] as const) {
        await world.intent(held, name, 1, hash)
        await world.answer(held, JSON.stringify(`${name}/${hash}`), name, hash)
      }
      const entries = await world.store.journal(held.run, 1)
      assert.deepEqual(
        entries.map(({ name, inputHash, answer }) => [name, inputHash, answer]),
        [
          ['a', '1', '"a/1"'],
          ['a', '2', '"a/2"'],
          ['b', '1', '"b/1"'],
          ['a1', '', '"a1/"'],
        ],
      )
    },
  ],
  'the journal is of one generation': [
    'journal-of-all-generations',
    async (world) => {
      const held = await world.hold()
      await world.intent(held)
      await world.answer(held, '1')
      await world.fail(held)
      const expect = { generation: 1, states: ['failed'] } as const
      await world.store.steer({ run: held.run, type: 'retry', by: 'ann', why: BEGUN_AGAIN, expect })
      assert.deepEqual(await world.store.journal(held.run, 2), [])
      const { runs, token } = await world.claim()
      assert.equal(runs[0]?.journaled, false)
      await world.intent({ run: held.run, token }, 'call', 1, 'hash', 2)
      assert.equal((await only(world, held.run, 2)).answer, undefined)
      assert.equal((await only(world, held.run, 1)).answer, '1')
    },
  ],
  'a claim tells whether the journal has entries': [
    'journal-untold',
    async (world) => {
      const first = await world.hold()
      await world.intent(first)
      await world.end(first, { state: 'ready' })
      const { runs } = await world.claim()
      assert.equal(runs[0]?.journaled, true)
      const second = await world.hold({ task: 'u' })
      await world.intent(second)
      await world.end(second, { state: 'ready', unstarted: true })
      assert.equal((await world.claim({ tasks: ['u'] })).runs[0]?.journaled, true)
      await world.submit()
      assert.equal((await world.claim()).runs[0]?.journaled, false)
    },
  ],
  'a late answer is lost, yet kept as a receipt': [
    'receipt-lost',
    async (world) => {
      const { late } = await answerUnderway(world)
      await world.clock.advance(5)
      assert.deepEqual(await world.answer(late, '"paid"'), { now: world.now, answer: 'lost' })
      const entry = await only(world, late.run)
      assert.deepEqual([entry.answer, entry.late, entry.answeredAt], ['"paid"', true, world.now])
    },
  ],
  'a receipt is kept also after the owner began a take of its own': [
    'receipt-lost',
    async (world) => {
      const { late, owner } = await answerUnderway(world)
      await world.intent(owner, 'call', 2)
      await world.answer(late, '"paid"')
      const entry = await only(world, late.run)
      assert.deepEqual([entry.answer, entry.late, entry.takes, entry.token], ['"paid"', true, 2, owner.token])
    },
  ],
  'a receipt that is there already stays when the owner begins a take of its own': [
    'intent-drops-receipt',
    async (world) => {
      const { late, owner } = await answerUnderway(world)
      await world.answer(late, '"paid"')
      await world.intent(owner, 'call', 2)
      const entry = await only(world, late.run)
      assert.deepEqual([entry.answer, entry.late, entry.takes, entry.token], ['"paid"', true, 2, owner.token])
    },
  ],
  'a receipt never takes the place of the owner’s own answer': [
    'receipt-overwrites',
    async (world) => {
      const { late, owner } = await answerUnderway(world)
      await world.intent(owner, 'call', 2)
      await world.answer(owner, '"own"')
      const before = await only(world, late.run)
      assert.equal((await world.answer(late, '"late"')).answer, 'lost')
      assert.deepEqual(await only(world, late.run), before)
    },
  ],
  'the owner’s own answer takes the place of a receipt': [
    'receipt-sticks',
    async (world) => {
      const { late, owner } = await answerUnderway(world)
      await world.intent(owner, 'call', 2)
      await world.answer(late, '"late"')
      assert.equal((await world.answer(owner, '"own"')).answer, 'ok')
      const entry = await only(world, late.run)
      assert.deepEqual([entry.answer, entry.late ?? false], ['"own"', false])
    },
  ],
  'the owner’s failure does not take the place of a receipt': [
    'failure-drops-receipt',
    async (world) => {
      const { late, owner } = await answerUnderway(world)
      await world.intent(owner, 'call', 2)
      await world.answer(late, '"late"')
      const failed = {
        type: 'answer',
        ...owner,
        generation: 1,
        name: 'call',
        inputHash: 'hash',
        failure: FAILURE,
      } as const
      assert.equal((await world.store.commit(failed)).answer, 'ok')
      const entry = await only(world, late.run)
      assert.deepEqual([entry.answer, entry.late, entry.failure], ['"late"', true, FAILURE])
    },
  ],
  'what a receipt cost is settled on the run, once': [
    'receipt-uncharged',
    async (world) => {
      const { late } = await answerUnderway(world)
      const change = {
        type: 'answer',
        ...late,
        generation: 1,
        name: 'call',
        inputHash: 'hash',
        answer: '1',
        costUsd: 0.25,
      } as const
      await world.store.commit(change)
      await world.store.commit(change)
      assert.equal((await world.view(late.run)).costUsd, 0.25)
      assert.equal((await only(world, late.run)).costUsd, 0.25)
    },
  ],
  'a late failure is no receipt': [
    'late-failure-kept',
    async (world) => {
      const { late } = await answerUnderway(world)
      const before = await only(world, late.run)
      await world.store.commit({
        type: 'answer',
        ...late,
        generation: 1,
        name: 'call',
        inputHash: 'hash',
        failure: FAILURE,
      })
      assert.deepEqual(await only(world, late.run), before)
    },
  ],
  'what a take cost is settled on the run': [
    'cost-unsettled',
    async (world) => {
      const held = await world.hold()
      for (const [take, costUsd] of [0.25, 0.5].entries()) {
        await world.intent(held, 'call', take + 1)
        await world.store.commit({
          type: 'answer',
          ...held,
          generation: 1,
          name: 'call',
          inputHash: 'hash',
          answer: '1',
          costUsd,
        })
      }
      assert.equal((await world.view(held.run)).costUsd, 0.75)
      assert.equal((await only(world, held.run)).costUsd, 0.75)
    },
  ],
  'an answer that is written again after an unknown outcome is not charged again': [
    'answer-charged-twice',
    async (world) => {
      const held = await world.hold()
      await world.intent(held)
      const change = {
        type: 'answer',
        ...held,
        generation: 1,
        name: 'call',
        inputHash: 'hash',
        answer: '1',
        costUsd: 0.25,
      } as const
      await world.store.commit(change)
      const before = await only(world, held.run)
      await world.clock.advance(10)
      assert.equal((await world.store.commit(change)).answer, 'ok')
      assert.equal((await world.view(held.run)).costUsd, 0.25)
      assert.deepEqual(await only(world, held.run), before)
    },
  ],
})
