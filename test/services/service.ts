/**
 * Servers for tests: found on this machine, started on the loopback with folders of their own, stopped by their process id. One that is
 * not installed is a reason, with which its tests are skipped by name.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Service {
  readonly port: number
  /** Starts it, or starts it again on what it left behind. */
  start(): Promise<void>
  /** Asks it to stop, and waits until it has. */
  stop(): Promise<void>
  /** As a machine that loses power. */
  kill(): Promise<void>
  /** Stops it and removes its folders. */
  dispose(): Promise<void>
}

/** The first of these commands that can be run. */
export function commandOn(...names: readonly string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const candidates = names.flatMap((name) =>
    name.startsWith('/') ? [name] : folders.map((folder) => join(folder, name)),
  )
  return candidates.find((file) => {
    try {
      accessSync(file, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

const LOOK_MS = 50
const START_MAX_MS = 60_000

/** Resolves when the port is answered, or throws with what the process said when it has ended before. */
export async function answered(port: number, child: ChildProcess, said: () => string): Promise<void> {
  const until = performance.now() + START_MAX_MS
  while (performance.now() < until) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the server ended at once: ${said()}`)
    if (await reached(port)) return
    await sleep(LOOK_MS)
  }
  throw new Error(`nothing answers on port ${port} after ${START_MAX_MS / 1_000} s: ${said()}`)
}

function reached(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const end = (isThere: boolean) => {
      socket.destroy()
      resolve(isThere)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
}

export interface Spawned {
  readonly child: ChildProcess
  said(): string
}

const SAID_MAX = 4_000

export function started(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  cwd = tmpdir(),
): Spawned {
  // A group of its own, because a server may be a script with the real server as its child.
  const child = spawn(command, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      text = (text + String(chunk)).slice(-SAID_MAX)
    })
  return { child, said: () => text }
}

/** Signals the process and its children by the id of their group, and waits until none is left. */
export async function ended(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  const id = child?.pid
  if (id === undefined) return
  for (let isFirst = true; signalled(id, isFirst ? signal : 0); isFirst = false) await sleep(LOOK_MS)
}

/** False when the group is gone. */
function signalled(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal)
  } catch {
    return false
  }
}
