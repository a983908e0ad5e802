/**
 * The Google Cloud Storage driver of the Artifacts port: one object per artifact, created with `ifGenerationMatch=0` and never replaced.
 * Public as `reprise/artifacts/gcs`. It does not know what an artifact is made of.
 */
import { createHash } from 'node:crypto'
import type { Artifacts, PutArtifact, StoredArtifact } from '../../ports/artifacts.ts'
import { checkPath, isSegment, pathUnder } from '../artifact-path.ts'
import { deleteUnder, type GcsObject, insertOnce, readObject } from './objects.ts'
import { checkBucket, checkClient, type GcsClientOptions, requestsTo } from './requests.ts'

export { gcsObjects } from './read-objects.ts'

export interface GcsOptions extends GcsClientOptions {
  readonly bucket: string
  /** Objects lie under it: `reports/2026`. @default the bucket's root */
  readonly prefix?: string
}

export function gcs(options: GcsOptions): Artifacts {
  const { bucket: name, prefix } = options
  checkOptions(options)
  const folder = prefix === undefined ? '' : `${prefix}/`
  const rootUri = `gs://${name}/${folder}`
  const objectOf = (path: readonly string[]): string => `${folder}${path.join('/')}`
  const request = requestsTo(name, options, rootUri)
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

const sha256Of = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex')

/** An object that somebody put there without a hash has none that could match. */
const isWhole = ({ sha256, body }: GcsObject): boolean => sha256 !== undefined && sha256Of(body) === sha256

function checkOptions({ bucket, prefix, ...options }: GcsOptions): void {
  checkBucket('bucket', bucket)
  if (prefix !== undefined && !(typeof prefix === 'string' && prefix.split('/').every(isSegment))) {
    throw new TypeError(`prefix: ${JSON.stringify(prefix)}; allowed are names with "/" between them`)
  }
  checkClient(options)
}
