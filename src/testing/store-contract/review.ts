/**
 * Laws of people: how a run in review is taken, kept, answered and let go, and what workers see of it meanwhile.
 */
import assert from 'node:assert/strict'
import type { Taken } from '../../ports/store.ts'
import type { JournalEntry } from '../../run/journal.ts'
import { subject } from './law.ts'
import { type Held, LEASE_MS, type World } from './world.ts'

const DESK: Omit<JournalEntry, 'token' | 'intentAt'> = {
  name: 'invoice/desk',
  inputHash: 'person:1',
  takes: 1,
  question: '{"title":"Invoice 7","reason":"the total is wrong"}',
}

/** A run that asked a person and waits for the answer; overdue at `dueAt` if told. */
async function inReview(world: World, dueAt?: number): Promise<string> {
  const held = await world.hold()
  const { now: intentAt } = world
  const due = dueAt === undefined ? {} : { dueAt }
  const journal = { ...DESK, token: held.token, intentAt }
  assert.equal((await world.end(held, { state: 'review', suspensions: 1, journal, ...due })).answer, 'ok')
  return held.run
}

const take = (world: World, run: string, by: string, generation = 1): Promise<Taken> =>
  world.store.take({ run, by, leaseMs: LEASE_MS, expect: { generation } })

async function taken(world: World, run: string, by = 'ann'): Promise<Held> {
  const answer = await take(world, run, by)
  assert.ok(answer.answer === 'ok', `${by} takes ${run}`)
  assert.equal(answer.now, world.now)
  return { run, token: answer.token }
}

/** The end that a reply is: the run is ready again, with the answer, a row of history and a note. */
async function reply(world: World, { run, token }: Held, by = 'ann') {
  const { attempt: _none, generation } = await world.view(run)
  const [entry] = await world.store.journal(run, generation)
  assert.ok(entry)
  const now = world.now
  return world.end(
    { run, token },
    {
      state: 'ready',
      journal: { ...entry, answer: '{"act":"answer"}', answeredAt: now },
      attempt: {
        generation,
        attempt: 0,
        token,
        worker: by,
        startedAt: now,
        endedAt: now,
        outcome: 'operator',
        why: { code: 'run.ready', params: { since: now } },
      },
      note: { by, what: 'review.answered', data: { how: 'accepted' } },
    },
  )
}

export const reviewLaws = subject('review', {
  'a question is kept with the end that asks it': [
    'question-lost',
    async (world) => {
      const run = await inReview(world)
      const [entry, ...more] = await world.store.journal(run, 1)
      assert.deepEqual([entry?.question, entry?.answer, more], [DESK.question, undefined, []])
    },
  ],
  'take leases a run in review to a person, with a token higher than every token before': [
    'take-token-repeated',
    async (world) => {
      const run = await inReview(world)
      const { endedBy = 0 } = await world.view(run)
      const first = await taken(world, run)
      assert.ok(first.token > endedBy)
      const { state, lease } = await world.view(run)
      assert.deepEqual([state, lease], ['review', { token: first.token, worker: 'ann', until: world.now + LEASE_MS }])
      await world.outliveLeases()
      const second = await taken(world, run, 'bob')
      assert.ok(second.token > first.token)
      const claimed = await world.hold()
      assert.ok(claimed.token > second.token)
    },
  ],
  'take is lost when the run is not in review or of another generation, and nothing changes': [
    'take-ignores-state take-ignores-generation',
    async (world) => {
      const asked = await inReview(world)
      const held = await world.hold()
      const ready = await world.submit()
      const runs = [ready, held.run, asked]
      const before = await Promise.all(runs.map((run) => world.everythingOf(run)))
      assert.equal((await take(world, ready, 'ann')).answer, 'lost')
      assert.equal((await take(world, held.run, 'ann')).answer, 'lost')
      assert.equal((await take(world, asked, 'ann', 2)).answer, 'lost')
      assert.equal((await take(world, 'nobody', 'ann')).answer, 'lost')
      assert.deepEqual(await Promise.all(runs.map((run) => world.everythingOf(run))), before)
    },
  ],
  'what one person has in hand is lost to every other, until the lease ends': [
    'take-steals',
    async (world) => {
      const run = await inReview(world)
      const ann = await taken(world, run)
      assert.deepEqual(await take(world, run, 'bob'), { now: world.now, answer: 'lost' })
      await world.clock.advance(LEASE_MS - 1)
      assert.equal((await take(world, run, 'bob')).answer, 'lost')
      await world.clock.advance(1)
      const bob = await taken(world, run, 'bob')
      assert.equal((await reply(world, ann)).answer, 'lost')
      assert.equal((await reply(world, bob, 'bob')).answer, 'ok')
    },
  ],
  'of two people who take at once one gets it': [
    'take-after-a-look',
    async (world) => {
      const run = await inReview(world)
      const answers = await Promise.all(['ann', 'bob', 'cem'].map((by) => take(world, run, by)))
      assert.equal(answers.filter(({ answer }) => answer === 'ok').length, 1)
    },
  ],
  'who has it may take it again, and only the newer token counts': [
    'take-refuses-its-own',
    async (world) => {
      const run = await inReview(world)
      const older = await taken(world, run)
      const newer = await taken(world, run)
      assert.ok(newer.token > older.token)
      const before = await world.everythingOf(run)
      assert.equal((await reply(world, older)).answer, 'lost')
      assert.deepEqual(await world.everythingOf(run), before)
      assert.equal((await reply(world, newer)).answer, 'ok')
    },
  ],
  'a take is noted': [
    'take-unnoted',
    async (world) => {
      const run = await inReview(world)
      const { token } = await taken(world, run)
      const notes = await world.store.notes({ run })
      assert.deepEqual(notes, [{ run, by: 'ann', what: 'review.taken', data: { token }, at: world.now }])
    },
  ],
  'a run that a person has in hand is in review to readers': [
    'taken-looks-running',
    async (world) => {
      const run = await inReview(world)
      await taken(world, run)
      const ids = async (state: 'review' | 'running' | 'ready') =>
        (await world.store.find({ states: [state], limit: 9 })).runs.map(({ id }) => id)
      assert.deepEqual([await ids('review'), await ids('running'), await ids('ready')], [[run], [], []])
      assert.deepEqual(await world.store.count({}), [{ task: 't', state: 'review', runs: 1 }])
    },
  ],
  'renew extends a person’s lease': [
    'renew-does-nothing',
    async (world) => {
      const run = await inReview(world)
      const ann = await taken(world, run)
      await world.clock.advance(LEASE_MS - 1)
      const renewal = await world.store.renew({ worker: 'ann', leaseMs: LEASE_MS, leases: [ann] })
      assert.deepEqual(renewal.lost, [])
      await world.clock.advance(LEASE_MS - 1)
      assert.equal((await take(world, run, 'bob')).answer, 'lost')
    },
  ],
  'a lease renewed for no time is given back: anyone may take the run at once': [
    'renew-does-nothing',
    async (world) => {
      const run = await inReview(world)
      const ann = await taken(world, run)
      await world.store.renew({ worker: 'ann', leaseMs: 0, leases: [ann] })
      await taken(world, run, 'bob')
    },
  ],
  'an overdue review becomes ready, but not while a person has it in hand': [
    'overdue-given-while-taken overdue-review-sleeps',
    async (world) => {
      const run = await inReview(world, world.now + 1_000)
      const ann = await taken(world, run)
      await world.clock.advance(2_000)
      const { runs, nextAt } = await world.claim({ alone: true })
      const { state, lease, dueAt } = await world.view(run)
      assert.deepEqual([runs, nextAt, state, dueAt], [[], lease?.until, 'review', world.now - 1_000])
      await world.store.renew({ worker: 'ann', leaseMs: LEASE_MS, leases: [ann] })
      await world.clock.advance(LEASE_MS - 1)
      assert.deepEqual(await world.claimedIds({ alone: true }), [])
      await world.clock.advance(1)
      assert.deepEqual(await world.claimedIds({ alone: true }), [run])
      assert.equal((await world.view(run)).ledgers.lapses, 0)
    },
  ],
  'a person’s lease that ends by itself counts for nothing': [
    'person-suspected person-lapses',
    async (world) => {
      const run = await inReview(world, world.now + LEASE_MS)
      await taken(world, run)
      const { attempt, ledgers } = await world.view(run)
      const history = await world.store.attempts(run)
      await world.outliveLeases()
      const { runs } = await world.claim()
      assert.deepEqual(
        runs.map(({ id, lapsed, ledgers, attempt }) => [id, lapsed, ledgers, attempt]),
        [[run, undefined, ledgers, attempt + 1]],
      )
      assert.equal((await world.view(run)).suspect, false)
      assert.deepEqual(await world.store.attempts(run), history)
    },
  ],
  'a person’s lease is no attempt and takes no place of a limit': [
    'person-takes-a-place',
    async (world) => {
      const run = await inReview(world)
      const { attempt } = await world.view(run)
      await taken(world, run)
      assert.equal((await world.view(run)).attempt, attempt)
      const other = await world.submit()
      assert.deepEqual(await world.claimedIds({ limits: [{ what: 'task:t', running: 1 }] }), [other])
    },
  ],
  'a reply is one write: the answer beside its question, the state, a row of history, a note': [
    'question-lost note-lost-with-end',
    async (world) => {
      const run = await inReview(world)
      const { attempt, suspensions } = await world.view(run)
      const ann = await taken(world, run)
      assert.equal((await reply(world, ann)).answer, 'ok')
      const after = await world.view(run)
      assert.deepEqual(
        [after.state, after.lease, after.endedBy, after.attempt, after.suspensions],
        ['ready', undefined, ann.token, attempt, suspensions],
      )
      const [entry] = await world.store.journal(run, 1)
      assert.deepEqual([entry?.question, entry?.answer], [DESK.question, '{"act":"answer"}'])
      assert.deepEqual((await world.store.attempts(run)).at(-1)?.worker, 'ann')
      assert.deepEqual((await world.store.notes({ run })).at(-1), {
        run,
        by: 'ann',
        what: 'review.answered',
        data: { how: 'accepted' },
        at: world.now,
      })
      const { runs } = await world.claim()
      assert.deepEqual(
        runs.map(({ id, journaled }) => [id, journaled]),
        [[run, true]],
      )
    },
  ],
  'a person’s end leaves no due time behind: what has ended stays so': [
    'ended-falls-due',
    async (world) => {
      for (const output of [{}, { output: '1' }]) {
        const run = await inReview(world, world.now + 1_000)
        assert.equal((await world.end(await taken(world, run), output)).answer, 'ok')
        await world.clock.advance(1_000)
        await world.claim()
        const { state, dueAt } = await world.view(run)
        assert.deepEqual([state, dueAt], ['succeeded', undefined])
      }
    },
  ],
  'what a person has in hand sends nothing: it takes nothing of what a resource has left': [
    'person-counts-as-sender',
    async (world) => {
      const asking = await world.hold({ resource: 'flash' })
      await world.end(asking, { state: 'review', suspensions: 1 })
      await taken(world, asking.run)
      const held = await world.hold({ resource: 'flash' })
      await world.intent(held, 'ask')
      const told = { resource: 'flash', by: 'left', unit: 'requests', remaining: 3 } as const
      const quotas = [{ ...told, resetAt: world.now + 8_000 }]
      const answer = { generation: 1, name: 'ask', inputHash: 'hash', answer: '1', quotas } as const
      const committed = await world.store.commit({ type: 'answer', ...held, ...answer })
      assert.deepEqual(committed, { now: world.now, answer: 'ok' })
    },
  ],
  'a question is decided at most once': [
    'decided-twice',
    async (world) => {
      const run = await inReview(world)
      const ann = await taken(world, run)
      assert.equal((await reply(world, ann)).answer, 'ok')
      const before = await world.everythingOf(run)
      assert.equal((await reply(world, ann)).answer, 'lost')
      assert.equal((await take(world, run, 'bob')).answer, 'lost')
      assert.deepEqual(await world.everythingOf(run), before)
    },
  ],
})
