/**
 * The sweep against real servers: a crash at each of its steps, two sweepers at once, a broker and a database that are killed and come
 * back. What is counted is read from the database, what was sent from the broker's queue.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rabbitmqBus } from '../../src/bus/rabbitmq/index.ts'
import { runLine } from '../../src/cli/run-line.fixtures.ts'
import type { Bus } from '../../src/ports/bus.ts'
import { SWEEP_CRASH_POINTS, type SweepCrashPoint } from '../../src/sweep/crash-point.ts'
import type { PassReport, Sweep } from '../../src/sweep/sweep.ts'
import { systemClock } from '../../src/time/clock.ts'
import { type MongoService, mongoService, noMongo } from '../services/mongodb.ts'
import { noRabbit, type RabbitService, rabbitService } from '../services/rabbitmq.ts'
import { SEND_LEASE_MS, type SweeperSetup, sweeperOf } from './sweep-process.ts'

const PROGRAM = fileURLToPath(new URL('./sweep-process.ts', import.meta.url))
const HOUR = 3_600_000
const reason = noMongo() ?? noRabbit()

let mongo: MongoService
let rabbit: RabbitService
let client: MongoClient
let bus: Bus

beforeAll(async () => {
  if (reason !== undefined) return
  ;[mongo, rabbit] = await Promise.all([mongoService(), rabbitService()])
  client = new MongoClient(mongo.url)
  bus = rabbitmqBus({ url: rabbit.url })
  // Long before its broker is killed: a queue of RabbitMQ 3.10 that is a second old may not find itself again after kill -9.
  await prepared('busdown')
  await bus.prepare([{ queue: 'busdown.standing', topics: [] }])
  console.log(`The sweep under crashes runs on ${mongo.server} and RabbitMQ.`)
}, 240_000)
afterAll(async () => {
  await bus?.close()
  await client?.close()
  await rabbit?.dispose()
  await mongo?.dispose()
}, 60_000)

const proof = (name: string, body: () => Promise<void>) =>
  test(name, { timeout: 180_000 }, async (context) => (reason === undefined ? body() : context.skip(reason)))

interface Ended {
  readonly signal: NodeJS.Signals | null
  readonly code: number | null
  readonly reports: readonly PassReport[]
  readonly said: string
}

function sweeper(setup: Omit<SweeperSetup, 'mongodb' | 'rabbitmq'>, crashAt?: SweepCrashPoint): Promise<Ended> {
  const whole: SweeperSetup = { mongodb: mongo.url, rabbitmq: rabbit.url, ...setup }
  const env = { ...process.env, ...(crashAt === undefined ? {} : { REPRISE_CRASH_AT: crashAt }) }
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(whole)], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => {
    out += String(chunk)
  })
  child.stderr.on('data', (chunk) => {
    err += String(chunk)
  })
  return new Promise((resolve) =>
    child.once('close', (code, signal) =>
      resolve({
        signal,
        code,
        reports: out
          .split('\n')
          .filter(Boolean)
          .map((text) => JSON.parse(text) as PassReport),
        said: err,
      }),
    ),
  )
}

async function prepared(name: string): Promise<void> {
  const sweep = sweeperOf({ mongodb: mongo.url, rabbitmq: rabbit.url, name, passes: 0, pauseMs: 0 })
  await sweep.prepare()
  await sweep.close()
  await bus.prepare([{ queue: `${name}.work`, topics: [`${name}.again`] }])
}

/** Five silent ones, two that failed an hour ago, one whose attempts are spent. */
async function seeded(name: string, silent = 5): Promise<void> {
  await prepared(name)
  const now = Date.now()
  const created = new Date(now - 48 * HOUR)
  const base = { status: 'pending', created }
  await client
    .db('chaos')
    .collection(name)
    .insertMany([
      ...Array.from({ length: silent }, (_, index) => ({ ...base, name: `silent-${index}` })),
      ...['failed-0', 'failed-1'].map((id) => ({
        ...base,
        name: id,
        attemptCount: 1,
        lastAttemptTime: new Date(now - HOUR),
      })),
      { ...base, name: 'spent', attemptCount: 3, lastAttemptTime: created },
    ])
  const failures = ['failed-0', 'failed-1'].map((id) => ({
    id: `event-${name}-${id}`,
    topic: `${name}.failed`,
    body: JSON.stringify({ event_id: `f-${id}`, data: { name: id, error_message: 'connect ECONNREFUSED' } }),
  }))
  expect(await bus.send(failures)).toEqual(['sent', 'sent'])
}

async function sentIds(name: string): Promise<string[]> {
  const ids: string[] = []
  for (;;) {
    const taken = await bus.take(`${name}.work`, 500)
    if (taken.length === 0) return ids
    for (const each of taken) {
      ids.push(each.id)
      await each.ack()
    }
  }
}

async function documents(name: string) {
  const all = await client.db('chaos').collection(name).find().toArray()
  return new Map(all.map((each) => [String(each['name']), each]))
}

const expectedIds = (name: string, silent = 5) =>
  [
    ...Array.from({ length: silent }, (_, index) => `sweep/${name}/silent-${index}/1.1`),
    ...['failed-0', 'failed-1'].map((id) => `sweep/${name}/${id}/1.2`),
  ].sort()

async function expectAllDone(name: string, silent = 5): Promise<string[]> {
  const ids = await sentIds(name)
  expect([...new Set(ids)].sort()).toEqual(expectedIds(name, silent))
  const left = await documents(name)
  expect(left.size).toBe(silent + 2)
  for (const [id, each] of left) {
    expect(each['attemptCount'], id).toBe(id.startsWith('failed') ? 2 : 1)
    expect(each['reprise'].outbox, id).toBeUndefined()
  }
  const dead = await documents(`${name}_dead`)
  expect([...dead.keys()]).toEqual(['spent'])
  expect(dead.get('spent')).toMatchObject({ status: 'failed_max_retries', attemptCount: 3 })
  expect(await bus.depth(`${name}.failed`)).toBe(0)
  return ids
}

/** Each step at full size; else the three that matter most, since every crash costs processes. */
const FULL = process.env['REPRISE_TEST_CHAOS'] === 'full'
const POINTS: readonly SweepCrashPoint[] = FULL
  ? SWEEP_CRASH_POINTS
  : ['sweep-after-hear', 'sweep-after-count', 'sweep-after-send']

const CRASHES: readonly (readonly SweepCrashPoint[])[] = POINTS.map((point) =>
  point === 'sweep-after-take-over' ? (['sweep-after-count', point] as const) : ([point] as const),
)

describe('a crash', () => {
  for (const points of CRASHES)
    proof(`${points.join(', then ')}: nothing is lost, nothing is counted twice`, async () => {
      const name = `c${points.join('').replaceAll('sweep-after', '').replaceAll('-', '')}`
      await seeded(name)
      for (const point of points) {
        const died = await sweeper({ name, passes: 1, pauseMs: 0 }, point)
        expect(died.signal, died.said).toBe('SIGKILL')
        await systemClock.sleep(SEND_LEASE_MS)
      }
      const healed = await sweeper({ name, passes: 2, pauseMs: SEND_LEASE_MS + 100 })
      expect(healed.code, healed.said).toBe(0)
      const ids = await expectAllDone(name)
      // An event goes out twice only when the sender died between the broker's answer and its own note of it.
      if (points[0] !== 'sweep-after-send') expect(ids).toHaveLength(7)
    })
})

describe('two sweepers at once', () => {
  proof('begin each document once', async () => {
    await seeded('twins', 60)
    const both = await Promise.all(
      [1, 2].map(() => sweeper({ name: 'twins', passes: 2, pauseMs: 50, sendLeaseMs: 120_000 })),
    )
    expect(both.map(({ code, said }) => [code, said])).toEqual([
      [0, ''],
      [0, ''],
    ])
    const ids = await expectAllDone('twins', 60)
    expect(ids).toHaveLength(62)
  })
})

describe('by variables alone', () => {
  proof('the shipped collections are swept on real servers', async () => {
    const [, user, password] = /\/\/(\w+):(\w+)@/.exec(rabbit.url) ?? []
    const env = {
      MONGODB_HOST: '127.0.0.1',
      MONGODB_PORT: String(mongo.port),
      MONGODB_DATABASE: 'copilot',
      RABBITMQ_HOST: '127.0.0.1',
      RABBITMQ_PORT: String(rabbit.port),
      RABBITMQ_USERNAME: user ?? '',
      RABBITMQ_PASSWORD: password ?? '',
      RABBITMQ_EXCHANGE: 'copilot.events',
      RETRY_JOB_STUCK_THRESHOLD_HOURS: '1',
      METRICS_BACKEND: 'none',
    }
    const own = rabbitmqBus({ url: rabbit.url, exchange: 'copilot.events' })
    await own.prepare([{ queue: 'summarization', topics: ['summarization.requested'] }])
    const long = new Date(Date.now() - 2 * HOUR)
    const threads = client
      .db('copilot')
      .collection<{ _id: string; status: string; attemptCount: number; lastAttemptTime: Date }>('threads')
    await threads.insertOne({ _id: 'thread-1', status: 'processing', attemptCount: 1, lastAttemptTime: long })
    const ran = await runLine('--json sweep --once', { env, clock: systemClock })
    expect(ran, ran.err).toMatchObject({ exit: 0 })
    const report = JSON.parse(ran.out) as PassReport
    expect(report.collections.map(({ collection, begun }) => [collection, begun])).toEqual([
      ['archives', 0],
      ['messages', 0],
      ['chunks', 0],
      ['threads', 1],
    ])
    const [message] = await own.take('summarization', 5)
    expect(JSON.parse(message?.body ?? '')).toMatchObject({
      event_type: 'SummarizationRequested',
      event_id: 'sweep/threads/thread-1/1.2',
      data: { thread_ids: ['thread-1'] },
    })
    await message?.ack()
    expect(await threads.findOne({ _id: 'thread-1' })).toMatchObject({ attemptCount: 2, status: 'processing' })
    await own.close()
  })
})

/** Passes until one finds nothing wrong; what was wrong last is told when none does. */
async function untilWell(sweep: Sweep): Promise<void> {
  let said = ''
  const off = sweep.on('sweep.trouble', ({ type, message }) => {
    said = `${type}: ${message}`
  })
  const pass = async () => {
    said = ''
    await sweep.pass()
    return said
  }
  await expect.poll(pass, { timeout: 90_000, interval: 500 }).toBe('')
  off()
}

const killed = () => {
  proof('a database: the pass fails and says so, the next one does the work', async () => {
    await seeded('dbdown')
    const sweep = sweeperOf({ mongodb: mongo.url, rabbitmq: rabbit.url, name: 'dbdown', passes: 0, pauseMs: 0 })
    await mongo.kill()
    const down = await sweep.pass()
    expect(down).toMatchObject({ ok: false, collections: [{ begun: 0, errors: { 'source.unavailable': 1 } }] })
    expect(await bus.depth('dbdown.failed')).toBe(2)
    await mongo.start()
    await untilWell(sweep)
    await sweep.close()
    expect(await expectAllDone('dbdown')).toHaveLength(7)
  })

  proof('a broker: confirmed messages survive, nothing is counted in vain, and all goes out afterwards', async () => {
    await seeded('busdown')
    const sweep = sweeperOf({ mongodb: mongo.url, rabbitmq: rabbit.url, name: 'busdown', passes: 0, pauseMs: 0 })
    // Connected before it dies, so that the link breaks under it.
    await sweep.bus?.depth('busdown.failed')
    const heard: string[] = []
    const stopConsuming = await bus.consume('busdown.standing', async ({ id }) => void heard.push(id))
    await rabbit.kill()
    const down = await sweep.pass()
    expect(down.ok).toBe(false)
    const counted = [...(await documents('busdown')).values()].filter((each) => each['reprise']?.outbox !== undefined)
    await rabbit.start()
    await untilWell(sweep)
    await systemClock.sleep(SEND_LEASE_MS)
    await sweep.pass()
    await sweep.close()
    expect(counted).toHaveLength(0)
    await expect
      .poll(async () => bus.send([{ id: 'still', topic: 'busdown.standing', to: 'queue', body: '{}' }]).catch(() => []))
      .toEqual(['sent'])
    await expect.poll(() => heard, { timeout: 30_000 }).toContain('still')
    await stopConsuming()
    await expectAllDone('busdown')
  })
}

// Restarts take their time: at full size only.
if (FULL) describe('servers that are killed and come back', killed)
