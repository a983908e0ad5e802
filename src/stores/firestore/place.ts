/**
 * Where the Firestore driver keeps what, and the names of its documents.
 * It opens the client, which is an optional peer, and knows nothing of runs.
 */
import { createHash } from 'node:crypto'
import type { CollectionReference, DocumentReference, Firestore } from '@google-cloud/firestore'
import { RepriseError } from '../../failure/reprise-error.ts'
import { AGEING_MS } from '../../run/place.ts'
import type { Clock } from '../../time/clock.ts'
import { Numbers } from './numbers.ts'
import { StoreTime } from './store-time.ts'

export type Sdk = typeof import('@google-cloud/firestore')

export interface FirestoreOptions {
  /** A client of the application's own; it is not closed with the store. @default one with the default credentials */
  readonly client?: Firestore
  /** For a client of our own making. @default that of the default credentials */
  readonly projectId?: string
  readonly databaseId?: string
  /** Of the flow documents. @default "flow_runs" */
  readonly collection?: string
  /** Of all that is not a flow: keys, notes, holds, budgets, under a document with the collection's name. @default "system_config" */
  readonly system?: string
  /** The store's time. @default Firestore's own, as its answers tell it */
  readonly clock?: Clock
  /** A step that another worker set RUNNING, without a lease, is taken back so long after its `startedAt`. @default 15 minutes */
  readonly foreignTtlMs?: number
  /** Documents that a claim looks at beyond those that it wants: among them priority and age decide. @default 50 */
  readonly lookAhead?: number
  /** A lower priority catches up one step in this time of waiting; 0 for never. @default 600000 */
  readonly ageingMs?: number
  /** Claims look at this one document and read no other: for a function that is called for it. */
  readonly only?: string
}

export interface Place {
  readonly sdk: Sdk
  readonly db: Firestore
  readonly runs: CollectionReference
  readonly system: DocumentReference
  readonly time: StoreTime
  readonly numbers: Numbers
  readonly foreignTtlMs: number
  readonly lookAhead: number
  readonly only: string | undefined
  readonly ageingMs: number
  /** Where the looks of this process for what is old go on. */
  readonly pruning: { after: string | undefined; notesAfter: number | undefined }
  close(): Promise<void>
}

const FOREIGN_TTL_MS = 15 * 60_000
const LOOK_AHEAD = 50
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/

export function checkOptions(options: FirestoreOptions): void {
  const { client, projectId, databaseId, collection, system, only, foreignTtlMs, lookAhead, ageingMs } = options
  for (const [field, value] of Object.entries({ projectId, databaseId })) {
    if (client !== undefined && value !== undefined)
      throw new RangeError(`${field}: ${JSON.stringify(value)}; allowed is none beside client, which has its own`)
  }
  for (const [field, value] of Object.entries({ collection, system, only })) {
    if (value !== undefined && !NAME.test(value))
      throw new RangeError(`${field}: ${JSON.stringify(value)}; allowed are letters, digits, _ and -, 128 at most`)
  }
  for (const [field, value] of Object.entries({ foreignTtlMs, lookAhead, ageingMs })) {
    if (value !== undefined && (!Number.isInteger(value) || value < 0))
      throw new RangeError(`${field}: ${value}; allowed are whole numbers from 0`)
  }
}

export async function openPlace(options: FirestoreOptions): Promise<Place> {
  const { collection = 'flow_runs', system = 'system_config', projectId, databaseId } = options
  const sdk = await importSdk()
  const own = options.client === undefined
  if (own && process.env['FIRESTORE_EMULATOR_HOST'] === undefined) await findCredentials(sdk, projectId)
  const db =
    options.client ??
    new sdk.Firestore({
      ...(projectId === undefined ? {} : { projectId }),
      ...(databaseId === undefined ? {} : { databaseId }),
    })
  return {
    sdk,
    db,
    runs: db.collection(collection),
    system: db.collection(system).doc(collection),
    time: new StoreTime(options.clock),
    numbers: new Numbers(),
    foreignTtlMs: options.foreignTtlMs ?? FOREIGN_TTL_MS,
    lookAhead: options.lookAhead ?? LOOK_AHEAD,
    only: options.only,
    ageingMs: options.ageingMs ?? AGEING_MS,
    pruning: { after: undefined, notesAfter: undefined },
    close: async () => {
      if (own) await db.terminate()
    },
  }
}

async function importSdk(): Promise<Sdk> {
  try {
    return await import('@google-cloud/firestore')
  } catch (cause) {
    throw new RepriseError(
      'store.unavailable',
      'The Firestore store needs the package @google-cloud/firestore, which is not installed: npm install @google-cloud/firestore.',
      { cause },
    )
  }
}

/** Asked for first: without any, the client leaves a rejection behind that nobody can catch, and the process ends. */
async function findCredentials(sdk: Sdk, projectId: string | undefined): Promise<void> {
  // A getter of the package, which an import of its names does not see.
  const { v1 } = (sdk as unknown as { readonly default: Sdk }).default
  try {
    await new v1.FirestoreClient(projectId === undefined ? {} : { projectId }).auth.getClient()
  } catch (cause) {
    throw new RepriseError(
      'store.unavailable',
      `The Firestore store has no credentials: ${(cause as Error).message} Set GOOGLE_APPLICATION_CREDENTIALS, run as a service account, or name an emulator with FIRESTORE_EMULATOR_HOST.`,
      { cause },
    )
  }
}

/** One name for several texts, whatever signs are in them. */
export const named = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40)

export const keys = ({ system }: Place): CollectionReference => system.collection('keys')
export const notesOf = ({ system }: Place): CollectionReference => system.collection('notes')
export const policies = ({ system }: Place): CollectionReference => system.collection('policies')
export const gatesOf = ({ system }: Place): CollectionReference => system.collection('gates')
/** The lines of concurrency keys. */
export const turnsOf = ({ system }: Place): CollectionReference => system.collection('turns')
export const budgetsOf = ({ system }: Place): CollectionReference => system.collection('budgets')
export const windowsOf = ({ system }: Place): CollectionReference => system.collection('windows')
export const spendsOf = ({ system }: Place): CollectionReference => system.collection('spends')

export const keyRef = (place: Place, task: string, key: string): DocumentReference =>
  keys(place).doc(named('run', task, key))
export const flowKeyRef = (place: Place, name: string, key: string): DocumentReference =>
  keys(place).doc(named('flow', name, key))
export const journalOf = ({ runs }: Place, doc: string): CollectionReference => runs.doc(doc).collection('journal')
export const attemptsOf = ({ runs }: Place, doc: string): CollectionReference => runs.doc(doc).collection('attempts')
export const leaseRef = ({ runs }: Place, doc: string, step: string): DocumentReference =>
  runs.doc(doc).collection('leases').doc(step)
