/**
 * Bringing an artifact in place: written whole and synced beside, then renamed. Until the rename there is nothing, after it
 * everything; and a folder that has something in it is never replaced by a rename.
 */
import { constants } from 'node:fs'
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { randomId } from '../../time/dice.ts'
import { assertUnder, codeOf, folderOf, isFolder, METADATA, nameOf, TEMPORARY } from './layout.ts'
import type { Metadata } from './stored.ts'

/** What a rename says when the name is taken: by a folder, by a file, or on Windows by either. */
const TAKEN = new Set(['ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EPERM', 'EACCES'])

/** Long after any writer has finished or died. */
const LEFTOVER_MS = 24 * 3_600_000

/** Leftovers looked at in one go. */
const LEFTOVERS_MAX = 1_000

/** True when it is in place, false when the name was taken first. */
export async function publish(root: string, metadata: Metadata, body: Uint8Array): Promise<boolean> {
  const { path } = metadata
  const temporary = await writeBeside(root, metadata, body)
  try {
    const folder = folderOf(root, path)
    await makeFolders(root, path.slice(0, -1))
    if (!(await renameFree(temporary, folder))) return false
    await syncFolder(dirname(folder))
    return true
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

async function writeBeside(root: string, metadata: Metadata, body: Uint8Array): Promise<string> {
  const temporary = join(root, TEMPORARY, randomId())
  await makeFolder(join(root, TEMPORARY))
  // Without `recursive` it fails when it exists, so nobody else can have prepared it.
  await mkdir(temporary, { mode: 0o700 })
  try {
    await writeNew(join(temporary, nameOf(metadata.path)), body)
    await writeNew(join(temporary, METADATA), Buffer.from(JSON.stringify(metadata)))
    await syncFolder(temporary)
    return temporary
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    throw error
  }
}

async function writeNew(file: string, body: Uint8Array): Promise<void> {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants
  const handle = await open(file, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600)
  try {
    await handle.writeFile(body)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Each folder on the way is made or found, is a real one, and is still under the root. */
async function makeFolders(root: string, path: readonly string[]): Promise<void> {
  let folder = root
  for (const segment of path) {
    folder = join(folder, segment)
    await makeFolder(folder)
  }
  await assertUnder(root, folder)
}

async function makeFolder(folder: string): Promise<void> {
  if (await isFolder(folder)) return
  try {
    await mkdir(folder)
    await syncFolder(dirname(folder))
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !(await isFolder(folder))) throw error
  }
}

async function renameFree(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    if (TAKEN.has(codeOf(error)) && (await isFolder(to))) return false
    throw error
  }
}

/** A name is only on the disk once its folder is. Windows knows no such thing and needs none. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Removes what writers that died have left behind. Nothing depends on it. */
export async function sweepLeftovers(root: string, now: number): Promise<void> {
  const folder = join(root, TEMPORARY)
  if (!(await isFolder(folder))) return
  const names = await readdir(folder)
  for (const name of names.slice(0, LEFTOVERS_MAX)) {
    const found = await lstat(join(folder, name)).catch(() => undefined)
    if (found && now - found.mtimeMs > LEFTOVER_MS) await rm(join(folder, name), { recursive: true, force: true })
  }
}
