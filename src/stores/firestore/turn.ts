/**
 * The line of one concurrency key: who is out, and who waits for whom. Pure; the documents it lives in are `turns.ts`'s affair.
 * It does not know why room was made.
 */

export interface Waiter {
  readonly run: string
  /** Those of one lane wait for each other; no lane waits for another, which may be held or served by nobody. */
  readonly lane: string
  readonly place: number
  readonly order: string
  readonly n: number
  readonly max: number
  /** It was woken or given back, and no claim has taken it yet. */
  readonly ready?: true
}

export interface Line {
  /** Runs in somebody's hands. */
  readonly out: readonly string[]
  /** In the order of claims. */
  readonly waiters: readonly Waiter[]
}

export const NO_LINE: Line = { out: [], waiters: [] }

/** More are left ready, and met by every claim: the document of the line has an end. */
export const WAITERS_MAX = 4_000

export const isEmptyLine = ({ out, waiters }: Line): boolean => out.length + waiters.length === 0

export const isIn = ({ out, waiters }: Line, run: string): boolean =>
  out.includes(run) || waiters.some((waiter) => waiter.run === run)

export const without = ({ out, waiters }: Line, run: string): Line => ({
  out: out.filter((other) => other !== run),
  waiters: waiters.filter((waiter) => waiter.run !== run),
})

export function withOut(line: Line, run: string): Line {
  const { out, waiters } = without(line, run)
  return { out: [...out, run], waiters }
}

export function withWaiter(line: Line, waiter: Waiter): Line {
  const { out, waiters } = without(line, waiter.run)
  return { out, waiters: [...waiters, waiter].sort(inOrder) }
}

function inOrder(a: Waiter, b: Waiter): number {
  return a.place - b.place || (a.order < b.order ? -1 : a.order > b.order ? 1 : a.n - b.n)
}

/** The first that could go now: those that are out, with those of its lane that are ready before it, leave room for it. */
export function nextToWake({ out, waiters }: Line): Waiter | undefined {
  const readyBefore = new Map<string, number>()
  const passed = new Set<string>()
  for (const waiter of waiters) {
    const { lane, max } = waiter
    const before = readyBefore.get(lane) ?? 0
    if (waiter.ready) readyBefore.set(lane, before + 1)
    else if (!passed.has(lane)) {
      if (out.length + before < max) return waiter
      passed.add(lane)
    }
  }
  return undefined
}
