/**
 * What the function and the daemon have in common: where the flows are, and the engine with its report step on a store of them.
 * Variables: REPORTS_BUCKET (required), INPUT_BUCKETS (with commas; also read), FLOW_COLLECTION, GOOGLE_GENERATIVE_AI_API_KEY (a secret).
 */
import { Firestore } from '@google-cloud/firestore'
import { createReprise } from 'reprise'
import { gcs, gcsObjects } from 'reprise/artifacts/gcs'
import { firestoreDocuments, llmReport, llmReportTask } from 'reprise/flows'

const { REPORTS_BUCKET: bucket, INPUT_BUCKETS = '', FLOW_COLLECTION: collection = 'flow_runs' } = process.env
if (!bucket) throw new Error('REPORTS_BUCKET is not set. Allowed: the name of the bucket that reports are kept in.')

const client = new Firestore()
const artifacts = gcs({ bucket })
// Prices and charts are other workers' objects: of these buckets alone, whatever a document names.
const objects = gcsObjects({ buckets: [bucket, ...INPUT_BUCKETS.split(',').filter((name) => name !== '')] })
const sources = firestoreDocuments({ client })

export const place = { client, collection }

export function open(store) {
  const reprise = createReprise({ store, artifacts })
  reprise.handle(llmReportTask, llmReport({ store, artifacts, sources, objects }))
  return reprise
}
