/**
 * Reprise on its SQLite store, through its public face. One task; its policy retries at once, so that no wait is measured.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createReprise, definePolicy, immediate } from '../../../src/index.ts'
import { type Durability, sqlite } from '../../../src/stores/sqlite/index.ts'
import { type Contender, chunks, type Handle, type Input, type Queue } from '../queue.ts'

const CHUNK = 10_000
const DAY_MS = 86_400_000
const LISTENER = join(import.meta.dirname, 'reprise-listener.ts')
const atOnce = definePolicy({ name: 'at-once', kinds: { transient: { backoff: immediate() } } })

export function reprise(durability: Durability): Contender {
  return {
    name: `Reprise, durability: ${durability}`,
    durability: durability === 'power' ? 'fsync per group (FULL)' : 'the process (NORMAL)',
    open: ({ folder }, label) => open(join(folder, `${label}.db`), durability),
  }
}

async function open(file: string, durability: Durability): Promise<Queue> {
  const engine = createReprise({ store: sqlite({ file, durability }) })
  let current: Handle
  const task = engine.task<Input>('noop', { policy: atOnce }, (input, ctx) =>
    current(input, (name, send) => ctx.call(name, send)),
  )
  const held = engine.task<Input>('held', { policy: atOnce, resources: ['held:resource'] }, () => undefined)

  // The file is made at the first verb; peers make theirs when they are opened.
  await engine.get('r1')

  return {
    async submitMany(inputs, dueInMs) {
      const at = dueInMs === undefined ? {} : { at: Date.now() + dueInMs }
      for (const chunk of chunks(inputs, CHUNK)) await engine.submitMany(chunk.map((input) => [task, input, at]))
    },
    async submit(input) {
      await engine.submit(task, input)
    },
    async drain(_count, handle, concurrency) {
      current = handle
      const startedAt = performance.now()
      const worker = engine.work({ concurrency })
      await worker.idle()
      const ms = performance.now() - startedAt
      await worker.stop()
      return ms
    },
    async listen(handle) {
      current = handle
      const worker = engine.work({ concurrency: 10 })
      await worker.idle()
      return () => worker.stop()
    },
    async succeeded() {
      const counts = await engine.store.count({ tasks: ['noop'], states: ['succeeded'] })
      return counts.reduce((sum, { runs }) => sum + runs, 0)
    },
    async submitHeld(inputs) {
      for (const chunk of chunks(inputs, CHUNK)) await engine.submitMany(chunk.map((input) => [held, input]))
      const until = Date.now() + DAY_MS
      await engine.store.hold({ what: 'resource:held:resource', until, why: 'measured', by: 'bench', probe: false })
    },
    async listenElsewhere(started) {
      const child = fork(LISTENER, [file, durability])
      await new Promise<void>((resolve, reject) => {
        child.once('error', reject)
        child.on('message', (told: { readonly ready?: true; readonly i?: number; readonly at?: number }) => {
          if (told.ready) resolve()
          else if (told.i !== undefined && told.at !== undefined) started(told.i, told.at)
        })
      })
      return async () => {
        const gone = once(child, 'exit')
        child.disconnect()
        await gone
      }
    },
    async look() {
      await engine.store.find({ limit: 50 })
      await engine.store.find({ limit: 50, states: ['failed'] })
    },
    close: () => engine.close(),
  }
}
