/**
 * What `retry` remembers about an error it gave up on: every failure, decision and time, kept beside the error and not on
 * it, so that the error stays as it was thrown. It also tells an outer `retry` that an inner one has been here.
 */
import type { Failure } from '../failure/failure.ts'
import type { Decision } from '../policy/decision.ts'

export interface RetryEntry {
  /** Number of the execution that failed, from 1. */
  readonly attempt: number
  /** Epoch milliseconds of the failure, and the draw that was used: with them `decide` gives the same decision again. */
  readonly at: number
  readonly dice: number
  readonly failure: Failure
  readonly decision: Decision
  /** What was thrown, unchanged. */
  readonly error: unknown
  /** The history of an inner `retry` that had already given up on this error. */
  readonly inner?: readonly RetryEntry[]
}

export type RetryHistory = readonly RetryEntry[]

interface Spent {
  readonly history: RetryHistory
  /** Position in the order of all endings: tells whether it happened inside a given attempt. */
  readonly order: number
}

const spent = new WeakMap<object, Spent>()
let endings = 0

/** How many retries have ended so far. What ends after this mark, ends inside the attempt that took it. */
export function endingsSoFar(): number {
  return endings
}

export function remember(error: unknown, history: RetryHistory): void {
  if (canHold(error)) spent.set(error, { history, order: ++endings })
}

const NONE: RetryHistory = Object.freeze([])

/**
 * What was tried before this error came out of `retry`, oldest first. Empty for an error that no `retry` threw, and for
 * a thrown string, number or other primitive, because nothing can be kept beside those; `{ wrap: true }` helps there.
 */
export function historyOf(error: unknown): RetryHistory {
  return (canHold(error) && spent.get(error)?.history) || NONE
}

/** Wrappers are looked through this deep, and this wide. */
const CAUSES_MAX = 16

/** The history of an inner `retry` that ended after `mark` with this error, or with one that it carries as a cause. */
export function innerHistory(error: unknown, mark: number): RetryHistory | undefined {
  // Nothing has ended since, which is the usual case: no chain is walked.
  if (endings === mark) return undefined
  const queue = [error]
  for (let index = 0; index < queue.length && index < CAUSES_MAX; index++) {
    const one = queue[index]
    if (!canHold(one)) continue
    const found = spent.get(one)
    if (found && found.order > mark) return found.history
    queue.push(read(one, 'cause'))
    const errors = read(one, 'errors')
    if (Array.isArray(errors)) queue.push(...errors.slice(0, CAUSES_MAX))
  }
  return undefined
}

function read(value: object, key: 'cause' | 'errors'): unknown {
  try {
    return (value as { cause?: unknown; errors?: unknown })[key]
  } catch {
    return undefined
  }
}

function canHold(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}
