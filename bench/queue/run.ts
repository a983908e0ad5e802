/**
 * One series: starts the servers, runs every contender with every workload in a process of its own, repeat by repeat, and keeps the results.
 * Usage: npm run bench [-- --quick | --full] [--only reprise] [--workload w1] [--repeats 5] [--docs]
 */
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { CellOrder } from './cell.ts'
import { drawCharts } from './charts.ts'
import { CONTENDERS } from './contenders/index.ts'
import { machineFacts, versionOf } from './machine.ts'
import { type Options, readOptions } from './options.ts'
import type { Contender, Surroundings } from './queue.ts'
import type { Measured, Results } from './results.ts'
import { type Servers, startServers } from './servers.ts'
import { tables, writeDocs } from './tables.ts'
import { type Figures, WORKLOADS } from './workloads.ts'

const CELL_MAX_MS = 15 * 60_000
const RESULTS = join(import.meta.dirname, '../results')
const PACKAGES = ['better-sqlite3', 'plainjob', 'bullmq', 'ioredis', 'pg-boss', 'graphile-worker', 'pg']

const execute = promisify(execFile)

interface Turn {
  readonly repeat: number
  readonly contender: string
  readonly workload: string
}

async function series(options: Options, folder: string): Promise<Results> {
  const startedAt = new Date()
  const contenders = new Map<string, Contender>()
  for (const name of options.contenders) contenders.set(name, await (CONTENDERS[name] as () => Promise<Contender>)())
  const machine = machineFacts(folder)
  const needs = new Set([...contenders.values()].flatMap(({ needs }) => needs ?? []))
  const servers = await startServers(folder, needs)
  try {
    for (const line of servers.missing) console.error(`left out: ${line}`)
    const cells = await measureAll(turnsOf(options, contenders, servers), options, servers, folder)
    return {
      startedAt: startedAt.toISOString(),
      minutes: Math.round((Date.now() - startedAt.getTime()) / 6_000) / 10,
      command: `npm run bench${process.argv.length > 2 ? ` -- ${process.argv.slice(2).join(' ')}` : ''}`,
      mode: options.mode,
      repeats: options.repeats,
      sizes: options.sizes,
      machine: { ...machine, loadAfter: Number((loadavg()[0] ?? 0).toFixed(2)) },
      versions: { ...Object.fromEntries(PACKAGES.map((name) => [name, versionOf(name)])), ...servers.versions },
      contenders: Object.fromEntries(
        [...contenders].map(([id, { name, durability, share = 1 }]) => [id, { name, durability, share }]),
      ),
      missing: servers.missing,
      cells,
    }
  } finally {
    await servers.stop()
  }
}

/** Contenders take turns within a workload, so that a noisy minute is noisy for all; another one begins in each repeat. */
function turnsOf(options: Options, contenders: ReadonlyMap<string, Contender>, servers: Servers): Turn[] {
  const present = [...contenders].flatMap(([name, { needs }]) => {
    if (needs === 'redis' && servers.redis.everysec === undefined) return []
    return needs === 'postgres' && servers.postgres === undefined ? [] : [name]
  })
  return Array.from({ length: options.repeats }, (_, repeat) =>
    options.workloads.flatMap((workload) => {
      const { only, once } = WORKLOADS[workload] as (typeof WORKLOADS)[string]
      if (once && repeat > 0) return []
      const able = present.filter((name) => only?.test(name) ?? true)
      const order = able.map((_, index) => able[(index + repeat) % able.length] as string)
      return order.map((contender) => ({ repeat, contender, workload }))
    }),
  ).flat()
}

async function measureAll(
  turns: readonly Turn[],
  options: Options,
  servers: Servers,
  folder: string,
): Promise<Measured[]> {
  const cells: Measured[] = []
  for (const [index, { repeat, contender, workload }] of turns.entries()) {
    const place = `[${String(index + 1).padStart(String(turns.length).length)}/${turns.length}]`
    const own = mkdtempSync(join(folder, 'cell-'))
    const surroundings: Surroundings = {
      folder: own,
      redis: servers.redis,
      postgres: servers.postgres,
      outputs: WORKLOADS[workload]?.outputs ?? false,
    }
    try {
      const figures = await measure({ contender, workload, surroundings, sizes: options.sizes })
      cells.push({ repeat, contender, workload, figures })
      console.error(`${place} ${repeat + 1}/${options.repeats} ${workload} ${contender}: ${shown(figures)}`)
    } catch (error) {
      console.error(`${place} ${workload} ${contender} failed and is left out: ${(error as Error).message}`)
    } finally {
      rmSync(own, { recursive: true, force: true })
    }
  }
  return cells
}

async function measure(order: CellOrder): Promise<Figures> {
  const cell = join(import.meta.dirname, 'cell.ts')
  const { stdout, stderr } = await execute(process.execPath, [cell, JSON.stringify(order)], { timeout: CELL_MAX_MS })
  if (stderr !== '') console.error(stderr.trim())
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Figures
}

const shown = (figures: Figures): string =>
  Object.entries(figures)
    .map(([name, value]) => `${name} ${value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 2 : 0 })}`)
    .join(', ')

const options = readOptions(process.argv.slice(2))
const folder = mkdtempSync(join(tmpdir(), 'reprise-bench-'))
// PostgreSQL runs as another user and has its data in here.
chmodSync(folder, 0o711)
try {
  const results = await series(options, folder)
  mkdirSync(RESULTS, { recursive: true })
  writeFileSync(join(RESULTS, 'latest.json'), `${JSON.stringify(results, undefined, 2)}\n`)
  console.log(tables(results))
  if (options.docs) {
    drawCharts(results)
    writeDocs(results)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
