import { describe, expect, test } from 'vitest'
import { createFlowDaemon } from '../../src/flows/index.ts'
import { adoptFlow, firestore } from '../../src/stores/firestore/index.ts'
import { faultyFirestore } from '../services/faulty-firestore.ts'
import { onEmulator } from '../services/on-emulator.fixtures.ts'
import { type ReportWorld, reportWorld } from './report-world.fixtures.ts'

let world: ReportWorld
onEmulator(async () => {
  world = await reportWorld()
  return world
})

const CRASHES = 100
const AT_ONCE = 10
const LEASE_OVER_MS = 15 * 60_000

describe('what is half done is finished, and nothing is done twice', () => {
  test(`1: ${CRASHES} crashes between the object and the end: no second question, one object each`, async () => {
    const flows: string[] = []
    const before = world.asked()
    for (let n = 0; n < CRASHES; n += AT_ONCE) {
      const some = await Promise.all(Array.from({ length: AT_ONCE }, () => world.flow()))
      flows.push(...some)
      const outcomes = await Promise.all(
        some.map((flow) => {
          // From the moment the object is there nothing of this process reaches the store any more.
          const client = faultyFirestore(world.client, () => (world.objects(flow).length > 0 ? 'before' : undefined))
          return world.handler({ client })(world.event(flow))
        }),
      )
      for (const outcome of outcomes) expect(outcome).toMatchObject({ done: 0, code: 'FIRESTORE_FINALIZE_FAILED' })
    }
    expect(world.asked() - before).toBe(CRASHES)
    for (const flow of flows) expect((await world.step(flow))['status']).toBe('RUNNING')
    world.later(LEASE_OVER_MS)
    for (let n = 0; n < CRASHES; n += AT_ONCE) {
      const some = flows.slice(n, n + AT_ONCE)
      const outcomes = await Promise.all(some.map((flow) => world.handler()(world.event(flow))))
      expect(outcomes).toEqual(some.map((flow) => ({ flow, done: 1 })))
    }
    for (const flow of flows) {
      const { status, outputs, error } = await world.step(flow)
      expect([status, error]).toEqual(['SUCCEEDED', undefined])
      expect(world.objects(flow).map((name) => `gs://bucket/${name}`)).toEqual([outputs.gcs_uri])
    }
    expect(world.asked() - before).toBe(CRASHES)
  }, 180_000)

  test('1b: the end was written, its answer was lost: the run is ended once', async () => {
    const flow = await world.flow()
    let broken = 0
    const client = faultyFirestore(
      world.client,
      () => {
        if (world.objects(flow).length === 0 || broken > 0) return undefined
        broken += 1
        return 'after'
      },
      14,
    )
    await world.handler({ client })(world.event(flow))
    const step = await world.step(flow)
    expect([step['status'], step['attempts'], broken]).toEqual(['SUCCEEDED', 1, 1])
    expect(await world.store().attempts(`${flow}.report`)).toEqual([])
  })

  test('2: claimed and crashed before anything was done: taken back when the lease is over, not before', async () => {
    const flow = await world.flow()
    await adoptFlow(world.place, flow)
    const dead = firestore({ ...world.place, only: flow })
    await dead.claim({ worker: 'dead', nonce: 'n', limit: 1, leaseMs: 840_000, alone: true, tasks: ['LLM_REPORT'] })
    expect(await world.step(flow)).toMatchObject({ status: 'RUNNING', attempts: 1 })
    expect(await world.handler()(world.event(flow))).toMatchObject({ done: 0 })
    world.later(LEASE_OVER_MS)
    expect(await world.handler()(world.event(flow))).toEqual({ flow, done: 1 })
    expect(await world.step(flow)).toMatchObject({ status: 'SUCCEEDED', attempts: 2 })
  })

  test('2b: another worker’s RUNNING without a lease is taken back after startedAt + 15 minutes', async () => {
    const { now: today } = await world.store().create([])
    const startedAt = new Date(today)
    const flow = await world.flow({ report: { status: 'RUNNING', startedAt } })
    world.later(LEASE_OVER_MS - 60_000)
    expect(await world.handler()(world.event(flow))).toMatchObject({ done: 0, code: 'NO_READY_STEP' })
    world.later(120_000)
    expect(await world.handler()(world.event(flow))).toEqual({ flow, done: 1 })
    expect((await world.step(flow))['status']).toBe('SUCCEEDED')
  })

  test('3: the object could not be written: the answer is kept, the daemon finishes what no event came for', async () => {
    const flow = await world.flow()
    const before = world.asked()
    world.server.fail({ verb: 'insert', how: 'error-before', times: 5 })
    await world.handler()(world.event(flow))
    expect(await world.step(flow)).toMatchObject({ status: 'WAITING', error: { code: 'GCS_WRITE_FAILED' } })
    world.later(3_600_000)
    const daemon = createFlowDaemon({ firestore: world.place, open: world.open, adoptEveryMs: 0 })
    await daemon.idle()
    await daemon.stop()
    expect((await world.step(flow))['status']).toBe('SUCCEEDED')
    expect(world.asked() - before).toBe(1)
  })

  test('duplicated, replayed and lost events: each flow is done once', async () => {
    const before = world.asked()
    const flows = await Promise.all(Array.from({ length: 6 }, () => world.flow()))
    const handle = world.handler({ concurrency: 3 })
    const heard = flows.slice(0, 4)
    const events = [...heard, ...heard, heard[0] ?? '', heard[0] ?? '']
    await Promise.all(events.map((flow) => handle(world.event(flow))))
    for (const flow of heard) await handle(world.event(flow))
    const daemon = createFlowDaemon({ firestore: world.place, open: world.open, adoptEveryMs: 0 })
    expect(await daemon.adopt()).toBe(2)
    await daemon.idle()
    await daemon.stop()
    for (const flow of flows) expect(await world.step(flow)).toMatchObject({ status: 'SUCCEEDED', attempts: 1 })
    expect(world.asked() - before).toBe(6)
  })

  test('a retry by hand is a new generation with a name of its own, and asks again', async () => {
    const flow = await world.flow({ prices: 'CASE-incomplete' })
    await world.handler()(world.event(flow))
    expect((await world.step(flow))['status']).toBe('FAILED')
    expect(await world.handler()(world.event(flow))).toMatchObject({ done: 0, code: 'NO_READY_STEP' })
    await world.client
      .collection(world.collection)
      .doc(flow)
      .update({ 'steps.ohlcv.outputs.gcs_uri': 'gs://bucket/inputs/CASE-fine' })
    const why = { code: 'run.ready', params: { since: 0 } } as const
    const expected = { generation: 1, states: ['failed'] } as const
    await world.store().steer({ run: `${flow}.report`, type: 'retry', by: 'ann', why, expect: expected })
    await world.handler()(world.event(flow))
    expect(await world.step(flow)).toMatchObject({ status: 'SUCCEEDED', generation: 2 })
    expect(world.objects(flow)).toEqual([`${flow}.report/g2/report.json`])
  })
})
