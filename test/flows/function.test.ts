import type { AddressInfo } from 'node:net'
import { cloudEvent } from '@google-cloud/functions-framework'
import { getTestServer } from '@google-cloud/functions-framework/testing'
import { expect, test } from 'vitest'
import { type FlowOutcome, firestoreDocuments } from '../../src/flows/index.ts'
import { adoptFlow } from '../../src/stores/firestore/index.ts'
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

test('an invocation works on its own document, under a lease that outlives it by a minute', async () => {
  const [flow, other] = [await world.flow(), await world.flow()]
  await adoptFlow(world.place, other)
  const sources = firestoreDocuments({ client: world.client })
  let leaseMs = 0
  const open = world.openWith({
    ...sources,
    schema: async (id) => {
      const { leaseUntil, startedAt } = await world.step(flow)
      leaseMs = leaseUntil - startedAt
      return sources.schema(id)
    },
  })
  expect(await world.handler({ open })(world.event(flow))).toEqual({ flow, done: 1 })
  expect(leaseMs).toBe(780_000 + 60_000)
  expect(await world.step(other)).toMatchObject({ status: 'READY' })
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
