/**
 * The daemon beside the function: no event comes when a wait or a dead worker's lease is over, or when one was lost; this looks.
 * Variables: those of reports.js, FLOW_CONCURRENCY, and FLOW_POLL_MS. SIGTERM ends it when what it has in hand is ended or given back.
 */
import { createFlowDaemon } from 'reprise/flows'
import { open, place } from './reports.js'

const { FLOW_CONCURRENCY = '1', FLOW_POLL_MS = '30000' } = process.env

const daemon = createFlowDaemon({
  firestore: place,
  open,
  concurrency: Number(FLOW_CONCURRENCY),
  pollMs: Number(FLOW_POLL_MS),
})
console.log(`looks at ${place.collection} every ${FLOW_POLL_MS} ms`)

for (const signal of ['SIGTERM', 'SIGINT'])
  process.once(signal, async () => {
    await daemon.stop()
    process.exit(0)
  })
