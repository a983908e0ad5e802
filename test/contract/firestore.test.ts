import assert from 'node:assert/strict'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Skip, storeContract } from '../../src/testing/store-contract/index.ts'
import { type FirestoreEmulator, firestoreMissing, startFirestoreEmulator } from '../services/firestore-emulator.ts'
import { openFirestore } from './firestore-store.fixtures.ts'

const missing = firestoreMissing()

const skip: readonly Skip[] = [
  {
    law: 'acknowledged means durable: all is there after closing and opening again',
    reason: 'tokens of two processes rise with the store’s time, not within one millisecond',
    instead: async (world) => {
      const { reopen } = world.opened
      assert.ok(reopen)
      const held = await world.hold()
      await world.store.note({ by: 'ann', what: 'looked' })
      const everything = async () => [
        await world.store.find({ limit: 10 }),
        await world.everythingOf(held.run),
        await world.store.notes({}),
      ]
      const before = await everything()
      world.store = await reopen()
      assert.deepEqual(await everything(), before)
      // Of the same run a token is higher than the one before, whoever gives it, also within the millisecond.
      assert.equal((await world.end(held, { state: 'ready' })).answer, 'ok')
      const again = await world.take(held.run)
      assert.ok(again.token > held.token)
      await world.clock.advance(1)
      assert.ok((await world.hold()).token > again.token)
    },
  },
]

if (missing !== undefined) test('firestore keeps the laws of the Store', (context) => context.skip(missing))
else {
  let emulator: FirestoreEmulator
  let client: ReturnType<FirestoreEmulator['client']>
  beforeAll(async () => {
    emulator = await startFirestoreEmulator()
    client = emulator.client()
  })
  afterAll(() => emulator.close())
  storeContract(
    { name: 'firestore', open: (clock) => openFirestore(emulator, client, clock), skip },
    { describe, test },
  )
}
