/**
 * Facts about the machine that figures depend on.
 */
import { execFileSync } from 'node:child_process'
import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { cpus, loadavg, platform, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { median } from './workloads.ts'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGb: number
  readonly system: string
  readonly filesystem: string
  readonly fdatasyncUs: number
  readonly loadBefore: number
  readonly node: string
}

export function machineFacts(folder: string): Machine {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()}`,
    filesystem: filesystemOf(folder),
    fdatasyncUs: Math.round(fdatasyncUs(folder)),
    loadBefore: Number((loadavg()[0] ?? 0).toFixed(2)),
    node: process.version,
  }
}

function filesystemOf(folder: string): string {
  try {
    return execFileSync('stat', ['-f', '-c', '%T', folder], { encoding: 'utf8' }).trim()
  } catch {
    return 'unknown'
  }
}

/** What one commit pays at least: a page appended and synced. */
function fdatasyncUs(folder: string): number {
  const file = join(folder, 'sync')
  const page = Buffer.alloc(4_096, 1)
  const handle = openSync(file, 'w')
  const times = Array.from({ length: 200 }, () => {
    writeSync(handle, page)
    const at = performance.now()
    fdatasyncSync(handle)
    return (performance.now() - at) * 1_000
  })
  closeSync(handle)
  rmSync(file)
  return median(times)
}

/** The version of an installed package. */
export function versionOf(name: string): string {
  for (const folder of ['../node_modules', '../../node_modules']) {
    try {
      const text = readFileSync(join(import.meta.dirname, folder, name, 'package.json'), 'utf8')
      return (JSON.parse(text) as { version: string }).version
    } catch {
      // Not in this one.
    }
  }
  return 'unknown'
}
