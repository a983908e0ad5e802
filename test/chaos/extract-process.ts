/**
 * One process of an extraction; the test kills it, where `REPRISE_CRASH_AT` says or at any moment. What cannot be told after a death is
 * written down at once: every send that may be a second one.
 */
import { appendFileSync } from 'node:fs'
import { createReprise } from '../../src/create-reprise.ts'
import { findDocuments } from '../../src/extract/documents.ts'
import { createExtraction } from '../../src/extract/extraction.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { invoiceGate, schema } from '../e2e/ladder-world.fixtures.ts'

const [folder = '', url = ''] = process.argv.slice(2)
const reprise = createReprise({
  store: sqlite({ file: `${folder}/reprise.db` }),
  models: { baseURLs: { google: `${url}/v1beta` } },
  // A document that meets many deaths would go to a person as a suspect; here the deaths are ours.
  policies: { extract: { lapsesMax: 1_000 } },
})
reprise.on('call.ambiguous', ({ call, run }) =>
  appendFileSync(`${folder}/flagged.jsonl`, `${JSON.stringify({ run, call })}\n`),
)
const extraction = createExtraction(reprise, { schema, gate: invoiceGate })
await extraction.submit(await findDocuments([`${folder}/docs`]))
process.send?.('submitted')
const worker = reprise.work({ concurrency: 1, leaseMs: 400, pollMs: 20, categories: [extraction.category] })
await worker.idle({ until: 'settled' })
await reprise.close()
process.disconnect?.()
