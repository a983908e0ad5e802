/**
 * One process of report flows, which the test kills between the object and the end of the step. It does what it is told flow by flow; of
 * a flow that is to die here it says when the object is written and its end is not, and goes no further.
 */
import { Firestore } from '@google-cloud/firestore'
import { Storage } from '@google-cloud/storage'
import { gcs, gcsObjects } from '../../src/artifacts/gcs/index.ts'
import { createReprise } from '../../src/create-reprise.ts'
import { createFlowHandler, firestoreDocuments, llmReport, llmReportTask } from '../../src/flows/index.ts'
import type { Artifacts } from '../../src/ports/artifacts.ts'
import { systemClock } from '../../src/time/clock.ts'
import { faultyFirestore } from '../services/faulty-firestore.ts'

export interface ProcessSetup {
  readonly collection: string
  readonly gcsUrl: string
  readonly modelUrl: string
  /** How far the store's time is ahead: the leases of those that were killed are over. */
  readonly aheadMs: number
  readonly finish: readonly string[]
  /** The last one; `hangs` when this process stops by itself before the end is written. */
  readonly begin: { readonly flow: string; readonly hangs: boolean } | undefined
}

const { collection, gcsUrl, modelUrl, aheadMs, finish, begin }: ProcessSetup = JSON.parse(process.argv[2] ?? '')
const client = new Firestore({ projectId: 'reprise-test' })
const storage = new Storage({ apiEndpoint: gcsUrl, projectId: 'p', retryOptions: { autoRetry: false } })
const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
const bucket = gcs({ bucket: 'bucket', client: storage })
const objects = gcsObjects({ buckets: ['bucket'], client: storage })

function handlerOf(firestore: Firestore, artifacts: Artifacts): ReturnType<typeof createFlowHandler> {
  return createFlowHandler({
    firestore: { client: firestore, collection, clock },
    open: (store) => {
      const reprise = createReprise({ store, artifacts, models: { baseURLs: { google: `${modelUrl}/v1beta` } } })
      reprise.handle(llmReportTask, llmReport({ store, artifacts, sources: firestoreDocuments({ client }), objects }))
      return reprise
    },
  })
}

const eventOf = (flow: string) => ({ subject: `documents/${collection}/${flow}` })
for (const flow of finish) process.send?.(await handlerOf(client, bucket)(eventOf(flow)))
if (begin) {
  let isWritten = false
  const artifacts: Artifacts = {
    ...bucket,
    put: async (given) => {
      const put = await bucket.put(given)
      isWritten = true
      return put
    },
  }
  const halted = faultyFirestore(client, async () => {
    if (!isWritten || !begin.hangs) return undefined
    process.send?.('between')
    return new Promise<never>(() => {})
  })
  process.send?.(await handlerOf(halted, artifacts)(eventOf(begin.flow)))
}
await client.terminate()
process.disconnect?.()
