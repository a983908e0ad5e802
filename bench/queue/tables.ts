/**
 * The tables of a series as Markdown, for the terminal and, between two marks, for docs/performance.md.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LIMIT } from './contenders/index.ts'
import { goals } from './goals.ts'
import { type Results, summary } from './results.ts'
import { WORKLOADS } from './workloads.ts'

const DOCS = join(import.meta.dirname, '../../docs/performance.md')
const [FROM, TO] = ['<!-- results: written by the benchmark -->', '<!-- end of results -->']

interface Column {
  readonly title: string
  readonly figure: string
  readonly digits?: number
  /** Shown as a ratio to this contender of the same repeat. */
  readonly to?: string
  readonly range?: true
}

const rate = (title: string, figure: string): Column[] => [
  { title, figure },
  { title: 'min–max', figure, range: true },
  { title: 'of the limit', figure, to: LIMIT },
]

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  w1: [
    ...rate('process/s', 'process'),
    { title: 'warm/s', figure: 'processWarm' },
    { title: 'of the limit, warm', figure: 'processWarm', to: LIMIT },
    { title: 'CPU µs, warm', figure: 'cpuWarmUs', digits: 1 },
    { title: 'bulk submit/s', figure: 'bulk' },
    { title: 'of the limit', figure: 'bulk', to: LIMIT },
  ],
  output: [
    ...rate('process/s', 'process'),
    { title: 'warm/s', figure: 'processWarm' },
    { title: 'of the limit, warm', figure: 'processWarm', to: LIMIT },
  ],
  singles: rate('submits/s', 'submits'),
  w2: [{ title: 'runs/s as users have it', figure: 'runsWaited' }, ...rate('runs/s, no wait', 'runs')],
  pickup: [
    { title: 'p50 ms', figure: 'p50Ms', digits: 2 },
    { title: 'p99 ms', figure: 'p99Ms', digits: 2 },
  ],
  across: [
    { title: 'p50 ms', figure: 'p50Ms', digits: 2 },
    { title: 'p99 ms', figure: 'p99Ms', digits: 2 },
  ],
  calls: [
    { title: 'µs per call', figure: 'usPerCall', digits: 1 },
    { title: 'a call waits, p50 ms', figure: 'waitP50Ms', digits: 2 },
    { title: 'p99 ms', figure: 'waitP99Ms', digits: 2 },
  ],
  backlog: [
    { title: 'empty/s', figure: 'empty' },
    { title: 'full/s', figure: 'filled' },
    { title: 'kept', figure: 'kept', digits: 2 },
  ],
  finished: [
    { title: 'finished runs', figure: 'finished' },
    { title: 'speed kept', figure: 'kept', digits: 2 },
    { title: 'newest page and newest failures, ms', figure: 'lookMs', digits: 2 },
  ],
  memory: [
    { title: 'runs', figure: 'runs' },
    { title: 'early MB', figure: 'earlyMb' },
    { title: 'late MB', figure: 'lateMb' },
    { title: 'peak MB', figure: 'peakMb' },
  ],
}

export function tables(results: Results): string {
  const parts = Object.keys(WORKLOADS).flatMap((workload) => {
    const table = tableOf(results, workload)
    return table === undefined ? [] : [`### ${capital(WORKLOADS[workload]?.title ?? workload)}\n\n${table}`]
  })
  return [facts(results), goals(results), ...parts].join('\n\n')
}

function tableOf(results: Results, workload: string): string | undefined {
  const columns = COLUMNS[workload] ?? []
  const rows = Object.entries(results.contenders).flatMap(([id, { name, durability, share }]) => {
    const cells = columns.map((column) => cellOf(results, workload, id, column))
    if (cells.every((cell) => cell === '–')) return []
    const less = share < 1 && columns.some(({ figure }) => figure !== 'p50Ms' && figure !== 'p99Ms')
    return [[less ? `${name} (${Math.round(share * 100)} % of the runs)` : name, durability, ...cells]]
  })
  if (rows.length === 0) return undefined
  const head = ['contender', 'an acknowledged write survives by', ...columns.map(({ title }) => title)]
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

function cellOf(results: Results, workload: string, contender: string, column: Column): string {
  const found = summary(results, workload, contender, column.figure)
  if (!found) return '–'
  const { digits = 0 } = column
  if (column.to !== undefined) {
    const ratio = found.ratio(column.to)
    return Number.isNaN(ratio) ? '–' : ratio.toFixed(ratio < 0.1 ? 3 : 2)
  }
  const number = (value: number) =>
    value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  return column.range ? `${number(found.min)}–${number(found.max)}` : number(found.median)
}

function facts({ machine, versions, ...results }: Results): string {
  const { startedAt, command, minutes, repeats, sizes, missing } = results
  const lines = [
    `Made by \`${command}\` in \`bench/\` on ${startedAt.slice(0, 10)}, ${minutes} minutes, ${repeats} interleaved repeats, medians.`,
    `Machine: ${machine.cores} × ${machine.cpu}, ${machine.memoryGb} GB, ${machine.system}, ${machine.filesystem}, fdatasync ${machine.fdatasyncUs} µs, load ${machine.loadBefore} before and ${machine.loadAfter} after.`,
    `Versions: Node ${machine.node.slice(1)}, ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}.`,
    `Sizes: ${Object.entries(sizes)
      .map(([name, size]) => `${name} ${size.toLocaleString('en')}`)
      .join(', ')}.`,
    ...missing.map((line) => `Left out: ${line}.`),
    ...(machine.loadBefore > 0.5
      ? ['**Preliminary**: the machine was busy with other work, so these figures are noisy.']
      : []),
  ]
  return lines.join('\n')
}

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

export function writeDocs(results: Results): void {
  const page = readFileSync(DOCS, 'utf8')
  const [from, to] = [page.indexOf(FROM), page.indexOf(TO)]
  if (from === -1 || to < from) throw new Error(`docs/performance.md has no "${FROM}" and "${TO}" to write between`)
  writeFileSync(DOCS, `${page.slice(0, from + FROM.length)}\n\n${tables(results)}\n\n${page.slice(to)}`)
}
