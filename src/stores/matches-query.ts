/**
 * Whether a run is one that a query asks for, for drivers that look at their rows one by one.
 * It knows no driver: what a row must have is said here, and how it is kept is the driver's affair.
 */
import type { Failure } from '../failure/failure.ts'
import type { RunCriteria } from '../ports/store.ts'
import type { Lane, StateWord } from '../run/run.ts'

interface Asked {
  readonly lane: Lane
  readonly key?: string | undefined
  readonly failure?: Failure | undefined
  readonly submittedAt: number
  readonly finishedAt?: number | undefined
}

export function matchesQuery(query: RunCriteria, row: Asked, word: StateWord): boolean {
  const { tasks, states, categories, kinds, code, key, submittedAfter, submittedBefore, finishedBefore } = query
  return (
    among(tasks, row.lane.task) &&
    among(states, word) &&
    among(categories, row.lane.category) &&
    among(kinds, row.failure?.kind) &&
    (code === undefined || hasCode(row, code)) &&
    (key === undefined || row.key === key) &&
    (submittedAfter === undefined || row.submittedAt > submittedAfter) &&
    (submittedBefore === undefined || row.submittedAt < submittedBefore) &&
    (finishedBefore === undefined || (row.finishedAt ?? Number.POSITIVE_INFINITY) < finishedBefore)
  )
}

const among = <T>(allowed: readonly T[] | undefined, value: T | undefined): boolean =>
  allowed === undefined || (value !== undefined && allowed.includes(value))

/** A code that ends in `*` asks for all that begin like it. */
function hasCode({ failure }: Asked, code: string): boolean {
  if (failure === undefined) return false
  return code.endsWith('*') ? failure.code.startsWith(code.slice(0, -1)) : failure.code === code
}
