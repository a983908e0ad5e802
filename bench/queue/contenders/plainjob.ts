/**
 * plainjob on SQLite. It retries nothing by itself, so a failed job is added again; its workers poll, here every millisecond.
 */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { better, defineQueue, defineWorker, JobStatus } from 'plainjob'
import { type Contender, callOnly, countdown, type Input, type Queue } from '../queue.ts'

const POLL_MS = 1
const nothing = () => {}
const silent = { error: nothing, warn: nothing, info: nothing, debug: nothing }

export function plainjob(synchronous: 'FULL' | 'NORMAL'): Contender {
  return {
    name: `plainjob, ${synchronous}`,
    durability: synchronous === 'FULL' ? 'fsync per write (FULL)' : 'the process (NORMAL, its default)',
    share: synchronous === 'FULL' ? 0.1 : 0.5,
    open: async ({ folder }, label) => open(join(folder, `${label}.db`), synchronous),
  }
}

function open(file: string, synchronous: 'FULL' | 'NORMAL'): Queue {
  const db = new Database(file)
  const queue = defineQueue({ connection: better(db), logger: silent })
  db.pragma(`synchronous = ${synchronous}`)

  /** A worker does one job at a time, so a concurrency of ten is ten workers. */
  const start = (
    workers: number,
    handle: (input: Input) => unknown,
    told: { onCompleted?: () => void; onFailed?: (job: { data: string }) => void },
  ) => {
    const started = Array.from({ length: workers }, () =>
      defineWorker(
        'noop',
        async (job) => {
          await handle(JSON.parse(job.data) as Input)
        },
        { queue, pollIntervall: POLL_MS, logger: silent, ...told },
      ),
    )
    const ends = started.map((worker) => worker.start())
    return async () => {
      await Promise.all(started.map((worker) => worker.stop()))
      await Promise.all(ends)
    }
  }

  return {
    async submitMany(inputs, dueInMs) {
      queue.addMany('noop', [...inputs], dueInMs === undefined ? {} : { delay: dueInMs })
    },
    async submit(input) {
      queue.add('noop', input)
    },
    async drain(count, handle, concurrency) {
      const { hit, over } = countdown(count)
      const startedAt = performance.now()
      const stop = start(concurrency, (input) => handle(input, callOnly), {
        onCompleted: hit,
        onFailed: (job) => queue.add('noop', JSON.parse(job.data)),
      })
      await over
      const ms = performance.now() - startedAt
      await stop()
      return ms
    },
    listen: async (handle) => start(1, (input) => handle(input, callOnly), {}),
    succeeded: async () => queue.countJobs({ type: 'noop', status: JobStatus.Done }),
    close: async () => queue.close(),
  }
}
