import { afterAll, beforeAll, describe, test } from 'vitest'
import { storeContract } from '../../src/testing/store-contract/index.ts'
import { type FirestoreEmulator, firestoreMissing, startFirestoreEmulator } from '../services/firestore-emulator.ts'
import { openFirestore } from './firestore-store.fixtures.ts'

const missing = firestoreMissing()

if (missing !== undefined) test('firestore keeps the laws of the Store', ({ skip }) => skip(missing))
else {
  let emulator: FirestoreEmulator
  let client: ReturnType<FirestoreEmulator['client']>
  beforeAll(async () => {
    emulator = await startFirestoreEmulator()
    client = emulator.client()
  })
  afterAll(() => emulator.close())
  storeContract({ name: 'firestore', open: (clock) => openFirestore(emulator, client, clock) }, { describe, test })
}
