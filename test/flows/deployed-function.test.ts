/**
 * The function and the daemon of deploy/firestore as their package starts them: processes of npm in a folder with its files and what they
 * depend on, told by variables alone where Firestore, the bucket and the model are, and called with CloudEvents over HTTP.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { onEmulator } from '../services/on-emulator.fixtures.ts'
import { ended } from '../services/service.ts'
import { type ReportWorld, reportWorld } from './report-world.fixtures.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const PROJECT = 'reprise-test'
let world: ReportWorld
let folder: string
let child: ChildProcess | undefined
let url: string
let printed = ''

onEmulator(async () => {
  world = await reportWorld()
  folder = mkdtempSync(join(tmpdir(), 'reprise-function-'))
  cpSync(join(root, 'deploy/firestore/function'), folder, { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const port = await freePort()
  url = `http://127.0.0.1:${port}/`
  child = await started(port)
  return { close }
})

async function close(): Promise<void> {
  if (child?.pid !== undefined && child.exitCode === null) {
    const gone = once(child, 'exit')
    // npm, its shell and the function are one group.
    process.kill(-child.pid, 'SIGKILL')
    await gone
  }
  rmSync(folder, { recursive: true, force: true })
  await world.close()
}

const started = (port: number): Promise<ChildProcess> =>
  spawned(['start'], { PORT: String(port) }, 'URL: http://', (chunk) => {
    printed += chunk
  })

/** A process of npm in the folder, from when it says this word on. */
async function spawned(
  args: readonly string[],
  env: Record<string, string>,
  word: string,
  heard: (chunk: string) => void = () => {},
): Promise<ChildProcess> {
  const imports = ['../e2e/use-source.ts', '../services/loopback-only.ts'].map(
    (file) => `--import ${new URL(file, import.meta.url).href}`,
  )
  const own = spawn('npm', args, {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      NODE_OPTIONS: imports.join(' '),
      GOOGLE_CLOUD_PROJECT: PROJECT,
      FIRESTORE_EMULATOR_HOST: world.emulator.host,
      STORAGE_EMULATOR_HOST: world.server.url,
      METADATA_SERVER_DETECTION: 'none',
      GOOGLE_GENERATIVE_AI_BASE_URL: `${world.simulator.url}/v1beta`,
      GOOGLE_GENERATIVE_AI_API_KEY: 'key',
      REPORTS_BUCKET: 'bucket',
      FLOW_COLLECTION: world.collection,
      ...env,
    },
  })
  let said = ''
  await new Promise<void>((resolve, reject) => {
    const look = (chunk: Buffer) => {
      said += chunk.toString()
      heard(chunk.toString())
      if (said.includes(word)) resolve()
    }
    own.stdout?.on('data', look)
    own.stderr?.on('data', look)
    own.once('exit', (code) => reject(new Error(`it ended with ${code}: ${said.slice(-2_000)}`)))
  })
  return own
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

/** One field of a message: what DocumentEventData needs of protobuf, where all texts are short. */
const field = (number: number, bytes: Uint8Array): Uint8Array =>
  Uint8Array.from([
    number * 8 + 2,
    ...(bytes.length < 128 ? [bytes.length] : [(bytes.length % 128) | 128, bytes.length >> 7]),
    ...bytes,
  ])

/** `DocumentEventData { value: Document { name } }`, as Eventarc posts it in binary mode. */
async function post(flow: string, id: string): Promise<number> {
  const database = `projects/${PROJECT}/databases/(default)`
  const document = `${world.collection}/${flow}`
  const name = new TextEncoder().encode(`${database}/documents/${document}`)
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/protobuf',
      'ce-specversion': '1.0',
      'ce-id': id,
      'ce-time': new Date(1_795_000_000_000).toISOString(),
      'ce-type': 'google.cloud.firestore.document.v1.written',
      'ce-source': `//firestore.googleapis.com/${database}`,
      'ce-subject': `documents/${document}`,
      'ce-dataschema':
        'https://github.com/googleapis/google-cloudevents/blob/main/proto/google/events/cloud/firestore/v1/data.proto',
      'ce-project': PROJECT,
      'ce-database': '(default)',
      'ce-namespace': '(default)',
      'ce-location': 'eur3',
      'ce-document': document,
    },
    body: field(1, field(1, name)).slice(),
  })
  return answer.status
}

const outcomes = (): unknown[] =>
  printed.split('\n').flatMap((line) => (line.startsWith('{"flow"') ? JSON.parse(line) : []))

test('an event of Firestore finishes the step of its document; the same event again does nothing', async () => {
  const flow = await world.flow()
  expect(await post(flow, 'one')).toBe(204)
  const step = await world.step(flow)
  expect([step['status'], step['attempts'], world.asked()]).toEqual(['SUCCEEDED', 1, 1])
  expect(world.objects(flow).map((name) => `gs://bucket/${name}`)).toEqual([step['outputs'].gcs_uri])
  const before = await world.read(flow)
  expect(await post(flow, 'one')).toBe(204)
  expect(await world.read(flow)).toEqual(before)
  expect([world.asked(), world.objects(flow).length]).toEqual([1, 1])
  expect(outcomes()).toEqual([
    { flow, done: 1 },
    { flow, done: 0, code: 'NO_READY_STEP' },
  ])
})

test('a document that is no flow gets its error, and the event is answered', async () => {
  const flow = await world.flow({ top: { steps: [] } })
  expect(await post(flow, 'two')).toBe(204)
  expect((await world.read(flow))['error']).toMatchObject({ code: 'FLOW_RUN_INVALID' })
})

test('the daemon finishes what waits and what no event came for, and ends when it is told to', async () => {
  const [down, lost] = [await world.flow({ prices: 'CASE-down' }), await world.flow()]
  expect(await post(down, 'three')).toBe(204)
  expect((await world.step(down))['status']).toBe('WAITING')
  const ready = { 'steps.ohlcv.outputs.gcs_uri': 'gs://bucket/inputs/CASE-fine', 'steps.report.dueAt': 1 }
  await world.client.collection(world.collection).doc(down).update(ready)
  const daemon = await spawned(['run', 'daemon'], { FLOW_POLL_MS: '200' }, 'looks at')
  try {
    await vi.waitFor(
      async () => {
        for (const flow of [down, lost]) expect((await world.step(flow))['status']).toBe('SUCCEEDED')
      },
      { timeout: 30_000, interval: 200 },
    )
  } finally {
    // Waits until nobody of its group is left.
    await ended(daemon, 'SIGTERM')
  }
}, 60_000)

test('its package asks for what it imports, and for nothing else', () => {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const texts = ['index.js', 'reports.js', 'daemon.js'].map((file) => readFileSync(join(folder, file), 'utf8'))
  const imported = [...texts.join('').matchAll(/from '((?:@[^/']+\/)?[^./'][^/']*)/g)].map(([, name]) => name)
  // The model's and the bucket's clients are optional peers of reprise, loaded when used.
  const peers = ['@ai-sdk/google', '@google-cloud/storage', 'ai']
  expect(Object.keys(dependencies).sort()).toEqual([...new Set([...imported, ...peers])].sort())
})
