/**
 * Reading what is there: the bytes, checked against what was written about them.
 * It writes nothing.
 */
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { assertUnder, codeOf, folderOf, isAbsent, isFolder, METADATA, nameOf } from './layout.ts'

/** What is known about an artifact, kept beside its bytes. */
export interface Metadata {
  readonly path: readonly string[]
  readonly sha256: string
  readonly fingerprint: string
  readonly bytes: number
  readonly contentType?: string
}

export interface Stored {
  readonly metadata: Metadata
  readonly body: Uint8Array
}

export const sha256Of = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex')

/** `broken`: something is there, but not what was once written whole. */
export async function readStored(root: string, path: readonly string[]): Promise<Stored | 'broken' | undefined> {
  const folder = folderOf(root, path)
  if (!(await isFolder(folder))) return undefined
  await assertUnder(root, dirname(folder))
  const text = await readFile(join(folder, METADATA))
  const body = await readFile(join(folder, nameOf(path)))
  const metadata = text && parse(text)
  if (!metadata || !body) return 'broken'
  // On a disk that does not tell upper from lower case, another name may have led here.
  const same = metadata.path.join('/') === path.join('/')
  return same && metadata.bytes === body.byteLength && metadata.sha256 === sha256Of(body)
    ? { metadata, body }
    : 'broken'
}

function parse(text: Uint8Array): Metadata | undefined {
  try {
    const found = JSON.parse(Buffer.from(text).toString()) as Metadata
    return Array.isArray(found.path) && typeof found.sha256 === 'string' ? found : undefined
  } catch {
    return undefined
  }
}

/** `undefined` when there is no such file, or a link or something else in its place. */
async function readFile(file: string): Promise<Uint8Array | undefined> {
  let handle: FileHandle
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch (error) {
    if (isAbsent(error) || codeOf(error) === 'ELOOP') return undefined
    throw error
  }
  try {
    return (await handle.stat()).isFile() ? await handle.readFile() : undefined
  } finally {
    await handle.close()
  }
}
