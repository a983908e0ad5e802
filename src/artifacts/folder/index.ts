/**
 * The folder driver of the Artifacts port: files on a local disk, created once and never replaced.
 * Public as `reprise/artifacts/folder`.
 */
import { mkdir, realpath } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { isRepriseError, RepriseError } from '../../failure/reprise-error.ts'
import type { Artifacts, PutArtifact, StoredArtifact } from '../../ports/artifacts.ts'
import { type Clock, systemClock } from '../../time/clock.ts'
import { checkPath, pathUnder } from '../artifact-path.ts'
import { folderOf } from './layout.ts'
import { publish, sweepLeftovers, syncFolder } from './publish.ts'
import { remove } from './remove.ts'
import { readStored, type Stored, sha256Of } from './stored.ts'

/** Relative to the root, so that the folder can be moved. */
const ROOT_URI = 'folder:'

export interface FolderOptions {
  /** Made if it is not there. Only the workers' own user should be able to write to it. */
  readonly root: string
  /** Tells how old a leftover is. @default the system's clock */
  readonly clock?: Clock
}

export function folder({ root: given, clock = systemClock }: FolderOptions): Artifacts {
  if (typeof given !== 'string' || given.trim() === '' || given.includes('\0')) {
    throw new TypeError(`root: ${JSON.stringify(given)}; allowed is the path of a folder`)
  }
  const wanted = resolve(given)
  let opening: Promise<string> | undefined

  /** The root with every link followed, so that what lies under it can be compared with it. */
  const open = (): Promise<string> => {
    opening ??= openRoot(wanted, clock).catch((error) => {
      // Tried again at the next call: the disk may be back by then.
      opening = undefined
      throw error
    })
    return opening
  }

  return {
    name: 'folder',
    put: (request) => telling(wanted, async () => put(await open(), request)),
    get: (uri) =>
      telling(wanted, async () => {
        const path = pathUnder(ROOT_URI, uri)
        const found = path && (await readStored(await open(), path))
        return found === undefined || found === 'broken' ? found : found.body
      }),
    remove: (prefix) =>
      telling(wanted, async () => {
        checkPath(prefix)
        await remove(await open(), prefix)
      }),
    close: async () => undefined,
  }
}

async function openRoot(wanted: string, clock: Clock): Promise<string> {
  await mkdir(wanted, { recursive: true })
  const root = await realpath(wanted)
  await sweepLeftovers(root, clock.now())
  return root
}

async function put(
  root: string,
  { path, body, fingerprint, contentType }: PutArtifact,
): Promise<StoredArtifact | 'conflict'> {
  checkPath(path)
  const known = await readStored(root, path)
  if (known) return reuse(root, path, fingerprint, known)
  const sha256 = sha256Of(body)
  const metadata = {
    ...{ path: [...path], sha256, fingerprint, bytes: body.byteLength },
    ...(contentType === undefined ? {} : { contentType }),
  }
  if (await publish(root, metadata, body)) return { uri: uriOf(path), sha256, bytes: body.byteLength, reused: false }
  return reuse(root, path, fingerprint, (await readStored(root, path)) ?? 'broken')
}

/** The stored object wins when it was made of the same input and is whole; otherwise a person must look. */
async function reuse(
  root: string,
  path: readonly string[],
  fingerprint: string,
  known: Stored | 'broken',
): Promise<StoredArtifact | 'conflict'> {
  if (known === 'broken' || known.metadata.fingerprint !== fingerprint) return 'conflict'
  // Its writer may have died, or still be, between the rename and the sync.
  await syncFolder(dirname(folderOf(root, path)))
  const { sha256, bytes } = known.metadata
  return { uri: uriOf(path), sha256, bytes, reused: true }
}

const uriOf = (path: readonly string[]): string => `${ROOT_URI}${path.join('/')}`

/** A disk that is full, gone or locked, in the words of the house. */
async function telling<Answer>(root: string, verb: () => Promise<Answer>): Promise<Answer> {
  try {
    return await verb()
  } catch (error) {
    if (isRepriseError(error) || typeof (error as { code?: unknown }).code !== 'string') throw error
    throw new RepriseError(
      'artifacts.unavailable',
      `The artifacts under ${root} cannot be used now: ${(error as Error).message}; look at the disk and at the permissions.`,
      { cause: error },
    )
  }
}
