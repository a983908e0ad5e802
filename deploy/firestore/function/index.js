/**
 * The function that Firestore triggers on `flow_runs/{id}`: report steps of the document that was written, one at a time per instance.
 * Variables: REPORTS_BUCKET (required), INPUT_BUCKETS (with commas; also read), FLOW_COLLECTION, FLOW_CONCURRENCY, GOOGLE_GENERATIVE_AI_API_KEY (a secret).
 */
import { Firestore } from '@google-cloud/firestore'
import { cloudEvent } from '@google-cloud/functions-framework'
import { createReprise } from 'reprise'
import { gcs, gcsObjects } from 'reprise/artifacts/gcs'
import { createFlowHandler, firestoreDocuments, llmReport, llmReportTask } from 'reprise/flows'

const {
  REPORTS_BUCKET: bucket,
  INPUT_BUCKETS = '',
  FLOW_COLLECTION: collection = 'flow_runs',
  FLOW_CONCURRENCY = '1',
} = process.env
if (!bucket) throw new Error('REPORTS_BUCKET is not set. Allowed: the name of the bucket that reports are kept in.')

const client = new Firestore()
const artifacts = gcs({ bucket })
// Prices and charts are other workers' objects: of these buckets alone, whatever a document names.
const objects = gcsObjects({ buckets: [bucket, ...INPUT_BUCKETS.split(',').filter((name) => name !== '')] })
const sources = firestoreDocuments({ client })

const handle = createFlowHandler({
  firestore: { client, collection },
  concurrency: Number(FLOW_CONCURRENCY),
  open: (store) => {
    const reprise = createReprise({ store, artifacts })
    reprise.handle(llmReportTask, llmReport({ store, artifacts, sources, objects }))
    return reprise
  },
})

cloudEvent('flow', async (event) => {
  const outcome = await handle(event)
  console.log(JSON.stringify(outcome))
  // A write that failed is worth another event; everything else has said what it had to say.
  if (outcome.code === 'FIRESTORE_CLAIM_FAILED' || outcome.code === 'FIRESTORE_FINALIZE_FAILED')
    throw new Error(`${outcome.code}: ${outcome.message}`)
})
