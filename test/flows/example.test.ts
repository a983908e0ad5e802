import { test } from 'vitest'
import { runExample } from '../e2e/flow-report-example.fixtures.ts'
import { firestoreMissing, startFirestoreEmulator } from '../services/firestore-emulator.ts'

test('the example runs on Firestore’s emulator by the same command, as often as one likes', async (context) => {
  const missing = firestoreMissing()
  if (missing !== undefined) context.skip(missing)
  const emulator = await startFirestoreEmulator()
  try {
    const env = { FIRESTORE_EMULATOR_HOST: emulator.host, METADATA_SERVER_DETECTION: 'none' }
    await runExample(env)
    await runExample(env)
  } finally {
    await emulator.close()
  }
})
