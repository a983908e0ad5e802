/**
 * What the end of an attempt says about the resource that it needed: hold it, or let the others in.
 * Pure; the store keeps it in the write that ends the attempt.
 */
import type { Failure, Kind } from '../failure/failure.ts'
import type { Decision } from '../policy/decision.ts'
import type { HoldOrder, HoldTarget } from './hold.ts'

/** How long a resource is held that said neither how long nor has a backoff that does. */
const UNTOLD_MS = 30_000

/** The other side answered; that the answer was no good is not a matter of its health. */
const ANSWERS: readonly Kind[] = ['syntax', 'semantic', 'refused', 'conflict']

export interface Failed {
  readonly failure: Failure
  readonly decision: Decision
  /** What the failed call needed. */
  readonly resource: string | undefined
  /** The holds that the run was the probe of. */
  readonly probes: readonly HoldTarget[] | undefined
  readonly now: number
}

export function holdAfter({ failure, decision, resource, probes, now }: Failed): {
  readonly hold?: HoldOrder
  readonly admits?: boolean
  readonly trouble?: string
  readonly again?: boolean
} {
  const what = resource === undefined ? undefined : (`resource:${resource}` as const)
  const isLimited = failure.kind === 'rate_limited'
  // A probe that met the next hiccup has found out for everyone, too.
  const isProbe = what !== undefined && failure.kind === 'transient' && probes?.includes(what)
  // Who is told to wait is held, and the hold takes care of its retries; who fails without a word is watched by the bucket.
  const trouble = resource !== undefined && failure.kind === 'transient' ? { trouble: resource } : {}
  if (what !== undefined && isLimited) return { hold: orderOf(what, failure, decision, now), again: true }
  if (what !== undefined && isProbe) return { hold: orderOf(what, failure, decision, now), ...trouble }
  if (failure.kind === 'transient') return trouble
  return probes && ANSWERS.includes(failure.kind) ? { admits: true } : {}
}

function orderOf(what: HoldTarget, failure: Failure, decision: Decision, now: number): HoldOrder {
  const { code, message, retryAfterMs } = failure
  const until = retryAfterMs === undefined ? Math.max(decision.at ?? 0, now + 1_000) : now + retryAfterMs
  const by = retryAfterMs === undefined ? `backoff after ${code}` : code
  return {
    what,
    until: decision.at === undefined && retryAfterMs === undefined ? now + UNTOLD_MS : until,
    why: message,
    by,
    probe: true,
  }
}
