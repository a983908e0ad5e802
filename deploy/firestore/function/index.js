/**
 * The function that Firestore triggers on `flow_runs/{id}`: report steps of the document that was written, one at a time per instance.
 * Variables: those of reports.js, and FLOW_CONCURRENCY.
 */
import { cloudEvent } from '@google-cloud/functions-framework'
import { createFlowHandler } from 'reprise/flows'
import { open, place } from './reports.js'

const { FLOW_CONCURRENCY = '1' } = process.env

const handle = createFlowHandler({ firestore: place, concurrency: Number(FLOW_CONCURRENCY), open })

cloudEvent('flow', async (event) => {
  const outcome = await handle(event)
  console.log(JSON.stringify(outcome))
  // A write that failed is worth another event; everything else has said what it had to say.
  if (outcome.code === 'FIRESTORE_CLAIM_FAILED' || outcome.code === 'FIRESTORE_FINALIZE_FAILED')
    throw new Error(`${outcome.code}: ${outcome.message}`)
})
