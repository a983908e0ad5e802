/**
 * A server that speaks MongoDB's wire protocol: a `mongod` if one is installed, else FerretDB, built once from its Go module into a
 * cache outside the repository. Which of them it is, is told, so that a proof can say what it ran on.
 */
import type { ChildProcess } from 'node:child_process'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { answered, commandOn, ended, freePort, type Service, started } from './service.ts'

export interface MongoService extends Service {
  readonly url: string
  readonly server: 'mongod' | 'FerretDB'
}

const MODULE = fileURLToPath(new URL('./ferretdb/', import.meta.url))

/** Why there is none; undefined when there is one. FerretDB is not built in passing: that takes minutes and a module proxy. */
export function noMongo(): string | undefined {
  if (commandOn('mongod') || existsSync(binary())) return undefined
  return 'neither mongod nor FerretDB is there; node scripts/services.ts builds the latter'
}

/** Why it cannot be built; undefined when it can. */
export function noFerretdbBuild(): string | undefined {
  return commandOn('go', '/usr/local/go/bin/go') ? undefined : 'neither mongod nor Go (to build FerretDB) is installed'
}

function binary(): string {
  const hash = createHash('sha256')
  for (const file of ['main.go', 'go.mod', 'go.sum']) hash.update(readFileSync(join(MODULE, file)))
  const cache = process.env['REPRISE_TEST_CACHE'] ?? join(homedir(), '.cache', 'reprise-tests')
  return join(cache, `ferretdb-${hash.digest('hex').slice(0, 12)}`)
}

/** The program, built when it is not there. Two builds at once are harmless: the last to be ready replaces an equal one. */
export function builtFerretdb(): string {
  const target = binary()
  if (existsSync(target)) return target
  mkdirSync(join(target, '..'), { recursive: true })
  const made = `${target}.${process.pid}`
  const go = commandOn('go', '/usr/local/go/bin/go') ?? 'go'
  const built = spawnSync(go, ['build', '-mod=readonly', '-o', made, '.'], { cwd: MODULE, encoding: 'utf8' })
  if (built.status !== 0) throw new Error(`FerretDB could not be built: ${built.stderr}`)
  renameSync(made, target)
  return target
}

export async function mongoService(): Promise<MongoService> {
  const mongod = commandOn('mongod')
  const folder = mkdtempSync(join(tmpdir(), 'reprise-mongo-'))
  const port = await freePort()
  let child: ChildProcess | undefined
  const start = async () => {
    const run = mongod
      ? started(mongod, ['--dbpath', folder, '--port', String(port), '--bind_ip', '127.0.0.1', '--quiet'])
      : started(builtFerretdb(), [`127.0.0.1:${port}`, folder], { ...process.env, DO_NOT_TRACK: '1' })
    child = run.child
    await answered(port, run.child, run.said)
  }
  await start()
  return {
    port,
    url: `mongodb://127.0.0.1:${port}/`,
    server: mongod ? 'mongod' : 'FerretDB',
    start,
    stop: () => ended(child, 'SIGTERM'),
    kill: () => ended(child, 'SIGKILL'),
    async dispose() {
      await ended(child, 'SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
