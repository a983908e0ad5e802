/**
 * BullMQ on Redis, with the append-only file synced every second (Redis's usual setting) or at every write.
 */
import { Queue as BullQueue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { type Contender, callOnly, chunks, countdown, type Handle, type Input, type Queue } from '../queue.ts'

const CHUNK = 1_000

export function bullmq(appendfsync: 'everysec' | 'always'): Contender {
  return {
    name: `bullmq, appendfsync ${appendfsync}`,
    durability: appendfsync === 'always' ? 'fsync per write' : 'fsync once a second',
    needs: 'redis',
    share: 0.5,
    open: async ({ redis }, label) => open(redis[appendfsync] as number, label),
  }
}

async function open(port: number, label: string): Promise<Queue> {
  const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null }
  const name = `bench-${label}`
  const queue = new BullQueue<Input>(name, { connection })
  await queue.waitUntilReady()
  const worker = async (handle: Handle, concurrency: number) => {
    const made = new Worker<Input>(name, async ({ data }) => handle(data, callOnly), {
      connection,
      concurrency,
      autorun: false,
    })
    made.on('error', (error) => console.error(error.message))
    await made.waitUntilReady()
    return made
  }
  const options = (dueInMs?: number) => ({ attempts: 3, ...(dueInMs === undefined ? {} : { delay: dueInMs }) })

  return {
    async submitMany(inputs, dueInMs) {
      for (const chunk of chunks(inputs, CHUNK)) {
        await queue.addBulk(chunk.map((data) => ({ name: 'noop', data, opts: options(dueInMs) })))
      }
    },
    async submit(input) {
      await queue.add('noop', input, options())
    },
    async drain(count, handle, concurrency) {
      const { hit, over } = countdown(count)
      const made = await worker(handle, concurrency)
      made.on('completed', hit)
      const startedAt = performance.now()
      void made.run()
      await over
      const ms = performance.now() - startedAt
      await made.close()
      return ms
    },
    async listen(handle) {
      const made = await worker(handle, 10)
      void made.run()
      return () => made.close()
    },
    succeeded: () => queue.getCompletedCount(),
    async close() {
      await queue.close()
      const redis = new Redis(connection)
      await redis.flushall()
      redis.disconnect()
    },
  }
}
