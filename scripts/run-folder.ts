/**
 * The folder of one run of the tests: what its processes leave in the folder for temporary files and what they compiled, gone with the run.
 * In memory where the machine has room, because thousands of small stores wait for the disk; at full size on the disk, as in production.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** A run needs a tenth of it. */
const ROOM_MIN_BYTES = 2 * 1024 ** 3

/** Makes the folder, has this process and all that it starts use it, and removes it when this process ends. */
export function enterRunFolder(): void {
  const folder = (process.env['REPRISE_TEST_CHAOS'] === 'full' ? undefined : inMemory()) ?? made(tmpdir())
  process.env['TMPDIR'] = folder
  // Hundreds of processes start from the same source: its types are stripped and its code is compiled once.
  process.env['NODE_COMPILE_CACHE'] = join(folder, 'compiled')
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
}

const made = (parent: string): string => mkdtempSync(join(parent, 'reprise-test-'))

/** Undefined where there is no such place, too little room in it, or where it refuses to run programs. */
function inMemory(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    if (bavail * bsize < ROOM_MIN_BYTES) return undefined
    const folder = made(MEMORY)
    const program = join(folder, 'program')
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
    if (spawnSync(program).status === 0) return folder
    rmSync(folder, { recursive: true })
    return undefined
  } catch {
    return undefined
  }
}
