/**
 * What a series is asked to do: which contenders and workloads, how often, how large.
 */
import { parseArgs } from 'node:util'
import { CONTENDERS } from './contenders/index.ts'
import { type Sizes, WORKLOADS } from './workloads.ts'

export interface Options {
  readonly mode: 'quick' | 'usual' | 'full'
  readonly contenders: readonly string[]
  readonly workloads: readonly string[]
  readonly repeats: number
  readonly sizes: Sizes
  /** Write charts and tables into the documentation. */
  readonly docs: boolean
}

const SIZES: Readonly<Record<Options['mode'], Sizes>> = {
  quick: {
    runs: 5_000,
    singles: 2_000,
    failing: 1_000,
    backlog: 10_000,
    pickups: 40,
    calls: 5_000,
    memoryRuns: 40_000,
  },
  usual: {
    runs: 20_000,
    singles: 10_000,
    failing: 5_000,
    backlog: 100_000,
    pickups: 300,
    calls: 50_000,
    memoryRuns: 200_000,
  },
  full: {
    runs: 20_000,
    singles: 10_000,
    failing: 5_000,
    backlog: 1_000_000,
    pickups: 300,
    calls: 50_000,
    memoryRuns: 1_000_000,
  },
}

const REPEATS = { quick: 1, usual: 5, full: 5 }

export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean' },
      full: { type: 'boolean' },
      docs: { type: 'boolean' },
      repeats: { type: 'string' },
      runs: { type: 'string' },
      only: { type: 'string', multiple: true },
      workload: { type: 'string', multiple: true },
    },
  })
  const mode = values.full ? 'full' : values.quick ? 'quick' : 'usual'
  const repeats = values.repeats === undefined ? REPEATS[mode] : whole('--repeats', values.repeats)
  const runs = values.runs === undefined ? {} : { runs: whole('--runs', values.runs) }
  return {
    mode,
    contenders: chosen('--only', Object.keys(CONTENDERS), values.only),
    workloads: chosen('--workload', Object.keys(WORKLOADS), values.workload),
    repeats,
    sizes: { ...SIZES[mode], ...runs },
    docs: values.docs ?? false,
  }
}

function whole(field: string, text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value > 0) return value
  throw new Error(`${field} is "${text}". Allowed: a whole number from 1.`)
}

/** Names or their beginnings: `--only reprise` means both of them. */
function chosen(field: string, all: readonly string[], wanted: readonly string[] | undefined): readonly string[] {
  if (!wanted) return all
  for (const name of wanted) {
    if (!all.some((each) => each.startsWith(name)))
      throw new Error(`${field} is "${name}". Allowed: ${all.join(', ')}, or how they begin.`)
  }
  return all.filter((each) => wanted.some((name) => each.startsWith(name)))
}
