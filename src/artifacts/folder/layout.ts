/**
 * Where things lie under the root. An artifact is a folder of its own, so that its bytes and what is known about them appear
 * in one rename: `r7/report.pdf@/report.pdf` beside `r7/report.pdf@/@artifact.json`. No name may contain `@`, so nothing clashes.
 */
import { lstat, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { RepriseError } from '../../failure/reprise-error.ts'

/** Half-written artifacts: on the same disk, or a rename could not bring them in place. */
export const TEMPORARY = '@tmp'

export const METADATA = '@artifact.json'

export const folderOf = (root: string, path: readonly string[]): string => `${join(root, ...path)}@`

export const nameOf = (path: readonly string[]): string => path.at(-1) as string

export const codeOf = (error: unknown): string => String((error as { readonly code?: unknown } | null)?.code ?? '')

export const isAbsent = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(error))

/** Whether a real folder is there; a link in its place is somebody's attempt to lead us elsewhere. */
export async function isFolder(folder: string): Promise<boolean> {
  try {
    const found = await lstat(folder)
    if (found.isDirectory()) return true
    throw new RepriseError('artifacts.unsafe', `${folder} is not a folder but a link or a file; it was left alone`)
  } catch (error) {
    if (isAbsent(error)) return false
    throw error
  }
}

/** After every link is followed, the folder must still be under the root. */
export async function assertUnder(root: string, folder: string): Promise<void> {
  const real = await realpath(folder)
  if (real !== root && !real.startsWith(root + sep)) {
    throw new RepriseError('artifacts.unsafe', `${folder} leads out of ${root}; nothing was written or read there`)
  }
}
