import type { AddressInfo } from 'node:net'
import { cloudEvent } from '@google-cloud/functions-framework'
import { getTestServer } from '@google-cloud/functions-framework/testing'
import { expect, test } from 'vitest'
import { type FlowOutcome, firestoreDocuments } from '../../src/flows/index.ts'
import { adoptFlow } from '../../src/stores/firestore/index.ts'
import { systemClock } from '../../src/time/clock.ts'
import { onEmulator } from '../services/on-emulator.fixtures.ts'
import { type ReportWorld, reportWorld } from './report-world.fixtures.ts'

let world: ReportWorld
onEmulator(async () => {
  world = await reportWorld()
  return world
})

test('a CloudEvent of Firestore, as the platform posts it, runs the step of its document', async () => {
  const outcomes: FlowOutcome[] = []
  const handle = world.handler({ concurrency: 2 })
  cloudEvent('flow', async (event: { readonly subject?: string }) => {
    outcomes.push(await handle(event))
  })
  const server = getTestServer('flow')
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const flow = await world.flow()
  const post = () =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/protobuf',
        'ce-id': 'one-and-the-same',
        'ce-specversion': '1.0',
        'ce-type': 'google.cloud.firestore.document.v1.written',
        'ce-source': '//firestore.googleapis.com/projects/p/databases/(default)',
        'ce-subject': `documents/${world.collection}/${flow}`,
      },
      body: new Uint8Array([1, 2, 3]),
    })
  const answers = await Promise.all([post(), post(), post()])
  server.close()
  expect(answers.map(({ status }) => status)).toEqual([204, 204, 204])
  expect(outcomes.map(({ done }) => done).sort()).toEqual([0, 0, 1])
  expect((await world.step(flow))['status']).toBe('SUCCEEDED')
})

test('events about other documents are refused by name', async () => {
  const handle = world.handler()
  await expect(handle({ subject: 'documents/users/7' })).rejects.toThrow(
    /about "documents\/users\/7"\. Allowed: documents of/,
  )
  await expect(handle({ subject: `documents/${world.collection}/a/steps/b` })).rejects.toThrow(/Allowed/)
})

/** Sources whose schema is read only after `look`. */
function openAfter(look: () => Promise<unknown>): ReportWorld['open'] {
  const sources = firestoreDocuments({ client: world.client })
  return world.openWith({ ...sources, schema: (id) => look().then(() => sources.schema(id)) })
}

test('an invocation works on its own document, under leases that outlive it by a minute, whenever they begin', async () => {
  const [flow, other] = [await world.flow(), await world.flow()]
  const { report } = (await world.read(flow))['steps']
  await world.client.collection(world.collection).doc(flow).update({ 'steps.second': report })
  await adoptFlow(world.place, other)
  const leases: { readonly startedAt: number; readonly leaseUntil: number }[] = []
  const open = openAfter(async () => {
    const steps = Object.values((await world.read(flow))['steps']) as { status: string }[]
    leases.push(steps.find(({ status }) => status === 'RUNNING') as never)
    await systemClock.sleep(1_000)
  })
  expect(await world.handler({ open })(world.event(flow))).toEqual({ flow, done: 2 })
  const [first, second] = leases as [(typeof leases)[number], (typeof leases)[number]]
  expect(first.leaseUntil - first.startedAt).toBeGreaterThan(780_000)
  expect(first.leaseUntil - first.startedAt).toBeLessThanOrEqual(780_000 + 60_000)
  expect(second.startedAt - first.startedAt).toBeGreaterThanOrEqual(1_000)
  expect(Math.abs(second.leaseUntil - first.leaseUntil)).toBeLessThan(500)
  expect(await world.step(other)).toMatchObject({ status: 'READY' })
})

test('a step for which too little time is left is given back once, and the next event does it', async () => {
  const flow = await world.flow()
  const before = world.asked()
  const open = openAfter(() => systemClock.sleep(1_100))
  expect(await world.handler({ open, invocationMs: 121_000 })(world.event(flow))).toEqual({ flow, done: 1 })
  expect(await world.step(flow)).toMatchObject({ status: 'READY', attempts: 1 })
  expect(world.asked()).toBe(before)
  expect(await world.handler()(world.event(flow))).toEqual({ flow, done: 1 })
  expect(await world.step(flow)).toMatchObject({ status: 'SUCCEEDED', attempts: 2 })
})

test('waiting for a seat is time of the invocation; who gets none in time leaves the step to the next event', async () => {
  const flows = [await world.flow(), await world.flow()] as const
  const late = await world.flow()
  const ends: (number | undefined)[] = []
  const open: ReportWorld['open'] = (store) => {
    const reprise = openAfter(() => systemClock.sleep(500))(store)
    return {
      ...reprise,
      work: (options) => {
        ends.push(options?.endsAt)
        return reprise.work(options)
      },
    }
  }
  const handle = world.handler({ open })
  await Promise.all([handle(world.event(flows[0])), handle(world.event(flows[1]))])
  expect(Math.abs((ends[1] ?? 0) - (ends[0] ?? 0))).toBeLessThan(400)
  const short = world.handler({ open, invocationMs: 1_000, finalizeReserveMs: 900 })
  const first = short(world.event(await world.flow()))
  await expect(short(world.event(late))).rejects.toMatchObject({
    code: 'flow.busy',
    message: expect.stringMatching(/concurrency/),
  })
  await first
  expect(await world.step(late)).not.toHaveProperty('attempts')
})

test('no more invocations work at a time than there are seats', async () => {
  let now = 0
  let most = 0
  const open: ReportWorld['open'] = (store) => {
    const reprise = world.open(store)
    return {
      ...reprise,
      work: (options) => {
        now += 1
        most = Math.max(most, now)
        return reprise.work(options)
      },
      close: async () => {
        now -= 1
        await reprise.close()
      },
    }
  }
  const flows = await Promise.all(Array.from({ length: 6 }, () => world.flow()))
  const handle = world.handler({ concurrency: 2, open })
  const outcomes = await Promise.all(flows.map((flow) => handle(world.event(flow))))
  expect(outcomes.every(({ done }) => done === 1)).toBe(true)
  expect(most).toBe(2)
})
