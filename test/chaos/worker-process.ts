/**
 * A worker in a process of its own, to be killed, paused and starved: `node test/chaos/worker-process.ts '<WorkerSetup as JSON>'`.
 * Says on stdout, one JSON text per line, when it is ready, how its event loop does, and what its tests wait for; logs every event.
 */
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import Database from 'better-sqlite3'
import { folder } from '../../src/artifacts/folder/index.ts'
import { createReprise } from '../../src/engine/reprise.ts'
import type { RepriseEvent } from '../../src/run/event.ts'
import { type SqliteDatabase, sqlite } from '../../src/stores/sqlite/index.ts'
import { type Clock, systemClock } from '../../src/time/clock.ts'
import { seededDice } from '../../src/time/dice.ts'
import { handleFlows } from './flow-jobs.ts'
import { CHAOS_TASK, handlerOf, jobOf, type Send } from './job.ts'
import { jumpingClock } from './jumping-clock.ts'
import { type LostLease, leasesWatched } from './leases-watched.ts'
import { LineLog, SyncedLog } from './line-log.ts'
import { type SubmitLine, Submitter } from './submitter.ts'

export interface WorkerSetup {
  /** Logs and artifacts are under it. */
  readonly folder: string
  /** The store's file. */
  readonly file: string
  readonly concurrency: number
  readonly leaseMs: number
  readonly drainMs: number
  /** Each SIGUSR2 lets the database grow no further, or lifts that again. */
  readonly pagesLimited?: boolean
  /** Each SIGUSR2 sets the clock a day forward, a day back, or right again. */
  readonly clockSeed?: number
  /** It also submits jobs, from this number on, so many. */
  readonly submits?: { readonly from: number; readonly count: number }
  /** Ended runs are deleted at once, as often as retention may look. */
  readonly retention?: boolean
}

/** A line of the log of a process. */
export type WorkerLine =
  | { readonly at: number; readonly worker: string; readonly event: RepriseEvent }
  | ({ readonly at: number; readonly worker: string; readonly event?: undefined } & LostLease)

export type Said =
  | { readonly says: 'ready'; readonly worker: string }
  | { readonly says: 'beat'; readonly p90Ms: number; readonly p99Ms: number; readonly maxMs: number }
  | { readonly says: 'sent'; readonly run: string }
  | { readonly says: 'submitted' }
  | { readonly says: 'event'; readonly event: RepriseEvent }

const BEAT_MS = 100
const SUBMITS_AT_ONCE = 5
const PAGES_MAX = 1_000_000

/** Events that a test may wait for. */
const NOTABLE: ReadonlySet<string> = new Set([
  'run.lapsed',
  'lease.lost',
  'write.refused',
  'call.receipt',
  'store.trouble',
  'store.recovered',
])

const setup = JSON.parse(process.argv[2] ?? '{}') as WorkerSetup
const say = (said: Said): void => {
  process.stdout.write(`${JSON.stringify(said)}\n`)
}

const clock = hostClock()
const log = new LineLog<WorkerLine>(join(setup.folder, 'events', `${process.pid}.ndjson`))
const place = setup.pagesLimited ? { database: limitedDatabase(setup.file) } : { file: setup.file }
const store = leasesWatched(sqlite({ ...place, clock, watchMs: 20 }), (lease) =>
  log.write({ at: Date.now(), worker: worker.id, ...lease }),
)
const retention = setup.retention ? { retention: { succeeded: 0, every: 1_000 } } : {}
const reprise = createReprise({
  store,
  artifacts: folder({ root: join(setup.folder, 'artifacts') }),
  clock,
  ...retention,
})

reprise.handle(
  CHAOS_TASK,
  handlerOf({
    worker: () => worker.id,
    provider: new SyncedLog<Send>(join(setup.folder, 'provider.ndjson')),
    marks: join(setup.folder, 'marks'),
    sent: ({ run }) => say({ says: 'sent', run }),
  }),
)
handleFlows(reprise, setup.folder)
reprise.on('*', (event) => {
  log.write({ at: Date.now(), worker: 'worker' in event ? (event.worker ?? '') : '', event })
  if (NOTABLE.has(event.name)) say({ says: 'event', event })
})

const { concurrency, leaseMs, drainMs } = setup
// What loading the code cost is no business of the store's.
await store.count({})
const worker = reprise.work({ concurrency, leaseMs, drainMs, pollMs: 500 })

process.once('SIGTERM', () => {
  reprise.close().then(() => process.exit(0))
})

const delays = monitorEventLoopDelay({ resolution: 5 })
// Said before the first claim is answered: what is claimed may block the process for good.
say({ says: 'ready', worker: worker.id })
delays.enable()
setInterval(() => {
  const [p90Ms, p99Ms, maxMs] = [delays.percentile(90), delays.percentile(99), delays.max].map((ns) => ns / 1e6)
  say({ says: 'beat', p90Ms: p90Ms ?? 0, p99Ms: p99Ms ?? 0, maxMs: maxMs ?? 0 })
}, BEAT_MS)

if (setup.submits) await submitAll(setup.submits)

async function submitAll({ from, count }: NonNullable<WorkerSetup['submits']>): Promise<void> {
  const log = new LineLog<SubmitLine>(join(setup.folder, 'submits', `${process.pid}.ndjson`))
  const submitter = new Submitter(reprise, (line) => log.write(line))
  for (let n = from; n < from + count; n += SUBMITS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(SUBMITS_AT_ONCE, from + count - n) }, (_, index) => n + index)
    await submitter.submitAll(numbers.map((each) => jobOf(each, seededDice(each))))
  }
  say({ says: 'submitted' })
}

function limitedDatabase(file: string): SqliteDatabase {
  const database = new Database(file)
  let limited = false
  process.on('SIGUSR2', () => {
    limited = !limited
    database.pragma(`max_page_count = ${limited ? database.pragma('page_count', { simple: true }) : PAGES_MAX}`)
  })
  return database
}

function hostClock(): Clock {
  if (setup.clockSeed === undefined) return systemClock
  const clock = jumpingClock(setup.clockSeed)
  process.on('SIGUSR2', clock.jump)
  return clock
}
