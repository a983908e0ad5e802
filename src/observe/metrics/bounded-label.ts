/**
 * Keeps the number of a label's values bounded: what comes after the bound is told as `other`.
 * Every distinct value is a time series for ever, so a name that somebody else chooses must not choose how many there are.
 */

export type BoundedLabel = (value: string | undefined) => string

/** Prometheus takes any text; a longer one is somebody's data and not a name. */
const LENGTH_MAX = 120

export function boundedLabel(max: number): BoundedLabel {
  const known = new Set<string>()
  return (value) => {
    if (value === undefined) return 'none'
    if (known.has(value)) return value
    if (value.length > LENGTH_MAX || known.size >= max) return 'other'
    known.add(value)
    return value
  }
}
