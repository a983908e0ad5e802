/**
 * Requests to a bucket of Cloud Storage: the client, which is an optional peer, and the one layer that tries again.
 * It does not know what is asked.
 */
import type { Bucket, Storage } from '@google-cloud/storage'
import { classify } from '../../failure/classify.ts'
import { isRepriseError, RepriseError } from '../../failure/reprise-error.ts'
import { isPolicy, type PolicyInput } from '../../policy/complete-policy.ts'
import { definePolicy } from '../../policy/define-policy.ts'
import type { Policy } from '../../policy/policy.ts'
import { flowStorage } from '../../policy/presets.ts'
import { retry } from '../../retry/retry.ts'
import { type Clock, systemClock } from '../../time/clock.ts'

export interface GcsClientOptions {
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

type Request = <Answer>(verb: (bucket: Bucket) => Promise<Answer>) => Promise<Answer>

/** Each request is tried again by itself: what has succeeded is not repeated because of what came after it. */
export function requestsTo(name: string, options: GcsClientOptions, rootUri: string): Request {
  const { clock = systemClock } = options
  const policy = policyOf(options.policy)
  let opening: Promise<Bucket> | undefined
  return async (verb) => {
    opening ??= openBucket(name, options)
    try {
      const bucket = await opening
      return await retry(() => verb(bucket), { policy, clock })
    } catch (error) {
      throw told(error, rootUri)
    }
  }
}

const policyOf = (given: Policy | PolicyInput = {}): Policy =>
  isPolicy(given) ? given : definePolicy(given, flowStorage)

async function openBucket(name: string, { client, apiEndpoint, projectId }: GcsClientOptions): Promise<Bucket> {
  const storage = client ?? (await newClient({ apiEndpoint, projectId }))
  return storage.bucket(name)
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

/** As Google allows them; those with dots are domain names that were proved to be one's own. */
const BUCKET = /^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/

export function checkBucket(field: string, bucket: unknown): void {
  if (typeof bucket !== 'string' || !BUCKET.test(bucket))
    throw new TypeError(`${field}: ${JSON.stringify(bucket)}; allowed is the name of a bucket`)
}

export function checkClient({ client, ...own }: GcsClientOptions): void {
  if (!client) return
  for (const field of ['apiEndpoint', 'projectId'] as const)
    if (own[field] !== undefined)
      throw new TypeError(`${field}: ${JSON.stringify(own[field])}; allowed is none beside client, which has its own`)
  if (client.retryOptions?.autoRetry !== false) {
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
