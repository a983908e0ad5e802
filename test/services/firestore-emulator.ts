/**
 * Google's Firestore emulator as a process of its own on a free port of the loopback; a missing Java or jar is told, not thrown.
 * It knows nothing of the store; every test takes a collection of its own, so that one emulator serves a whole file.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { Firestore } from '@google-cloud/firestore'

const JAR =
  process.env['FIRESTORE_EMULATOR_JAR'] ??
  '/usr/lib/google-cloud-sdk/platform/cloud-firestore-emulator/cloud-firestore-emulator.jar'
const MAIN = 'com.google.cloud.datastore.emulator.firestore.CloudFirestore'
const STARTS_WITHIN_MS = 60_000

/** Why the emulator cannot run here; `undefined` when it can. */
export function firestoreMissing(): string | undefined {
  if (!existsSync(JAR)) return `no Firestore emulator at ${JAR} (FIRESTORE_EMULATOR_JAR)`
  const java = spawnSync('java', ['-version'])
  return java.status === 0 ? undefined : 'no java on PATH, which the Firestore emulator needs'
}

export interface FirestoreEmulator {
  readonly host: string
  /** A client of its own; closed with the emulator. */
  client(): Firestore
  /** A name that no other test has. */
  collection(): string
  close(): Promise<void>
}

export async function startFirestoreEmulator(): Promise<FirestoreEmulator> {
  const port = await freePort()
  const child = spawn('java', ['-Xmx512m', '-cp', JAR, MAIN, 'start', '--host=127.0.0.1', `--port=${port}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  await running(child)
  const clients: Firestore[] = []
  let collections = 0
  return {
    host: `127.0.0.1:${port}`,
    client: () => {
      // With these the real client asks nobody for an account.
      process.env['METADATA_SERVER_DETECTION'] = 'none'
      process.env['FIRESTORE_EMULATOR_HOST'] = `127.0.0.1:${port}`
      const client = new Firestore({ projectId: 'reprise-test' })
      clients.push(client)
      return client
    },
    collection: () => {
      collections += 1
      return `flow_runs_${process.pid}_${collections}`
    },
    close: async () => {
      await Promise.all(clients.map((client) => client.terminate()))
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await gone
    },
  }
}

function running(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('the Firestore emulator did not start')), STARTS_WITHIN_MS)
    let text = ''
    const look = (chunk: Buffer) => {
      text += chunk.toString()
      if (!text.includes('running')) return
      clearTimeout(late)
      resolve()
    }
    child.stdout?.on('data', look)
    child.stderr?.on('data', look)
    child.once('exit', (code) => reject(new Error(`the Firestore emulator ended with ${code}: ${text.slice(-2_000)}`)))
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
