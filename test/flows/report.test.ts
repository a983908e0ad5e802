import { afterAll, beforeAll, expect, test } from 'vitest'
import { firestoreMissing } from '../services/firestore-emulator.ts'
import { type ReportWorld, reportWorld } from './report-world.fixtures.ts'

const missing = firestoreMissing()
let world: ReportWorld
beforeAll(async () => {
  if (missing === undefined) world = await reportWorld()
})
afterAll(() => world?.close())

test.skipIf(missing)('a report is written, kept and told in the document', async () => {
  const flow = await world.flow()
  expect(await world.handler()(world.event(flow))).toEqual({ flow, done: 1 })
  const step = await world.step(flow)
  expect(step).toMatchObject({
    status: 'SUCCEEDED',
    attempts: 1,
    outputs: { gcs_uri: `gs://bucket/${flow}.report/report.json`, schemaVersion: 1, takes: 1, missing: [] },
  })
  expect(step).not.toHaveProperty('error')
})
