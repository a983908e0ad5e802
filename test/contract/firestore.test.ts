import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Skip, storeContract } from '../../src/testing/store-contract/index.ts'
import { type FirestoreEmulator, firestoreMissing, startFirestoreEmulator } from '../services/firestore-emulator.ts'
import { collectQueries, type IndexFile, type Queries, serves } from '../services/firestore-queries.ts'
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
  let queries: Queries
  beforeAll(async () => {
    emulator = await startFirestoreEmulator()
    client = emulator.client()
    queries = collectQueries(client, (name) => name.replace(/^flow_runs_.*/, 'flow_runs'))
  })
  afterAll(() => emulator.close())
  storeContract(
    { name: 'firestore', open: (clock) => openFirestore(emulator, client, clock), skip },
    { describe, test },
  )

  describe('after all the laws', () => {
    const file: IndexFile = JSON.parse(readFileSync('deploy/firestore/firestore.indexes.json', 'utf8'))

    test('every query that was sent has its index in the file that is deployed', () => {
      const missed = [...queries.needed.values()].filter((need) => !file.indexes.some((index) => serves(index, need)))
      assert.deepEqual(missed, [])
      assert.ok(queries.needed.size > 0)
    })

    test('every index in the file is used by a query', () => {
      const unused = file.indexes.filter((index) => ![...queries.needed.values()].some((need) => serves(index, need)))
      assert.deepEqual(unused, [])
    })

    test('no query asks for a field whose own index is switched off', () => {
      const off = file.fieldOverrides.map(({ collectionGroup, fieldPath }) => `${collectionGroup} ${fieldPath}`)
      assert.deepEqual(
        off.filter((field) => queries.fields.has(field)),
        [],
      )
    })
  })
}
