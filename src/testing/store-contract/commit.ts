/**
 * Laws of `commit`: fenced, whole or not at all, and told apart afterwards by `endedBy`.
 */
import assert from 'node:assert/strict'
import type { Change } from '../../ports/store.ts'
import { subject } from './law.ts'
import { FAILURE, type Held, LEASE_MS, oneErrorMore, type World } from './world.ts'

/** A run whose first owner lost it to a second. */
async function twoOwners(world: World): Promise<{ stale: Held; owner: Held }> {
  const stale = await world.hold({}, { worker: 'stale' })
  await world.intent(stale)
  await world.outliveLeases()
  const owner = await world.take(stale.run, { worker: 'owner' })
  return { stale, owner }
}

async function isRefused(world: World, change: Change): Promise<void> {
  const before = await world.everythingOf(change.run)
  assert.deepEqual(await world.store.commit(change), { now: world.now, answer: 'lost' })
  assert.deepEqual(await world.everythingOf(change.run), before)
}

export const commitLaws = subject('commit', {
  'an end writes the next state and the output; the lease is gone and endedBy tells whose it was': [
    'ended-by-missing lease-stays',
    async (world) => {
      const held = await world.hold()
      const before = await world.view(held.run)
      await world.clock.advance(50)
      assert.deepEqual(await world.end(held, { output: '{"sum":3}' }), { now: world.now, answer: 'ok' })
      const { lease: _gone, ...rest } = before
      assert.deepEqual(await world.view(held.run), {
        ...rest,
        state: 'succeeded',
        output: '{"sum":3}',
        finishedAt: world.now,
        endedBy: held.token,
      })
    },
  ],
  'an end is all or nothing: state, ledgers, history and journal are there together': [
    'torn-end torn-journal',
    async (world) => {
      const held = await world.hold()
      const attempt = await world.failedAttempt(held)
      const sleep = { name: 'nap', inputHash: '', token: held.token, takes: 1, intentAt: world.now }
      await world.fail(held, { dueAt: world.now + 60_000, attempt, journal: sleep })
      const { state, dueAt, ledgers, failure } = await world.view(held.run)
      assert.deepEqual([state, dueAt, ledgers.errors, failure], ['waiting', world.now + 60_000, 1, FAILURE])
      assert.deepEqual(await world.store.attempts(held.run), [attempt])
      assert.deepEqual(await world.store.journal(held.run, 1), [sleep])
    },
  ],
  'a stale end is lost and nothing of it is visible': [
    'no-fence',
    async (world) => {
      const { stale } = await twoOwners(world)
      const attempt = await world.failedAttempt(stale)
      await isRefused(world, { type: 'end', ...stale, state: 'failed', failure: FAILURE, attempt, suspensions: 5 })
      await isRefused(world, { type: 'end', ...stale, state: 'succeeded', output: '1' })
    },
  ],
  'many ends at once are each as if alone: one that is stale takes no other along, and answers are at their places': [
    'stale-one-refuses-all answers-unordered ends-its-neighbours',
    async (world) => {
      if (!world.store.commitAll) return
      const { stale, owner } = await twoOwners(world)
      const runs: string[] = []
      for (let each = 0; each < 5; each += 1) runs.push(await world.submit())
      const { token } = await world.claim()
      const [first, kept, second, failing, last] = runs.map((run): Held => ({ run, token }))
      assert.ok(first && kept && second && failing && last)
      const ledgers = oneErrorMore((await world.view(failing.run)).ledgers)
      const attempt = await world.failedAttempt(failing)
      const failed = { state: 'failed', failure: FAILURE, attempt, ledgers } as const
      const answers = await world.store.commitAll([
        { type: 'end', ...last, state: 'succeeded' },
        { type: 'end', ...stale, state: 'succeeded' },
        { type: 'end', ...first, state: 'succeeded' },
        { type: 'end', ...failing, ...failed },
        { type: 'end', ...second, state: 'succeeded', output: '2' },
      ])
      assert.deepEqual(
        answers.map(({ answer }) => answer),
        ['ok', 'lost', 'ok', 'ok', 'ok'],
      )
      const views = await Promise.all([...runs, owner.run].map((run) => world.view(run)))
      assert.deepEqual(
        views.map(({ state, output, lease }) => [state, output, lease?.token]),
        [
          ['succeeded', undefined, undefined],
          ['ready', undefined, token],
          ['succeeded', '2', undefined],
          ['failed', undefined, undefined],
          ['succeeded', undefined, undefined],
          ['ready', undefined, owner.token],
        ],
      )
      assert.deepEqual(await world.store.attempts(failing.run), [failed.attempt])
    },
  ],
  'a stale intent is lost and nothing of it is visible': [
    'no-fence-for-intents',
    async (world) => {
      const { stale } = await twoOwners(world)
      await isRefused(world, { type: 'intent', ...stale, generation: 1, name: 'call', inputHash: 'hash', take: 2 })
      await isRefused(world, { type: 'intent', ...stale, generation: 1, name: 'new', inputHash: 'hash', take: 1 })
    },
  ],
  'a stale progress is lost and nothing of it is visible': [
    'no-fence-for-progress',
    async (world) => {
      const { stale } = await twoOwners(world)
      await isRefused(world, { type: 'progress', ...stale, progress: { done: 1 } })
    },
  ],
  'a token that never held the run is refused, be it lower or higher': [
    'no-fence fence-by-order',
    async (world) => {
      const other = await world.hold()
      const held = await world.hold()
      const later = await world.hold()
      for (const token of [0, other.token, later.token, later.token + 100]) {
        await isRefused(world, { type: 'end', run: held.run, token, state: 'succeeded' })
      }
      assert.deepEqual((await world.end(held)).answer, 'ok')
    },
  ],
  'a write to a run that nobody holds is lost': [
    'no-fence',
    async (world) => {
      const run = await world.submit()
      await isRefused(world, { type: 'end', run, token: 1, state: 'succeeded' })
      assert.deepEqual((await world.end({ run: 'nobody', token: 1 })).answer, 'lost')
    },
  ],
  'the refused write is kept as a note': [
    'refusal-unnoted',
    async (world) => {
      const { stale } = await twoOwners(world)
      assert.deepEqual(await world.store.notes({ run: stale.run }), [])
      await world.end(stale)
      await world.intent(stale, 'late')
      await world.answer(stale, '1', 'call')
      await world.store.commit({ type: 'progress', ...stale, progress: { done: 1 } })
      const notes = await world.store.notes({ run: stale.run })
      assert.equal(notes.length, 4)
      for (const note of notes) assert.equal(note.at, world.now)
    },
  ],
  'an expired lease that nobody has claimed since is still its owner’s': [
    'time-takes-writes',
    async (world) => {
      const held = await world.hold()
      await world.clock.advance(LEASE_MS * 10)
      assert.equal((await world.intent(held)).answer, 'ok')
      assert.equal((await world.answer(held, '1')).answer, 'ok')
      assert.equal((await world.store.commit({ type: 'progress', ...held, progress: { done: 1 } })).answer, 'ok')
      assert.equal((await world.end(held)).answer, 'ok')
      const { state, ledgers } = await world.view(held.run)
      assert.deepEqual([state, ledgers.lapses], ['succeeded', 0])
    },
  ],
  'an ended run never changes within its generation': [
    'terminal-can-change',
    async (world) => {
      for (const state of ['succeeded', 'failed', 'cancelled'] as const) {
        const held = await world.hold()
        await (state === 'failed' ? world.fail(held) : world.end(held, { state }))
        await isRefused(world, { type: 'end', ...held, state: 'ready' })
        await isRefused(world, { type: 'end', ...held, state: 'succeeded', output: '2' })
        await isRefused(world, { type: 'progress', ...held, progress: { done: 1 } })
      }
    },
  ],
  'of two ends under one token one is taken': [
    'end-twice',
    async (world) => {
      const held = await world.hold()
      const answers = await Promise.all([world.end(held, { output: '1' }), world.end(held, { output: '2' })])
      assert.deepEqual(answers.map(({ answer }) => answer).sort(), ['lost', 'ok'])
      assert.equal((await world.view(held.run)).output, answers[0]?.answer === 'ok' ? '1' : '2')
    },
  ],
  'endedBy is the token of the last end, also after the next claim': [
    'ended-by-missing',
    async (world) => {
      const first = await world.hold()
      await world.end(first, { state: 'ready' })
      const second = await world.take(first.run)
      assert.equal((await world.view(first.run)).endedBy, first.token)
      await world.end(second)
      assert.equal((await world.view(first.run)).endedBy, second.token)
    },
  ],
  'a due time is kept while waiting or in review, and only then': [
    'due-lost-at-the-end',
    async (world) => {
      const held = await world.hold()
      await world.end(held, { state: 'review', dueAt: world.now + 500, suspensions: 1 })
      assert.equal((await world.view(held.run)).dueAt, world.now + 500)
      await world.clock.advance(500)
      await world.end(await world.take(held.run))
      assert.equal((await world.view(held.run)).dueAt, undefined)
    },
  ],
  'lane and rung are rewritten by an end, and stay as they are without': [
    'lane-kept',
    async (world) => {
      const first = await world.hold({ category: 'c', resource: 'gemini:flash' })
      await world.end(first, { state: 'ready', lane: { task: 't', category: 'd', resource: 'gemini:pro' }, rung: 1 })
      assert.deepEqual(await world.claimedIds({ categories: ['c'] }), [])
      const second = await world.take(first.run, { categories: ['d'] })
      await world.end(second, { state: 'ready' })
      const { category, resource, rung } = await world.view(first.run)
      assert.deepEqual([category, resource, rung], ['d', 'gemini:pro', 1])
      await world.end(await world.take(first.run), { state: 'ready', lane: { task: 't' } })
      assert.equal('category' in (await world.view(first.run)), false)
    },
  ],
  'ledgers that an end does not name are unchanged': [
    'ledgers-lost',
    async (world) => {
      const held = await world.hold()
      await world.fail(held, { dueAt: world.now })
      const { ledgers } = await world.view(held.run)
      await world.end(await world.take(held.run), { state: 'review', suspensions: 1 })
      assert.deepEqual((await world.view(held.run)).ledgers, ledgers)
    },
  ],
  'suspensions are added': [
    'suspensions-replaced',
    async (world) => {
      const run = await world.submit()
      for (const suspensions of [1, 1, 1]) await world.end(await world.take(run), { state: 'ready', suspensions })
      assert.equal((await world.view(run)).suspensions, 3)
    },
  ],
  'the failure of the last attempt is kept on a failed run and gone from a succeeded one': [
    'failure-sticks',
    async (world) => {
      const held = await world.hold()
      await world.fail(held, { dueAt: world.now })
      assert.deepEqual((await world.view(held.run)).failure, FAILURE)
      const second = await world.take(held.run)
      await world.end(second)
      assert.equal('failure' in (await world.view(held.run)), false)
      const other = await world.hold()
      await world.fail(other)
      assert.deepEqual((await world.view(other.run)).failure, FAILURE)
    },
  ],
  'a run given back unstarted gets its attempt number back, and keeps what it was': [
    'unstarted-counts',
    async (world) => {
      const held = await world.hold()
      await world.fail(held, { dueAt: world.now + 5 })
      await world.clock.advance(5)
      const second = await world.take(held.run)
      await world.end(second, { state: 'ready', unstarted: true })
      const { attempt, failure, state, endedBy } = await world.view(held.run)
      assert.deepEqual([attempt, failure, state, endedBy], [1, FAILURE, 'ready', second.token])
      assert.equal((await world.claim()).runs[0]?.attempt, 2)
    },
  ],
  'progress is the latest that its owner told': [
    'progress-dropped',
    async (world) => {
      const held = await world.hold()
      for (const done of [1, 2]) {
        const committed = await world.store.commit({
          type: 'progress',
          ...held,
          progress: { done, of: 3, note: 'page' },
        })
        assert.deepEqual(committed, { now: world.now, answer: 'ok' })
      }
      assert.deepEqual((await world.view(held.run)).progress, { done: 2, of: 3, note: 'page' })
    },
  ],
})
