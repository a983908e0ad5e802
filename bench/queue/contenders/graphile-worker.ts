/**
 * graphile-worker on PostgreSQL: 500 jobs in its local queue, completions and failures sent in batches.
 * The clock stops when the last handler has ended: it acknowledges without waiting. It deletes what is done and keeps no output.
 */
import { Logger, makeWorkerUtils, type Runner, run } from 'graphile-worker'
import pg from 'pg'
import { type Contender, callOnly, chunks, countdown, type Handle, type Input, type Queue } from '../queue.ts'
import { command, ownDatabase, query } from './postgres.ts'

const CHUNK = 5_000
const TASK = 'noop'
/** Its first retry waits e seconds, whatever is set. */
const RETRY_WAIT_MS = 1_000 * Math.E
const logger = new Logger(() => () => {})

export const graphileWorker: Contender = {
  name: 'graphile-worker',
  durability: 'fsync per batch (synchronous_commit on)',
  needs: 'postgres',
  open: async ({ postgres }, label) => open(postgres as string, label),
}

async function open(server: string, label: string): Promise<Queue> {
  const { url, drop } = await ownDatabase(server, `graphile_${label}`)
  const pool = new pg.Pool({ connectionString: url, max: 20 })
  // The database is dropped with its connections, which is no error of theirs.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const utils = await makeWorkerUtils({ pgPool: pool, logger })
  await utils.migrate()

  const start = (handle: Handle, concurrency: number, ended: () => void): Promise<Runner> =>
    run({
      pgPool: pool,
      logger,
      noHandleSignals: true,
      preset: {
        worker: {
          concurrentJobs: concurrency,
          pollInterval: 500,
          localQueue: { size: 500 },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
        },
      },
      taskList: {
        [TASK]: async (payload) => {
          await handle(payload as Input, callOnly)
          ended()
        },
      },
    })

  const drain: Queue['drain'] = async (count, handle, concurrency) => {
    const { hit, over } = countdown(count)
    const startedAt = performance.now()
    const runner = await start(handle, concurrency, hit)
    await over
    const ms = performance.now() - startedAt
    await runner.stop()
    return ms
  }

  /** Measured are the two passes; between them the wait is cut short. */
  const drainFailingOnce: Queue['drain'] = async (count, handle, concurrency) => {
    const first = countdown(count)
    const startedAt = performance.now()
    const failing = await start(
      async (input, call) => {
        first.hit()
        return handle(input, call)
      },
      concurrency,
      () => {},
    )
    await first.over
    const ms = performance.now() - startedAt
    await failing.stop()
    await command(url, 'UPDATE graphile_worker._private_jobs SET run_at = now()')
    return ms + (await drain(count, handle, concurrency))
  }

  return {
    async submitMany(inputs, dueInMs) {
      const later = dueInMs === undefined ? {} : { runAt: new Date(Date.now() + dueInMs) }
      for (const chunk of chunks(inputs, CHUNK)) {
        await utils.addJobs(chunk.map((payload) => ({ identifier: TASK, payload, ...later })))
      }
    },
    async submit(input) {
      await utils.addJob(TASK, input)
    },
    drain,
    drainFailingOnce,
    retryWaitMs: RETRY_WAIT_MS,
    async listen(handle) {
      const runner = await start(handle, 10, () => {})
      return () => runner.stop()
    },
    async succeeded() {
      const rows = await query<{ runs: string }>(url, 'SELECT count(*) AS runs FROM graphile_worker._private_jobs')
      if (Number(rows[0]?.runs) > 0) console.error(`${rows[0]?.runs} jobs were left`)
      return undefined
    },
    async close() {
      await utils.release()
      await pool.end()
      await drop()
    },
  }
}
