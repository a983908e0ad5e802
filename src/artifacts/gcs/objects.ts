/**
 * The three requests to Cloud Storage, each sent once: insert if absent, read whole, delete what lies under a name.
 * They know objects and preconditions, not artifacts; a race is an answer and everything else is thrown as the client throws it.
 */
import { createHash } from 'node:crypto'
import type { Bucket } from '@google-cloud/storage'

export interface GcsObject {
  readonly body: Uint8Array
  readonly sha256?: string
  readonly fingerprint?: string
  /** The bucket's own; objects that were put together from parts have none. */
  readonly md5?: string
  readonly contentEncoding?: string
}

/** Objects that are deleted at the same time: enough to be quick, too few to be told to slow down. */
const DELETES_AT_ONCE = 16

export async function insertOnce(
  bucket: Bucket,
  name: string,
  body: Uint8Array,
  marks: { readonly sha256: string; readonly fingerprint: string },
  contentType = 'application/octet-stream',
): Promise<'ok' | 'exists'> {
  try {
    await bucket.file(name).save(body, {
      resumable: false,
      preconditionOpts: { ifGenerationMatch: 0 },
      // The server compares what arrived with this hash and creates nothing when they differ. The client's own comparison comes
      // after the fact and deletes the object, which by then another worker may have found and used.
      validation: false,
      metadata: { contentType, md5Hash: createHash('md5').update(body).digest('base64'), metadata: { ...marks } },
    })
    return 'ok'
  } catch (error) {
    if (statusOf(error) === 412) return 'exists'
    throw error
  }
}

/** Marks and bytes of the same generation; `undefined` when there is none. */
export async function readObject(bucket: Bucket, name: string): Promise<GcsObject | undefined> {
  try {
    const [metadata] = await bucket.file(name).getMetadata()
    // Our own hash is compared by the caller, and says more than the transfer's: it also covers what the bucket did since.
    const [body] = await bucket
      .file(name, metadata.generation === undefined ? {} : { generation: metadata.generation })
      .download({ validation: false, decompress: false })
    const { sha256, fingerprint } = metadata.metadata ?? {}
    const { md5Hash: md5, contentEncoding } = metadata
    return {
      body: new Uint8Array(body),
      ...(typeof sha256 === 'string' ? { sha256 } : {}),
      ...(typeof fingerprint === 'string' ? { fingerprint } : {}),
      ...(md5 === undefined ? {} : { md5 }),
      ...(contentEncoding === undefined ? {} : { contentEncoding }),
    }
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw error
  }
}

/** The object of that name and all under it, whole segments only. What is gone already is no error. */
export async function deleteUnder(bucket: Bucket, name: string): Promise<void> {
  await bucket.file(name).delete({ ignoreNotFound: true })
  // Page by page, so that memory does not grow with what is deleted.
  let pageToken: string | undefined
  do {
    const [files, next] = await bucket.getFiles({
      prefix: `${name}/`,
      autoPaginate: false,
      maxResults: 1000,
      ...(pageToken === undefined ? {} : { pageToken }),
    })
    for (let at = 0; at < files.length; at += DELETES_AT_ONCE) {
      await Promise.all(files.slice(at, at + DELETES_AT_ONCE).map((file) => file.delete({ ignoreNotFound: true })))
    }
    pageToken = (next as { pageToken?: string } | null)?.pageToken
  } while (pageToken !== undefined)
}

const statusOf = (error: unknown): unknown => (error as { code?: unknown } | undefined)?.code
