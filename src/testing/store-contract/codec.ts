/**
 * Laws of what goes in and comes out: every text and number as it was, nothing shared, and the store's own time.
 */
import assert from 'node:assert/strict'
import type { Failure } from '../../failure/failure.ts'
import type { Why } from '../../policy/why.ts'
import type { JournalEntry } from '../../run/journal.ts'
import { subject } from './law.ts'
import { CANCELLED, FAILURE, type Held, keyed, LEASE_MS, newRun, type World } from './world.ts'

/** What it is, the sabotage that would spoil it, the text. */
const HOSTILE: readonly (readonly [name: string, catches: string, text: string])[] = [
  ['unicode', 'texts-folded', 'Grüße 你好 👩‍👩‍👧 \u202Eright to left\u202C e\u0301 \uFEFF'],
  ['control', 'texts-cut-at-nul', 'a\u0000b\nc\r\n\t\u001b[31m\u007f'],
  ['sql', 'texts-folded', "'; DROP TABLE run; -- \" ` $1 ?1 :a @b %s %_ \\' /* */"],
  ['prototype', 'prototype-dropped', '__proto__'],
  ['constructor', 'texts-folded', 'constructor'],
  ['json', 'texts-folded', '{"$ne":null}'],
  ['path', 'texts-folded', '../../etc/passwd'],
  ['blank', 'texts-trimmed', ' '],
  ['number', 'texts-folded', '1e309'],
  ['null', 'texts-folded', 'null'],
]

/** Past every page size and every inline bound. */
const LONG = 'ß'.repeat(1_000_000)

/** Puts a text into every field that takes one, and reads each of them back. */
async function roundTrip(world: World, text: string): Promise<void> {
  const json = JSON.stringify({ text })
  const run = newRun({ task: text, category: text, resource: text, key: text, fingerprint: text, input: json })
  const why: Why = { code: 'run.cancelled', params: { by: text } }
  const failure: Failure = {
    ...FAILURE,
    code: text,
    message: text,
    advice: text,
    rule: text,
    facts: JSON.parse(`{${JSON.stringify(text)}: ${JSON.stringify(text)}}`),
  }
  const id = await world.submit(run)
  const request = world.request({ worker: text, nonce: text, tasks: [text], categories: [text] })
  const { runs, token } = await world.store.claim(request)
  const [claimed] = runs
  assert.deepEqual(
    [claimed?.id, claimed?.task, claimed?.category, claimed?.resource, claimed?.key, claimed?.input],
    [id, text, text, text, text, json],
  )
  assert.deepEqual((await world.store.claim(request)).token, token)
  const held: Held = { run: id, token }
  assert.equal((await world.view(id)).lease?.worker, text)
  await world.intent(held, text, 1, text)
  await world.answer(held, json, text, text)
  await world.store.commit({ type: 'progress', ...held, progress: { done: 1, note: text } })
  const entry: JournalEntry = { name: `${text}!`, inputHash: text, token, takes: 1, intentAt: world.now, failure }
  const attempt = { ...(await world.failedAttempt(held)), worker: text, policy: text, failure, why }
  await world.fail(held, {
    attempt,
    failure,
    why,
    journal: entry,
    lane: { task: text, category: `${text}2`, resource: text },
  })
  const view = await world.view(id)
  assert.deepEqual([view.category, view.resource, view.progress?.note], [`${text}2`, text, text])
  assert.deepEqual([view.why, view.failure], [why, failure])
  assert.deepEqual(await world.store.attempts(id), [attempt])
  const journal = await world.store.journal(id, 1)
  assert.deepEqual(journal[1], entry)
  assert.deepEqual([journal[0]?.name, journal[0]?.inputHash, journal[0]?.answer], [text, text, json])
  assert.deepEqual(await world.store.get({ task: text, key: text }), view)
  for (const query of [{ tasks: [text] }, { categories: [`${text}2`] }, { key: text }])
    assert.deepEqual((await world.store.find({ ...query, limit: 5 })).runs, [view])
  assert.deepEqual(await world.store.count({ tasks: [text] }), [{ task: text, state: 'failed', runs: 1 }])
  const data = JSON.parse(`{${JSON.stringify(text)}: ${JSON.stringify(text)}}`)
  await world.store.note({ run: id, by: text, what: text, data })
  assert.deepEqual(await world.store.notes({ run: id }), [{ run: id, by: text, what: text, data, at: world.now }])
  await world.store.keepPolicy(text, json)
  assert.equal(await world.store.policy(text), json)
  await world.store.create([{ ...run, onExisting: 'retry' }])
  await world.store.steer({ run: id, type: 'cancel', by: text, why, expect: { generation: 2, states: ['ready'] } })
  const acts = await world.store.attempts(id)
  assert.deepEqual([acts.at(-1)?.worker, acts.at(-1)?.why], [text, why])
  assert.equal(({} as Record<string, unknown>)['text'], undefined)
}

export const codecLaws = subject('codec', {
  ...Object.fromEntries(
    HOSTILE.map(([name, catches, text]) => [
      `hostile texts come back as they were, in every field: ${name}`,
      [catches, (world: World) => roundTrip(world, text)] as const,
    ]),
  ),
  'a megabyte comes back as it was': [
    'long-texts-cut',
    async (world) => {
      const input = JSON.stringify({ LONG })
      const held = await world.hold({ input })
      assert.equal((await world.view(held.run)).input, input)
      await world.intent(held)
      await world.answer(held, input)
      assert.equal((await world.store.journal(held.run, 1))[0]?.answer, input)
      await world.end(held, { output: input })
      assert.equal((await world.view(held.run)).output, input)
    },
  ],
  'a hostile text in a reference, a query or a cursor finds nothing and harms nothing': [
    'query-injected',
    async (world) => {
      const id = await world.submit()
      for (const [, , text] of HOSTILE) {
        assert.equal(await world.store.get({ id: text }), undefined)
        assert.equal(await world.store.get({ task: text, key: text }), undefined)
        for (const query of [
          { tasks: [text] },
          { categories: [text] },
          { kinds: [text] },
          { code: text },
          { key: text },
        ])
          assert.deepEqual((await world.store.find({ ...query, limit: 5 })).runs, [])
        // A cursor that no page gave may be refused, and may never answer with what the filter leaves out.
        const page = await world.store.find({ tasks: ['other'], limit: 5, cursor: text }).catch(() => ({ runs: [] }))
        assert.deepEqual(page.runs, [])
        assert.deepEqual(await world.store.attempts(text), [])
        assert.deepEqual(await world.store.journal(text, 1), [])
        assert.deepEqual(await world.store.notes({ run: text }), [])
        assert.deepEqual(await world.claimedIds({ tasks: [text] }), [])
        assert.equal((await world.end({ run: text, token: 1 })).answer, 'lost')
      }
      assert.equal((await world.view(id)).state, 'ready')
    },
  ],
  'numbers come back as they were': [
    'fractions-rounded',
    async (world) => {
      const priority = -2_147_483_648
      const held = await world.hold({ priority, maxCostUsd: 0.1, deadlineAt: Number.MAX_SAFE_INTEGER })
      await world.intent(held)
      await world.store.commit({
        type: 'answer',
        ...held,
        generation: 1,
        name: 'call',
        inputHash: 'hash',
        answer: '1',
        costUsd: 0.1 + 0.2,
      })
      await world.store.commit({ type: 'progress', ...held, progress: { done: 0.5, of: 1e9 } })
      const view = await world.view(held.run)
      assert.deepEqual(
        [view.priority, view.maxCostUsd, view.deadlineAt, view.costUsd, view.progress],
        [priority, 0.1, Number.MAX_SAFE_INTEGER, 0.1 + 0.2, { done: 0.5, of: 1e9 }],
      )
      const attempt = { ...(await world.failedAttempt(held)), dice: 0.123_456_789_012_345_6, costUsd: 1e-7 }
      await world.fail(held, { attempt })
      assert.deepEqual(await world.store.attempts(held.run), [attempt])
    },
  ],
  'nothing that is answered is shared: changing it changes nothing': [
    'answers-shared',
    async (world) => {
      const held = await world.hold(keyed('k'))
      await world.intent(held)
      await world.store.commit({ type: 'progress', ...held, progress: { done: 1 } })
      await world.store.note({ run: held.run, by: 'ann', what: 'looked', data: { n: 1 } })
      await world.fail(held, { dueAt: world.now })
      const read = async (): Promise<readonly unknown[]> => [
        await world.view(held.run),
        await world.store.find({ limit: 5 }),
        await world.store.attempts(held.run),
        await world.store.journal(held.run, 1),
        await world.store.notes({}),
        await world.store.count({}),
      ]
      const before = await read()
      for (const answer of await read()) spoil(answer)
      assert.deepEqual(await read(), before)
      const { runs } = await world.claim()
      const claimed = JSON.stringify(runs)
      const request = world.request()
      for (const answer of runs) spoil(answer)
      assert.equal((await world.store.claim(request)).runs.length, 0)
      assert.equal((await world.view(held.run)).ledgers.errors, JSON.parse(claimed)[0].ledgers.errors)
    },
  ],
  'nothing that is handed in is shared: changing it afterwards changes nothing': [
    'arguments-shared',
    async (world) => {
      const held = await world.hold()
      const failure = structuredClone(FAILURE)
      const why = structuredClone(CANCELLED)
      const attempt = structuredClone(await world.failedAttempt(held))
      const progress = { done: 1 }
      const note = { run: held.run, by: 'ann', what: 'looked', data: { n: 1 } }
      const journal = {
        name: 'nap',
        inputHash: '',
        token: held.token,
        takes: 1,
        intentAt: world.now,
        failure: structuredClone(FAILURE),
      }
      await world.store.note(note)
      await world.store.commit({ type: 'progress', ...held, progress })
      await world.fail(held, { failure, why, attempt, journal })
      const read = async () => [await world.everythingOf(held.run), await world.store.notes({})]
      const before = structuredClone(await read())
      for (const handedIn of [failure, why, attempt, progress, note, journal]) spoil(handedIn)
      assert.deepEqual(await read(), before)
    },
  ],
  'every answer that matters carries the store’s time': [
    'local-time',
    async (world) => {
      const { now } = world
      const held = await world.hold()
      const answers = [
        await world.store.create([newRun()]),
        await world.claim(),
        await world.store.renew({ worker: 'w1', leaseMs: LEASE_MS, leases: [held] }),
        await world.intent(held),
        await world.end(held),
        await world.end(held),
        await world.store.steer({
          run: held.run,
          type: 'cancel',
          by: 'ann',
          why: CANCELLED,
          expect: { generation: 1, states: [] },
        }),
        await world.store.find({ limit: 1 }),
      ]
      assert.deepEqual(
        answers.map((answer) => answer.now),
        answers.map(() => now),
      )
      assert.equal((await world.view(held.run)).finishedAt, now)
      assert.equal((await world.view(held.run)).submittedAt, now)
    },
  ],
})

/** Overwrites everything that can be overwritten, all the way down. */
function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    spoil(inner)
    Reflect.set(value, name, 'spoiled')
  }
  if (Array.isArray(value) && !Object.isFrozen(value)) value.push('spoiled')
}
