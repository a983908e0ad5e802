/**
 * pg-boss on PostgreSQL: batches of 500, burst mode, LISTEN/NOTIFY. Within a batch the handler is called with the asked concurrency.
 * The clock stops when the last handler has ended, so its last acknowledgement is not measured.
 */
import { type Job, type JobResult, PgBoss } from 'pg-boss'
import {
  type Contender,
  callOnly,
  chunks,
  countdown,
  type Handle,
  type Input,
  type Queue,
  withHands,
} from '../queue.ts'
import { ownDatabase, query } from './postgres.ts'

const CHUNK = 5_000
const QUEUE = 'noop'

export const pgBoss: Contender = {
  name: 'pg-boss',
  durability: 'fsync per batch (synchronous_commit on)',
  needs: 'postgres',
  open: async ({ postgres, outputs }, label) => open(postgres as string, label, outputs),
}

async function open(server: string, label: string, outputs: boolean): Promise<Queue> {
  const { url, drop } = await ownDatabase(server, `pg_boss_${label}`)
  const boss = new PgBoss({ connectionString: url, useListenNotify: true, schedule: false, supervise: false, max: 10 })
  boss.on('error', (error) => console.error(error.message))
  await boss.start()
  await boss.createQueue(QUEUE, { notify: true, retryLimit: 3, retryDelay: 0 })

  const work = async (handle: Handle, concurrency: number, ended: () => void, perJob: boolean) => {
    const options = {
      batchSize: 500,
      burstWhenBatchFull: true,
      pollingIntervalSeconds: 0.5,
      notifyPollingIntervalSeconds: 0.5,
    }
    if (!perJob) {
      await boss.work<Input>(QUEUE, options, (jobs) =>
        withHands(jobs, concurrency, async ({ data }) => {
          await handle(data, callOnly)
          ended()
        }),
      )
      return
    }
    const one = async ({ id, data }: Job<Input>): Promise<JobResult> => {
      try {
        const output = await handle(data, callOnly)
        ended()
        return { id, status: 'completed', ...(output === undefined ? {} : { output }) }
      } catch (error) {
        return { id, status: 'failed', output: { message: String(error) } }
      }
    }
    await boss.work<Input, JobResult[], typeof options & { perJobResults: true }>(
      QUEUE,
      { ...options, perJobResults: true },
      async (jobs) => {
        const results: JobResult[] = []
        await withHands(jobs, concurrency, async (job) => results.push(await one(job)))
        return results
      },
    )
  }

  const drain = async (count: number, handle: Handle, concurrency: number, perJob: boolean) => {
    const { hit, over } = countdown(count)
    const startedAt = performance.now()
    await work(handle, concurrency, hit, perJob)
    await over
    const ms = performance.now() - startedAt
    await boss.offWork(QUEUE, { wait: true })
    return ms
  }

  return {
    async submitMany(inputs, dueInMs) {
      const later = dueInMs === undefined ? {} : { startAfter: Math.ceil(dueInMs / 1_000) }
      for (const chunk of chunks(inputs, CHUNK)) {
        await boss.insert(
          QUEUE,
          chunk.map((data) => ({ data, ...later })),
        )
      }
    },
    async submit(input) {
      await boss.send(QUEUE, input)
    },
    drain: (count, handle, concurrency) => drain(count, handle, concurrency, outputs),
    drainFailingOnce: (count, handle, concurrency) => drain(count, handle, concurrency, true),
    async listen(handle) {
      await work(handle, 10, () => {}, false)
      return () => boss.offWork(QUEUE, { wait: true })
    },
    async succeeded() {
      const rows = await query<{ runs: string }>(
        url,
        "SELECT count(*) AS runs FROM pgboss.job WHERE state = 'completed'",
      )
      return Number(rows[0]?.runs)
    },
    async close() {
      await boss.stop({ graceful: false })
      await drop()
    },
  }
}
