/**
 * Reading objects that others wrote into Cloud Storage, by their `gs://` uris and from named buckets only.
 * They carry no marks of ours, so that the bucket's own hash is compared; nothing is ever written here.
 */
import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { type GcsObject, readObject } from './objects.ts'
import { checkBucket, checkClient, type GcsClientOptions, requestsTo } from './requests.ts'

interface GcsObjectsOptions extends GcsClientOptions {
  /** Uris of other buckets are not read, whatever a document names. */
  readonly buckets: readonly string[]
}

/** The bytes; `undefined` when there is no such object in these buckets, `"broken"` when a hash does not match. */
export function gcsObjects(options: GcsObjectsOptions): (uri: string) => Promise<Uint8Array | 'broken' | undefined> {
  const { buckets } = options
  if (!Array.isArray(buckets) || buckets.length === 0)
    throw new TypeError(`buckets: ${JSON.stringify(buckets)}; allowed is a list with the name of at least one bucket`)
  buckets.forEach((bucket, index) => void checkBucket(`buckets[${index}]`, bucket))
  checkClient(options)
  const requests = new Map(buckets.map((bucket) => [bucket, requestsTo(bucket, options, `gs://${bucket}/`)]))
  return async (uri) => {
    const [, bucket, name] = /^gs:\/\/([^/]+)\/(.+)$/s.exec(uri) ?? []
    const request = bucket === undefined ? undefined : requests.get(bucket)
    const known = request && name !== undefined && (await request((opened) => readObject(opened, name)))
    if (!known) return undefined
    if (!isWhole(known)) return 'broken'
    return known.contentEncoding === 'gzip' ? new Uint8Array(gunzipSync(known.body)) : known.body
  }
}

/** What has neither hash, as an object that was put together from parts, is taken as it came. */
function isWhole({ body, sha256, md5 }: GcsObject): boolean {
  if (sha256 !== undefined) return createHash('sha256').update(body).digest('hex') === sha256
  return md5 === undefined || createHash('md5').update(body).digest('base64') === md5
}
