/**
 * A place to try report flows on real parts: Google's Firestore emulator and its client, a Cloud Storage server and its client, the
 * model simulator as Gemini behind the AI SDK. Documents are written as an orchestrator of such flows writes them.
 */

import type { DocumentData, Firestore } from '@google-cloud/firestore'
import { Storage } from '@google-cloud/storage'
import { gcs, gcsObjects } from '../../src/artifacts/gcs/index.ts'
import { createReprise } from '../../src/create-reprise.ts'
import {
  createFlowHandler,
  type FlowHandlerOptions,
  firestoreDocuments,
  llmReport,
  llmReportTask,
  type ReportSources,
} from '../../src/flows/index.ts'
import { immediate } from '../../src/policy/backoff.ts'
import { definePolicy } from '../../src/policy/define-policy.ts'
import { flowStorage } from '../../src/policy/presets.ts'
import type { Store } from '../../src/ports/store.ts'
import type { Script } from '../../src/sim/fault-plan.ts'
import { type Simulator, startSimulator } from '../../src/sim/simulator.ts'
import { type FirestoreOptions, firestore } from '../../src/stores/firestore/index.ts'
import { type Clock, systemClock } from '../../src/time/clock.ts'
import { type FirestoreEmulator, startFirestoreEmulator } from '../services/firestore-emulator.ts'
import { type GcsServer, startGcsServer } from '../services/gcs-server.ts'

/** The same tries without the waits. */
const AT_ONCE = definePolicy(
  {
    name: 'atOnce',
    kinds: { transient: { backoff: immediate() }, rate_limited: { backoff: immediate() } },
  },
  flowStorage,
)

export const SCHEMA = {
  type: 'object',
  required: ['summary', 'details'],
  properties: {
    summary: { type: 'object', required: ['markdown'], properties: { markdown: { type: 'string' } } },
    details: { type: 'object', required: ['trend'], properties: { trend: { type: 'string' } } },
  },
}

export const PROFILE = {
  modelName: 'gemini-2.5-flash',
  responseMimeType: 'application/json',
  candidateCount: 1,
  temperature: 0.2,
  structuredOutput: { schemaId: 'llm_report_output_v1', schemaSha256: 'not the hash' },
}

export interface ReportWorld {
  readonly emulator: FirestoreEmulator
  readonly client: Firestore
  readonly server: GcsServer
  readonly simulator: Simulator
  readonly collection: string
  /** Writes a flow document as an orchestrator does, and gives its id. */
  flow(change?: FlowChange): Promise<string>
  /** The document as it is stored. */
  read(flow: string): Promise<DocumentData>
  step(flow: string, step?: string): Promise<DocumentData>
  handler(options?: HandlerChange): ReturnType<typeof createFlowHandler>
  event(flow: string): { readonly subject: string; readonly id: string }
  open(store: Store): ReturnType<typeof createReprise>
  openWith(sources: ReportSources): (store: Store) => ReturnType<typeof createReprise>
  readonly place: FirestoreOptions
  store(): Store
  /** Requests that reached the model. */
  asked(): number
  /** Names of the objects of a flow. */
  objects(flow: string): string[]
  /** Moves the store's time on. */
  later(ms: number): void
  close(): Promise<void>
}

export interface FlowChange {
  /** What the model does with it. */
  readonly prices?: 'CASE-fine' | keyof typeof CASES
  readonly inputs?: Record<string, unknown>
  readonly steps?: Record<string, unknown>
  readonly report?: Record<string, unknown>
  readonly top?: Record<string, unknown>
}

type HandlerChange = Partial<Omit<FlowHandlerOptions, 'firestore'>> & { readonly client?: Firestore }

/** What the model does with a flow whose prices are of this case. */
const CASES: Script = {
  'CASE-blocked': ['safety'],
  'CASE-prose': ['no-json'],
  'CASE-incomplete': ['missing-fields'],
  'CASE-repaired': ['missing-fields', 'ok'],
  'CASE-cut': ['truncated'],
  'CASE-down': ['overloaded'],
  'CASE-limited': [{ fault: 'rate-limit', retryAfter: '90s' }],
  'CASE-key': ['bad-key'],
  'CASE-no-model': ['unknown-model'],
}

export async function reportWorld(): Promise<ReportWorld> {
  const emulator = await startFirestoreEmulator()
  const server = await startGcsServer()
  const client = emulator.client()
  const simulator = await startSimulator({ script: CASES })
  let aheadMs = 0
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
  const collection = emulator.collection()
  const storage = new Storage({ apiEndpoint: server.url, projectId: 'p', retryOptions: { autoRetry: false } })
  const artifacts = gcs({ bucket: 'bucket', client: storage, policy: AT_ONCE })
  const objects = gcsObjects({ buckets: ['bucket'], client: storage, policy: AT_ONCE })
  await client.collection('llm_prompts').doc('daily').set({ userPrompt: 'Write the daily report.' })
  await client.collection('llm_profiles').doc('standard').set(PROFILE)
  await client.collection('llm_schemas').doc('llm_report_output_v1').set({ jsonSchema: SCHEMA })
  // As other workers write them: their own names, no marks of ours.
  const put = (name: string) =>
    storage.bucket('bucket').file(`inputs/${name}`).save(`{"of":"${name}"}`, { resumable: false, validation: false })
  for (const name of ['charts', 'yesterday', 'CASE-fine', ...Object.keys(CASES)]) await put(name)
  let flows = 0

  const openWith = (sources: ReportSources) => (store: Store) => {
    const reprise = createReprise({ store, artifacts, models: { baseURLs: { google: `${simulator.url}/v1beta` } } })
    reprise.handle(llmReportTask, llmReport({ store, artifacts, sources, objects, storage: AT_ONCE }))
    return reprise
  }
  const open = openWith(firestoreDocuments({ client }))
  const read = async (flow: string) => (await client.collection(collection).doc(flow).get()).data() ?? {}
  return {
    emulator,
    client,
    server,
    simulator,
    collection,
    open,
    read,
    step: async (flow, step = 'report') => (await read(flow))['steps'][step],
    flow: async ({ inputs = {}, steps = {}, report = {}, top = {}, prices = 'CASE-fine' } = {}) => {
      flows += 1
      const id = `run-${flows}`
      const done = (name: string) => ({
        stepType: 'EXPORT',
        status: 'SUCCEEDED',
        outputs: { gcs_uri: `gs://bucket/inputs/${name}` },
      })
      await client
        .collection(collection)
        .doc(id)
        .set({
          steps: {
            ohlcv: done(prices),
            charts: done('charts'),
            yesterday: done('yesterday'),
            report: {
              stepType: 'LLM_REPORT',
              status: 'READY',
              dependsOn: ['ohlcv', 'charts'],
              inputs: {
                promptId: 'daily',
                llm: { llmProfile: 'standard' },
                ohlcvStepId: 'ohlcv',
                chartsManifestStepId: 'charts',
                previousReportStepIds: ['yesterday'],
                ...inputs,
              },
              ...report,
            },
            ...steps,
          },
          ...top,
        })
      return id
    },
    handler: ({ client: other, ...options } = {}) =>
      createFlowHandler({ firestore: { client: other ?? client, collection, clock }, open, ...options }),
    place: { client, collection, clock },
    store: () => firestore({ client, collection, clock }),
    asked: () => simulator.requests().length,
    objects: (flow) => [...server.objects.keys()].filter((name) => name.startsWith(`${flow}.`)),
    later: (ms) => {
      aheadMs += ms
    },
    openWith,
    event: (flow) => ({ subject: `documents/${collection}/${flow}`, id: `event-${flow}` }),
    close: async () => {
      await simulator.close()
      await server.close()
      await emulator.close()
    },
  }
}
