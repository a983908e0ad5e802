/**
 * What the compose file and the Dockerfile name is really there: words of the command line, variables of the sweep, files that are mounted,
 * and a health check that the very command passes. No container is started; the command is, with its variables, on real servers.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { runLine } from '../../src/cli/run-line.fixtures.ts'
import { readVariables } from '../../src/sweep/variables.ts'
import { mongoService, noMongo } from '../services/mongodb.ts'
import { noRabbit, rabbitService } from '../services/rabbitmq.ts'
import { freePort } from '../services/service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const deploy = join(root, 'deploy')
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8')

/** Of a file that is ours and written plainly: lists in brackets, variables one to a line. */
const service = /^ {2}retry-job:\n((?: {4}.*\n|\n)+)/m.exec(read('deploy/compose.yml'))?.[1] ?? ''

function listOf(field: string): string[] {
  const [, list = '[]'] = new RegExp(`^ +${field}:\\s*(\\[[^\\]]*\\])`, 'm').exec(service) ?? []
  return JSON.parse(list.replace(/,\s*\]$/, ']'))
}

const command = listOf('command')
const health = listOf('test')

/** With what compose puts in: a default behind `:-`, or the secret that the user sets. */
const variables: Readonly<Record<string, string>> = Object.fromEntries(
  [...service.matchAll(/^ {6}([A-Z][A-Z_]+): (.+)$/gm)].map(([, name = '', value = '']) => [
    name,
    value
      .replace(/^"(.*)"$/, '$1')
      .replace(/\$\{[A-Z_]+:-([^}]*)\}/, '$1')
      .replace(/\$\{[A-Z_]+:\?[^}]*\}/, 'a-secret-of-ones-own'),
  ]),
)

describe('the retry job of the compose file', () => {
  test('is read whole', () => {
    expect([command[0], health[0], Object.keys(variables).length]).toEqual(['sweep', 'CMD', 12])
  })

  test('asks for a command and flags that there are', async () => {
    const { out, exit } = await runLine(`${command[0]} --help`, { cwd: root })
    expect(exit).toBe(0)
    for (const flag of command.filter((word) => word.startsWith('--'))) expect(out, flag).toContain(`${flag} `)
  })

  test('sets variables that the sweep reads, to values that it takes', () => {
    const asked = new Set<string>()
    const spied = new Proxy(variables, {
      get: (target, name) => {
        asked.add(String(name))
        return target[String(name)]
      },
    })
    expect(readVariables(spied)).toMatchObject({
      intervalMs: 900_000,
      metrics: 'prometheus',
      source: { database: 'documents' },
    })
    expect(Object.keys(variables).filter((name) => !asked.has(name))).toEqual([])
  })

  test('mounts what is there, where its command looks for it', async () => {
    const [, from = '', to = ''] = /- (\.\/sweep\.ts):([^:]+):ro/.exec(service) ?? []
    expect(existsSync(join(deploy, from))).toBe(true)
    const [, folder] = /^WORKDIR (\/app)$/m.exec(read('deploy/Dockerfile')) ?? []
    expect(join(folder ?? '', command[command.indexOf('--config') + 1] ?? '')).toBe(to)
    const { default: sweep } = await import(pathToFileURL(join(deploy, from)).href)
    expect(sweep.collections.map(({ name }: { name: string }) => name)).toEqual([
      'archives',
      'messages',
      'chunks',
      'threads',
    ])
    for (const [, path = ''] of read('deploy/compose.yml').matchAll(/- (\.\/[\w./-]+):/g))
      expect(existsSync(join(deploy, path)), path).toBe(true)
  })

  test('has its health and its metrics on the port that it serves, and Prometheus asks that one', () => {
    const port = command[command.indexOf('--metrics-port') + 1]
    expect(health.at(-1)).toContain(`http://127.0.0.1:${port}/healthz`)
    expect(read('deploy/prometheus/prometheus.yml')).toContain(`"retry-job:${port}"`)
    // Only then does the daemon serve anything.
    expect(variables['METRICS_BACKEND']).toBe('prometheus')
  })

  const missing = noMongo() ?? noRabbit()
  test('passes its health check when its command runs with its variables', { timeout: 120_000 }, async (context) => {
    if (missing !== undefined) return context.skip(missing)
    const folder = mkdtempSync(join(tmpdir(), 'reprise-compose-'))
    const [mongo, rabbit, port] = await Promise.all([mongoService(), rabbitService(), freePort()])
    const { MONGODB_USERNAME: _user, MONGODB_PASSWORD: _password, ...others } = variables
    const env = {
      PATH: process.env['PATH'],
      ...others,
      ...{ MONGODB_HOST: '127.0.0.1', MONGODB_PORT: String(mongo.port) },
      ...{ RABBITMQ_HOST: '127.0.0.1', RABBITMQ_PORT: String(rabbit.port) },
      ...{ RABBITMQ_USERNAME: 'guest', RABBITMQ_PASSWORD: 'guest' },
      REPRISE_STORE: `sqlite:${folder}/reprise.db`,
    }
    const here = (word: string) => word.replace('9465', String(port)).replace('0.0.0.0', '127.0.0.1')
    const words = command.map(here)
    const source = ['--import', join(root, 'test/e2e/use-source.ts'), join(root, 'src/cli/main.ts')]
    const job = spawn(process.execPath, [...source, ...words], {
      cwd: deploy,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const ended = once(job, 'exit') as Promise<[number | null, string | null]>
    let said = ''
    job.stderr.on('data', (chunk) => {
      said += String(chunk)
    })
    try {
      const [, program = '', ...rest] = health.map(here)
      expect(program).toBe('node')
      const isHealthy = () => spawnSync(process.execPath, rest).status === 0
      expect(isHealthy(), 'before it is up').toBe(false)
      const until = performance.now() + 60_000
      while (!isHealthy() && job.exitCode === null && performance.now() < until) await sleep(200)
      expect(isHealthy(), said).toBe(true)
      const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      expect(page).toContain('retry_job_interval_seconds 900')
    } finally {
      job.kill('SIGTERM')
      const [code] = await ended
      await Promise.all([mongo.dispose(), rabbit.dispose()])
      rmSync(folder, { recursive: true, force: true })
      expect(code, said).toBe(0)
    }
  })
})

test('every service of the compose file has a health check and comes back by itself', () => {
  const [, services = ''] = /^services:\n([\s\S]*?)^volumes:/m.exec(read('deploy/compose.yml')) ?? []
  const blocks = services.split(/^ {2}(?=[a-z-]+:\n)/m).slice(1)
  expect(blocks.map((block) => block.split(':')[0])).toHaveLength(7)
  for (const block of blocks) {
    expect(block).toMatch(/^ {4}healthcheck:\n {6}test:/m)
    expect(block).toMatch(/^ {4}restart: unless-stopped$/m)
  }
})

test('the image starts the program that the package has, with clients that it may use', () => {
  const dockerfile = read('deploy/Dockerfile')
  const { name, bin, peerDependencies } = JSON.parse(read('package.json'))
  const [, entry = '[]'] = /^ENTRYPOINT (.+)$/m.exec(dockerfile) ?? []
  expect(JSON.parse(entry)).toEqual(['node', `node_modules/${name}/${bin.reprise}`])
  const [, clients = ''] = /reprise\.tgz ([a-z ]+) && rm/.exec(dockerfile) ?? []
  for (const client of clients.split(' ')) expect(Object.keys(peerDependencies)).toContain(client)
  for (const [, script = ''] of dockerfile.matchAll(/node (scripts\/[\w-]+\.ts)/g))
    expect(existsSync(join(root, script)), script).toBe(true)
  // Without install scripts the package `node` of the development dependencies has no binary: the image's own Node builds.
  expect(dockerfile).not.toContain('npx node')
  expect(dockerfile).toMatch(/^USER node$/m)
})
