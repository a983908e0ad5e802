import { test } from 'vitest'
import { runExample } from '../e2e/flow-report-example.fixtures.ts'
import { firestoreMissing, startFirestoreEmulator } from '../services/firestore-emulator.ts'

test('the example runs on Firestore’s emulator by the same command', async (context) => {
  const missing = firestoreMissing()
  if (missing !== undefined) context.skip(missing)
  const emulator = await startFirestoreEmulator()
  try {
    await runExample({ FIRESTORE_EMULATOR_HOST: emulator.host, METADATA_SERVER_DETECTION: 'none' })
  } finally {
    await emulator.close()
  }
})
