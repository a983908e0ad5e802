/**
 * Removing all that lies under a path: moved aside in one rename, so that nobody ever sees half of it, and deleted there.
 * What dies in between is swept with the other leftovers.
 */
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { randomId } from '../../time/dice.ts'
import { assertUnder, folderOf, isAbsent, isFolder, TEMPORARY } from './layout.ts'

export async function remove(root: string, prefix: readonly string[]): Promise<void> {
  // The object of this very name, and the folder of those whose names begin with it.
  for (const folder of [folderOf(root, prefix), join(root, ...prefix)]) {
    if (!(await isFolder(folder))) continue
    await assertUnder(root, dirname(folder))
    await mkdir(join(root, TEMPORARY), { recursive: true })
    const aside = join(root, TEMPORARY, randomId())
    try {
      await rename(folder, aside)
    } catch (error) {
      if (isAbsent(error)) continue
      throw error
    }
    await rm(aside, { recursive: true, force: true })
  }
}
