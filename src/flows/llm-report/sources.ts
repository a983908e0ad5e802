/**
 * Where a report step finds what it is made from: prompts, profiles and schemas by their ids, and the outputs of the steps beside it.
 * Two makers: documents that are at hand, and documents in Firestore.
 */
import type { Firestore } from '@google-cloud/firestore'
import type { Store } from '../../ports/store.ts'
import { recordOf } from './inputs.ts'

export type SourceDocument = Readonly<Record<string, unknown>>

export interface SiblingStep {
  readonly step: string
  readonly state: string
  /** JSON value of its output; absent until it succeeded. */
  readonly output?: unknown
}

export interface ReportSources {
  prompt(id: string): Promise<SourceDocument | undefined>
  profile(id: string): Promise<SourceDocument | undefined>
  schema(id: string): Promise<SourceDocument | undefined>
}

/** @example documents({ prompts: { daily: { text: 'Write the report.' } }, schemas: { llm_report_output_v1: { jsonSchema } } }) */
export function documents(given: {
  readonly prompts?: Readonly<Record<string, SourceDocument>>
  readonly profiles?: Readonly<Record<string, SourceDocument>>
  readonly schemas?: Readonly<Record<string, SourceDocument>>
}): ReportSources {
  const from = (all: Readonly<Record<string, SourceDocument>> = {}) => {
    return async (id: string) => (Object.hasOwn(all, id) ? all[id] : undefined)
  }
  return { prompt: from(given.prompts), profile: from(given.profiles), schema: from(given.schemas) }
}

export interface FirestoreDocumentsOptions {
  readonly client: Firestore
  /** @default "llm_prompts" */
  readonly prompts?: string
  /** @default "llm_profiles" */
  readonly profiles?: string
  /** @default "llm_schemas" */
  readonly schemas?: string
}

export function firestoreDocuments(options: FirestoreDocumentsOptions): ReportSources {
  const { client, prompts = 'llm_prompts', profiles = 'llm_profiles', schemas = 'llm_schemas' } = options
  const from = (collection: string) => async (id: string) => (await client.collection(collection).doc(id).get()).data()
  return { prompt: from(prompts), profile: from(profiles), schema: from(schemas) }
}

/** The steps of the flow that a run is in, with what they gave; `undefined` when it is in none. */
export async function siblingsOf(store: Store, run: string): Promise<readonly SiblingStep[] | undefined> {
  const view = await store.get({ id: run })
  const flow = view?.flow === undefined ? undefined : await store.flow({ id: view.flow })
  if (!flow) return undefined
  return Promise.all(
    flow.steps.map(async ({ step, run: id, state }) => {
      const output = state === 'succeeded' ? (await store.get({ id }))?.output : undefined
      return { step, state, ...(output === undefined ? {} : { output: JSON.parse(output) as unknown }) }
    }),
  )
}

/** Where a step's object is, if it says so. */
export function uriOf({ output }: SiblingStep): string | undefined {
  const uri = recordOf(output)?.['gcs_uri']
  return typeof uri === 'string' && uri !== '' ? uri : undefined
}
