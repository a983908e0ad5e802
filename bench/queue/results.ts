/**
 * The results of a series as they are kept in `results/latest.json`, and what tables and charts read from them.
 */
import type { Machine } from './machine.ts'
import { type Figures, median, type Sizes } from './workloads.ts'

export interface Measured {
  readonly repeat: number
  readonly contender: string
  readonly workload: string
  readonly figures: Figures
}

export interface Results {
  readonly startedAt: string
  readonly minutes: number
  readonly command: string
  readonly mode: string
  readonly repeats: number
  readonly sizes: Sizes
  readonly machine: Machine & { readonly loadAfter: number }
  readonly versions: Readonly<Record<string, string>>
  readonly contenders: Readonly<
    Record<string, { readonly name: string; readonly durability: string; readonly share: number }>
  >
  readonly missing: readonly string[]
  readonly cells: readonly Measured[]
}

export interface Summary {
  readonly median: number
  readonly min: number
  readonly max: number
  /** Median over the repeats of the ratio to another contender in the same repeat. */
  readonly ratio: (to: string) => number
}

export function summary(results: Results, workload: string, contender: string, figure: string): Summary | undefined {
  const of = (name: string) =>
    new Map(
      results.cells
        .filter((cell) => cell.workload === workload && cell.contender === name)
        .flatMap(({ repeat, figures }) => {
          const value = figures[figure]
          return value === undefined ? [] : [[repeat, value] as const]
        }),
    )
  const own = of(contender)
  if (own.size === 0) return undefined
  const values = [...own.values()]
  return {
    median: median(values),
    min: Math.min(...values),
    max: Math.max(...values),
    ratio: (to) => {
      const other = of(to)
      return median(
        [...own].flatMap(([repeat, value]) => {
          const base = other.get(repeat)
          return base === undefined ? [] : [value / base]
        }),
      )
    },
  }
}
