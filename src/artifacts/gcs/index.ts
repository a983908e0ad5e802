/**
 * The Google Cloud Storage driver of the Artifacts port: one object per artifact, created with `ifGenerationMatch=0` and never replaced.
 * Public as `reprise/artifacts/gcs`. It does not know what an artifact is made of.
 */
import { createHash } from 'node:crypto'
import type { Bucket, Storage } from '@google-cloud/storage'
import { classify } from '../../failure/classify.ts'
import { isRepriseError, RepriseError } from '../../failure/reprise-error.ts'
import { isPolicy, type PolicyInput } from '../../policy/complete-policy.ts'
import { definePolicy } from '../../policy/define-policy.ts'
import type { Policy } from '../../policy/policy.ts'
import { flowStorage } from '../../policy/presets.ts'
import type { Artifacts, PutArtifact, StoredArtifact } from '../../ports/artifacts.ts'
import { retry } from '../../retry/retry.ts'
import { type Clock, systemClock } from '../../time/clock.ts'
import { checkPath, isSegment, pathUnder } from '../artifact-path.ts'
import { deleteUnder, type GcsObject, insertOnce, readObject } from './objects.ts'

export interface GcsOptions {
  readonly bucket: string
  /** Objects lie under it: `reports/2026`. @default the bucket's root */
  readonly prefix?: string
  /** Made with `retryOptions: { autoRetry: false }`: one layer retries, and it is this one. @default one with the default credentials */
  readonly client?: Storage
  /** For a client of our own making: where the server is, when it is not Google's. */
  readonly apiEndpoint?: string
  readonly projectId?: string
  /** Of each request by itself, or what differs from `flowStorage`. @default five tries, 1 s, 2 s, … up to 32 s, with jitter */
  readonly policy?: Policy | PolicyInput
  /** What the waits between tries are measured with. @default the system's clock */
  readonly clock?: Clock
}

export function gcs(options: GcsOptions): Artifacts {
  const { bucket: name, prefix, clock = systemClock } = options
  checkOptions(options)
  const policy = policyOf(options.policy)
  const folder = prefix === undefined ? '' : `${prefix}/`
  const rootUri = `gs://${name}/${folder}`
  const objectOf = (path: readonly string[]): string => `${folder}${path.join('/')}`
  let opening: Promise<Bucket> | undefined

  /** Each request is tried again by itself: what has succeeded is not repeated because of what came after it. */
  async function request<Answer>(verb: (bucket: Bucket) => Promise<Answer>): Promise<Answer> {
    opening ??= openBucket(options)
    try {
      const bucket = await opening
      return await retry(() => verb(bucket), { policy, clock })
    } catch (error) {
      throw told(error, rootUri)
    }
  }

  const read = (object: string) => request((bucket) => readObject(bucket, object))

  async function put({ path, body, fingerprint, contentType }: PutArtifact): Promise<StoredArtifact | 'conflict'> {
    checkPath(path)
    const object = objectOf(path)
    const uri = `${rootUri}${path.join('/')}`
    const sha256 = sha256Of(body)
    const inserted = await request((bucket) => insertOnce(bucket, object, body, { sha256, fingerprint }, contentType))
    if (inserted === 'ok') return { uri, sha256, bytes: body.byteLength, reused: false }
    // It exists. A lost answer to our own insert looks the same, and the stored object wins either way.
    const known = await read(object)
    if (known === undefined || !isWhole(known) || known.fingerprint !== fingerprint) return 'conflict'
    return { uri, sha256: known.sha256 ?? sha256Of(known.body), bytes: known.body.byteLength, reused: true }
  }

  return {
    name: 'gcs',
    put,
    get: async (uri) => {
      const path = pathUnder(rootUri, uri)
      const known = path && (await read(objectOf(path)))
      if (!known) return undefined
      return isWhole(known) ? known.body : 'broken'
    },
    remove: async (path) => {
      checkPath(path)
      await request((bucket) => deleteUnder(bucket, objectOf(path)))
    },
    close: async () => undefined,
  }
}

const policyOf = (given: Policy | PolicyInput = {}): Policy =>
  isPolicy(given) ? given : definePolicy(given, flowStorage)

const sha256Of = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex')

/** An object that somebody put there without a hash has none that could match. */
const isWhole = ({ sha256, body }: GcsObject): boolean => sha256 !== undefined && sha256Of(body) === sha256

async function openBucket({ bucket, client, apiEndpoint, projectId }: GcsOptions): Promise<Bucket> {
  const storage = client ?? (await newClient({ apiEndpoint, projectId }))
  return storage.bucket(bucket)
}

async function newClient(given: { apiEndpoint: string | undefined; projectId: string | undefined }): Promise<Storage> {
  const { Storage } = await import('@google-cloud/storage').catch((cause) => {
    throw new RepriseError(
      'package.missing',
      'gcs() needs the package @google-cloud/storage: npm install @google-cloud/storage',
      { cause },
    )
  })
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return new Storage({ ...known, retryOptions: { autoRetry: false } })
}

/** As Google allows them, without dots: those are for domain names that were proved to be one's own. */
const BUCKET = /^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/

function checkOptions({ bucket, prefix, client }: GcsOptions): void {
  if (typeof bucket !== 'string' || !BUCKET.test(bucket)) {
    throw new TypeError(`bucket: ${JSON.stringify(bucket)}; allowed is the name of a bucket`)
  }
  if (prefix !== undefined && !(typeof prefix === 'string' && prefix.split('/').every(isSegment))) {
    throw new TypeError(`prefix: ${JSON.stringify(prefix)}; allowed are names with "/" between them`)
  }
  if (client && client.retryOptions?.autoRetry !== false) {
    throw new TypeError(
      'client: its own retries are on, and two layers that retry multiply; make it with new Storage({ retryOptions: { autoRetry: false } })',
    )
  }
}

/** What stays after the retries, in the words of the house; the vendor's error is its cause. */
function told(error: unknown, rootUri: string): unknown {
  if (isRepriseError(error)) return error
  const { code, message } = classify(error, { now: 0 })
  return new RepriseError(
    'artifacts.unavailable',
    `The artifacts under ${rootUri} cannot be used now: ${message} (${code})`,
    {
      cause: error,
    },
  )
}
