/**
 * Rules that most documents need, ready-made: fields that must say something, lines that add up, dates in order.
 * Each is an ordinary rule; nothing here is special to the gate.
 */
import { pointerOf, valueAt } from './issue.ts'
import type { Rule } from './rule.ts'

/**
 * Each of these must be there and say something: neither null, nor blank, nor an empty list. A schema's `required` lets `""` pass.
 * @example requiredFields('/number', '/seller/name')
 */
export function requiredFields(...paths: readonly string[]): Rule {
  return {
    name: 'required',
    message: 'must be there and not be empty',
    check: (value) => paths.filter((path) => isEmpty(valueAt(value, path))).map((path) => ({ path })),
  }
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'string' && value.trim() === '') ||
  (Array.isArray(value) && value.length === 0)

export interface SumOptions {
  /** JSON pointer to the list. */
  readonly lines: string
  /** Name of the amount in each line. */
  readonly amount: string
  /** JSON pointer to what they must add up to. */
  readonly total: string
  /** How far apart they may be; half a cent by default, because cents are not exact in binary. */
  readonly tolerance?: number
  /** More of the same rule in one gate need names of their own. @default "sum" */
  readonly name?: string
}

/**
 * The amounts of the lines add up to the total. Anything that is not a finite number breaks it.
 * @example sumEquals({ lines: '/lines', amount: 'total', total: '/total' })
 */
export function sumEquals({ lines, amount, total, tolerance = 0.005, name = 'sum' }: SumOptions): Rule {
  return {
    name,
    path: total,
    message: `must be the sum of ${amount} over ${lines}`,
    check(value) {
      const list = valueAt(value, lines)
      if (!Array.isArray(list)) return [{ path: lines }]
      const amounts = list.map((line) => valueAt(line, pointerOf([amount])))
      const odd = amounts.flatMap((each, index) =>
        isAmount(each) ? [] : [{ path: `${lines}/${index}${pointerOf([amount])}` }],
      )
      if (odd.length > 0) return odd
      const sum = amounts.reduce<number>((so, each) => so + (each as number), 0)
      const stated = valueAt(value, total)
      if (!isAmount(stated)) return false
      return (
        Math.abs(sum - stated) <= tolerance || `${round(sum)} is the sum of the lines, and ${round(stated)} is stated`
      )
    },
  }
}

const isAmount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

const round = (amount: number): string => String(Math.round(amount * 1e6) / 1e6)

export interface DatesOptions {
  /** @default "dates" */
  readonly name?: string
}

/**
 * Dates in the order in which they are named, equal ones allowed; those that are absent are left out.
 * @example datesInOrder(['/issued', '/due'])
 */
export function datesInOrder(paths: readonly string[], { name = 'dates' }: DatesOptions = {}): Rule {
  return {
    name,
    message: `must be dates in this order: ${paths.join(', ')}`,
    check(value) {
      const dated = paths.flatMap((path) => {
        const found = valueAt(value, path)
        return found === undefined || found === null
          ? []
          : [{ path, at: typeof found === 'string' ? Date.parse(found) : Number.NaN }]
      })
      const unread = dated.filter(({ at }) => Number.isNaN(at))
      if (unread.length > 0) return unread.map(({ path }) => ({ path }))
      return dated.flatMap(({ path, at }, index) => (index > 0 && at < (dated[index - 1]?.at ?? at) ? [{ path }] : []))
    },
  }
}
