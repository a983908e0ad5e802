/**
 * A worker in a process of its own, for pickups across processes: tells its parent when it is ready and when a run starts.
 * Usage: forked by `reprise.ts` with the file and the durability.
 */
import { createReprise } from '../../../src/index.ts'
import { type Durability, sqlite } from '../../../src/stores/sqlite/index.ts'
import type { Input } from '../queue.ts'

const [file = '', durability = 'power'] = process.argv.slice(2)
const engine = createReprise({ store: sqlite({ file, durability: durability as Durability }) })
engine.task<Input>('noop', {}, ({ i }) => {
  // Of the same clock as the parent's: on one host it counts from the same moment in every process.
  process.send?.({ i, at: Number(process.hrtime.bigint()) / 1e6 })
})
const worker = engine.work({ concurrency: 10 })
await worker.idle()
process.send?.({ ready: true })
process.on('disconnect', () => process.exit(0))
