/**
 * A disk that can be filled to the last byte and emptied again: a tmpfs of its own where mounting is allowed, and otherwise a limit
 * on the pages of the worker's database, which refuses in the same words.
 */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterwards } from './arena.fixtures.ts'
import type { ArenaOptions } from './arena.ts'
import type { WorkerProcess } from './worker-pool.ts'

const SIZE = '24m'
const CHUNK_BYTES = 4_096

export interface SmallDisk {
  readonly kind: 'tmpfs' | 'pages'
  readonly setup: Pick<ArenaOptions, 'storeFolder' | 'pagesLimited'>
  fill(worker: WorkerProcess): void
  free(worker: WorkerProcess): void
}

export function smallDisk(): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-disk-'))
  afterwards(() => rmdirSync(folder))
  try {
    execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'reprise-chaos', folder], { stdio: 'ignore' })
  } catch {
    // Each SIGUSR2 lets the worker's database grow no further, or lifts that again.
    const toggle = (worker: WorkerProcess) => worker.send('SIGUSR2')
    return { kind: 'pages', setup: { pagesLimited: true }, fill: toggle, free: toggle }
  }
  afterwards(() => execFileSync('/bin/umount', [folder]))
  const ballast = join(folder, 'ballast')
  return { kind: 'tmpfs', setup: { storeFolder: folder }, fill: () => fillUp(ballast), free: () => rmSync(ballast) }
}

function fillUp(file: string): void {
  const descriptor = openSync(file, 'w')
  const chunk = Buffer.alloc(CHUNK_BYTES)
  try {
    for (;;) writeSync(descriptor, chunk)
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOSPC') throw error
  } finally {
    closeSync(descriptor)
  }
}
