/**
 * Laws of what stands beside the runs: notes, policies, hints, closing and coming back.
 */
import assert from 'node:assert/strict'
import { isRepriseError } from '../../failure/reprise-error.ts'
import { turn } from '../../time/clock.ts'
import { subject } from './law.ts'
import { keyed, newRun } from './world.ts'

export const notesLaws = subject('notes', {
  'notes are appended with the store’s time and never changed': [
    'notes-overwrite local-time',
    async (world) => {
      const run = await world.submit()
      const first = { run, by: 'ann', what: 'looked', data: { page: 1, ok: true, where: 'desk' } }
      await world.store.note(first)
      const at = world.now
      await world.clock.advance(10)
      await world.store.note({ by: 'bob', what: 'paused' })
      await world.store.note({ run, by: 'ann', what: 'looked' })
      assert.deepEqual(await world.store.notes({}), [
        { ...first, at },
        { by: 'bob', what: 'paused', at: world.now },
        { run, by: 'ann', what: 'looked', at: world.now },
      ])
    },
  ],
  'notes of one run, and the latest of them by a limit': [
    'notes-unfiltered',
    async (world) => {
      for (const [run, what] of [
        ['a', '1'],
        ['b', '2'],
        ['a', '3'],
        ['a', '4'],
      ] as const)
        await world.store.note({ run, by: 'ann', what })
      const what = async (query: { run?: string; limit?: number }) =>
        (await world.store.notes(query)).map((note) => note.what)
      assert.deepEqual(await what({ run: 'a' }), ['1', '3', '4'])
      assert.deepEqual(await what({ run: 'a', limit: 2 }), ['3', '4'])
      assert.deepEqual(await what({ limit: 3 }), ['2', '3', '4'])
      assert.deepEqual(await what({ run: 'c' }), [])
    },
  ],
  'a policy is kept under its hash, the first time': [
    'policy-overwritten',
    async (world) => {
      await world.store.keepPolicy('h1', '{"a":1}')
      await world.store.keepPolicy('h2', '{"b":1}')
      await world.store.keepPolicy('h1', '{"a":1}')
      await world.store.keepPolicy('h2', '{"changed":1}')
      assert.equal(await world.store.policy('h1'), '{"a":1}')
      assert.equal(await world.store.policy('h2'), '{"b":1}')
      assert.equal(await world.store.policy('h3'), undefined)
    },
  ],
  'nobody is called who stopped listening': [
    'watch-never-stops',
    async (world) => {
      let hints = 0
      const stop = world.store.watch(() => {
        hints += 1
      })
      await world.submit()
      stop()
      stop()
      const before = hints
      await world.submit()
      await turn()
      assert.equal(hints, before)
    },
  ],
  'close may be called twice': [
    'close-once',
    async (world) => {
      await world.submit()
      await world.store.close()
      await assert.doesNotReject(world.store.close())
    },
  ],
  'a closed store says that it cannot be reached': [
    'answers-after-close',
    async (world) => {
      const run = await world.submit()
      await world.store.close()
      const unavailable = (error: unknown) => isRepriseError(error) && error.code === 'store.unavailable'
      await assert.rejects(world.store.create([newRun()]), unavailable)
      await assert.rejects(world.claim(), unavailable)
      await assert.rejects(world.store.get({ id: run }), unavailable)
    },
  ],
  'acknowledged means durable: all is there after closing and opening again': [
    'forgets-at-close',
    async (world) => {
      const { reopen } = world.opened
      assert.ok(reopen, 'the driver can be opened again; if nothing outlives it, skip this law by name')
      const failed = await world.hold(keyed('k'))
      await world.intent(failed)
      await world.fail(failed)
      const held = await world.hold()
      await world.store.create([newRun({ dueAt: world.now + 1_000 })])
      await world.store.note({ by: 'ann', what: 'looked' })
      await world.store.keepPolicy('h', '{}')
      const everything = async () => [
        await world.store.find({ limit: 10 }),
        await world.everythingOf(failed.run),
        await world.everythingOf(held.run),
        await world.store.notes({}),
        await world.store.policy('h'),
      ]
      const before = await everything()
      world.store = await reopen()
      assert.deepEqual(await everything(), before)
      assert.equal((await world.end(held)).answer, 'ok')
      const next = await world.hold()
      assert.ok(next.token > held.token)
      assert.equal(new Set((await world.store.find({ limit: 10 })).runs.map(({ id }) => id)).size, 4)
    },
  ],
})
