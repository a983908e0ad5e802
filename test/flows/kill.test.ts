/**
 * Report steps whose process is killed (SIGKILL) when the object is written and the end is not: once before it hears that the object is
 * there, once after, and so on. Judged by the provider's log and the bucket, not by what a process says of itself.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { FULL } from '../chaos/arena.ts'
import { onEmulator } from '../services/on-emulator.fixtures.ts'
import type { ProcessSetup } from './report-process.ts'
import { type ReportWorld, reportWorld } from './report-world.fixtures.ts'

const KILLS = FULL ? 100 : 4
const LEASE_OVER_MS = 15 * 60_000
const program = fileURLToPath(new URL('./report-process.ts', import.meta.url))

let world: ReportWorld
onEmulator(async () => {
  world = await reportWorld()
  return world
})

function start(change: Pick<ProcessSetup, 'finish' | 'begin' | 'aheadMs'>): ChildProcess {
  const { collection, server, simulator, emulator } = world
  const setup: ProcessSetup = { collection, gcsUrl: server.url, modelUrl: simulator.url, ...change }
  const env = {
    ...process.env,
    FIRESTORE_EMULATOR_HOST: emulator.host,
    METADATA_SERVER_DETECTION: 'none',
    GOOGLE_GENERATIVE_AI_API_KEY: 'key',
  }
  return fork(program, [JSON.stringify(setup)], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
}

test(`${KILLS} kills between the object and the end: no second question, one object each`, {
  timeout: 60_000 + KILLS * 10_000,
}, async () => {
  const flows: string[] = []
  const told: unknown[] = []
  for (let n = 0; n < KILLS; n += 1) {
    const flow = await world.flow()
    const hangs = n % 2 === 1
    const child = start({ aheadMs: n * LEASE_OVER_MS, finish: flows.slice(-1), begin: { flow, hangs } })
    child.on('message', (message) => {
      if (message === 'between') child.kill('SIGKILL')
      else told.push(message)
    })
    if (!hangs) {
      const onDone = () => child.kill('SIGKILL')
      world.server.fail({ verb: 'insert', how: 'silent-after', onDone, of: `${flow}.` })
    }
    const [, signal] = await once(child, 'exit')
    expect([n, signal]).toEqual([n, 'SIGKILL'])
    expect([(await world.step(flow))['status'], world.objects(flow).length]).toEqual(['RUNNING', 1])
    flows.push(flow)
  }
  const last = start({ aheadMs: KILLS * LEASE_OVER_MS, finish: flows.slice(-1), begin: undefined })
  last.on('message', (message) => told.push(message))
  expect(await once(last, 'exit')).toEqual([0, null])
  expect(told).toEqual(flows.map((flow) => ({ flow, done: 1 })))
  for (const flow of flows) {
    const { status, outputs, attempts, error } = await world.step(flow)
    expect([flow, status, attempts, error]).toEqual([flow, 'SUCCEEDED', 2, undefined])
    expect(world.objects(flow).map((name) => `gs://bucket/${name}`)).toEqual([outputs.gcs_uri])
  }
  expect(world.asked()).toBe(KILLS)
})
