/**
 * A worker that asks a simulated provider through a ladder; the test kills it where it says, by `REPRISE_CRASH_AT`.
 */
import { createReprise } from '../../src/create-reprise.ts'
import { ladder } from '../../src/ladder/ladder.ts'
import { rung } from '../../src/ladder/rung.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { documentNamed, FLASH, invoiceGate, PRO, prompt } from '../e2e/ladder-world.fixtures.ts'

const [file = '', url = ''] = process.argv.slice(2)
const reprise = createReprise({ store: sqlite({ file }), models: { baseURLs: { google: `${url}/v1beta` } } })
const climbed = ladder([rung(FLASH, { attempts: 3 }), rung(PRO, { budget: { name: 'pro', day: 50 } })])
const task = reprise.task('crash', {}, (document: string, ctx) =>
  ctx.ask('invoice', { ladder: climbed, prompt, document: documentNamed(document), gate: invoiceGate }),
)
await reprise.submit(task, 'CRASH-01', { key: 'one' })
const worker = reprise.work({ concurrency: 1, leaseMs: 1_000, pollMs: 50 })
await worker.idle({ until: 'settled' })
await reprise.close()
