/**
 * How a collection's dependency does, judged from what the sweep sees: documents that were processed against documents that failed.
 * Pure: while it is sick only probes go out and delays stretch; the probes alone decide when it is well again.
 */

export interface Health {
  readonly state: 'well' | 'sick'
  /** When it came to be so: what happened before is no evidence any more. */
  readonly since: number
  /** From when on probes are out of which nothing has been seen yet. */
  readonly probedAt?: number
  /** Delays of new failures are so many times longer. */
  readonly stretch: number
}

export interface Seen {
  readonly processed: number
  readonly troubled: number
}

/** Fewer than this say nothing. */
const SEEN_MIN = 10

/** Below this share of processed documents the dependency is sick. */
const WELL_SHARE = 0.5

/** Documents that go out in a pass while it is sick. */
export const PROBES = 3

const STRETCH_MAX = 8

/** How far back a look goes while it is well. */
export const LOOK_BACK_MS = 3_600_000

export const WELL: Health = Object.freeze({ state: 'well', since: 0, stretch: 1 })

/** From when on documents are evidence. */
export function lookFrom(health: Health, now: number): number {
  return health.state === 'sick' ? (health.probedAt ?? health.since) : Math.max(health.since, now - LOOK_BACK_MS)
}

export function healthAfter(health: Health, { processed, troubled }: Seen, now: number): Health {
  const seen = processed + troubled
  if (health.state === 'well') {
    const isSick = seen >= SEEN_MIN && processed / seen < WELL_SHARE
    return isSick ? { state: 'sick', since: now, stretch: 2 } : health
  }
  if (health.probedAt === undefined || seen === 0) return health
  if (processed / seen >= WELL_SHARE) return { state: 'well', since: now, stretch: 1 }
  return { state: 'sick', since: health.since, stretch: Math.min(STRETCH_MAX, health.stretch * 2) }
}

/**
 * Probes have gone out, beginning at this instant: what was attempted since is evidence. Those of before are still waited for if nothing
 * was seen of them: a service may take longer than an interval.
 */
export const probed = (health: Health, at: number): Health => ({ ...health, probedAt: health.probedAt ?? at })

/** How many documents may go out in this pass. */
export function allowedBy(health: Health, limit: number): number {
  return health.state === 'sick' ? Math.min(PROBES, limit) : limit
}
