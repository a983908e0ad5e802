import { expect, test } from 'vitest'
import { onEmulator } from '../services/on-emulator.fixtures.ts'
import { type ReportWorld, reportWorld } from './report-world.fixtures.ts'

let world: ReportWorld
onEmulator(async () => {
  world = await reportWorld()
  return world
})

test('a report is written, kept and told in the document', async () => {
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
