/**
 * Documents that others made, change and spoil while this store works with them: none of it is missed, and none of it harms a neighbour.
 */
import { describe, expect, test } from 'vitest'
import { createFlowDaemon } from '../../src/flows/index.ts'
import { adoptFlow } from '../../src/stores/firestore/index.ts'
import { onEmulator } from '../services/on-emulator.fixtures.ts'
import { type ReportWorld, reportWorld } from './report-world.fixtures.ts'

let world: ReportWorld
onEmulator(async () => {
  world = await reportWorld()
  return world
})

const change = (flow: string, fields: Record<string, unknown>) =>
  world.client.collection(world.collection).doc(flow).update(fields)

/** A daemon that looks once, and works until there is nothing to do. */
async function lookOnce(): Promise<void> {
  const daemon = createFlowDaemon({ firestore: world.place, open: world.open, adoptEveryMs: 0 })
  await daemon.adopt()
  await daemon.idle()
  await daemon.stop()
}

describe('what others write into a document that was taken in, and no event comes of it', () => {
  test('a step that is added to an ended flow', async () => {
    const flow = await world.flow()
    await world.handler()(world.event(flow))
    const { inputs } = await world.step(flow)
    await change(flow, { 'steps.second': { stepType: 'LLM_REPORT', status: 'READY', inputs } })
    await lookOnce()
    expect((await world.step(flow, 'second'))['status']).toBe('SUCCEEDED')
  })

  test('a need that failed before, and succeeds now', async () => {
    const failed = { stepType: 'EXPORT', status: 'FAILED' }
    const flow = await world.flow({ steps: { charts: failed }, report: { status: 'BLOCKED' } })
    await world.handler()(world.event(flow))
    const outputs = { gcs_uri: 'gs://bucket/inputs/charts' }
    await change(flow, { 'steps.charts': { ...failed, status: 'SUCCEEDED', outputs } })
    await lookOnce()
    expect((await world.step(flow))['status']).toBe('SUCCEEDED')
  })

  test('a failed step that is set ready again', async () => {
    const flow = await world.flow({ inputs: { promptId: 'nobody' } })
    await world.handler()(world.event(flow))
    expect((await world.step(flow))['status']).toBe('FAILED')
    await change(flow, { 'steps.report.status': 'READY', 'steps.report.inputs.promptId': 'daily' })
    await lookOnce()
    expect(await world.step(flow)).toMatchObject({ status: 'SUCCEEDED', attempts: 2 })
  })
})

describe('a document that was spoiled', () => {
  test.for([
    ['a step that is none', null],
    ['a step that is a text', 'gone'],
    ['a rest that is not ours', { stepType: 'LLM_REPORT', status: 'READY', rest: 'hello' }],
    ['a status that is none, under a lease that is over', { stepType: 'LLM_REPORT', status: 'DONE', leaseUntil: 1 }],
    ['an input that is nowhere', { stepType: 'LLM_REPORT', status: 'READY', inputBody: 3 }],
  ] as const)('harms no neighbour and stays as it is: %s', async ([, report]) => {
    const spoiled = await world.flow()
    await adoptFlow(world.place, spoiled)
    await change(spoiled, { 'steps.report': report })
    const { steps } = await world.read(spoiled)
    const flow = await world.flow()
    await lookOnce()
    expect((await world.step(flow))['status']).toBe('SUCCEEDED')
    const stored = await world.read(spoiled)
    expect(stored['steps']).toEqual(steps)
    expect(stored['error']).toMatchObject({
      code: 'FLOW_RUN_INVALID',
      message: expect.stringContaining('steps.report'),
    })
  })

  test('is taken in when it was mended, and its error is gone', async () => {
    const flow = await world.flow({ report: { status: 'DONE' } })
    expect(await world.handler()(world.event(flow))).toMatchObject({ code: 'FLOW_RUN_INVALID' })
    await change(flow, { 'steps.report.status': 'READY' })
    expect(await world.handler()(world.event(flow))).toEqual({ flow, done: 1 })
    expect(await world.read(flow)).not.toHaveProperty('error')
  })

  test('by its name is told so in the document', async () => {
    const flow = '2026-11-16T06:00:00Z'
    const steps = { report: { stepType: 'LLM_REPORT', status: 'READY' } }
    await world.client.collection(world.collection).doc(flow).set({ steps })
    expect(await world.handler()(world.event(flow))).toMatchObject({ done: 0, code: 'FLOW_RUN_INVALID' })
    expect(await world.read(flow)).toMatchObject({
      steps,
      error: { code: 'FLOW_RUN_INVALID', message: expect.stringMatching(/its id "2026-11-16T06:00:00Z".*allowed are/) },
    })
  })
})

test('another worker’s start may be a text: its time is counted from there', async () => {
  const flow = await world.flow({
    report: { status: 'BLOCKED' },
    steps: { charts: { stepType: 'X', status: 'RUNNING' } },
  })
  await adoptFlow(world.place, flow)
  world.later(3_600_000)
  const { now } = await world.store().create([])
  await change(flow, { 'steps.report.status': 'RUNNING', 'steps.report.startedAt': new Date(now).toISOString() })
  expect(await world.handler()(world.event(flow))).toMatchObject({ done: 0 })
  expect((await world.step(flow))['status']).toBe('RUNNING')
})

test('flows that others made are in order', async () => {
  const [flow, blocked] = [
    await world.flow(),
    await world.flow({ steps: { charts: { stepType: 'X', status: 'READY' } } }),
  ]
  const invalid = await world.flow({ report: { status: 'DONE' } })
  for (const each of [flow, blocked, invalid]) await world.handler()(world.event(each))
  const found = await world.store().verify()
  expect(found.filter(({ run }) => run?.startsWith(`${flow}.`) || run?.startsWith(`${blocked}.`))).toEqual([])
})
