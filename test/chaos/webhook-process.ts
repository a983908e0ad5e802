/**
 * One process that keeps incidents and sends the messages about them; the test kills it, where `REPRISE_CRASH_AT` says or at any moment.
 */
import { createReprise } from '../../src/create-reprise.ts'
import { createIncidents, type Sighting, webhookOut, webhookTask } from '../../src/incidents/index.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'

const [folder = '', url = '', secret = '', subjects = '1'] = process.argv.slice(2)
const reprise = createReprise({
  store: sqlite({ file: `${folder}/reprise.db` }),
  // A message that meets many deaths would go to a person as a suspect; here the deaths are ours.
  policies: { [webhookTask.name]: { lapsesMax: 1_000 } },
})
const incidents = createIncidents({ store: reprise.store, deliver: webhookOut(reprise, { url, secret }) })
const seen = Array.from(
  { length: Number(subjects) },
  (_, index): Sighting => ({
    subject: `collection:c${index + 1}`,
    stuck: 0,
    oldestStuckMs: 0,
    exhausted: 1,
    failed: 0,
    isPartial: false,
  }),
)
await incidents.look(seen, { by: 'sweep' })
process.send?.('looked')
const worker = reprise.work({ tasks: [webhookTask], concurrency: 1, leaseMs: 400, pollMs: 20 })
await worker.idle({ until: 'settled' })
await worker.stop()
await reprise.close()
process.disconnect?.()
