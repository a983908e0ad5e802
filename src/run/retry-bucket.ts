/**
 * The retry bucket of a resource: while most of what is sent to it fails, retries are a small share of first tries.
 * A retry that it refuses stays where it is, ready, and is not an attempt. Pure; a driver keeps the record as it is.
 */
export interface RetryBucket {
  readonly resource: string
  /** Share of answers among the latest tries, the newest weighing most; 1 is health. */
  readonly health: number
  /** `failing`: retries cost tokens. `healing`: those that were kept back are let in along a ramp. */
  readonly phase: 'watched' | 'failing' | 'healing'
  readonly tokens: number
  /** When the tokens were counted. */
  readonly at: number
  readonly healingSince?: number
  /** Retries let in since then. */
  readonly admitted?: number
  /** The last token that was given out when it began to heal: who failed under one of these waits no longer. */
  readonly healedAfter?: number
}

/** One try in so many: about the last twenty tell how a resource is. */
const WEIGHT = 1 / 20
const FAILING_BELOW = 0.5
/** From here on a failure now and then is forgotten. */
const HEALTHY_FROM = 0.99

const TOKENS_PER_SECOND = 1
const TOKENS_PER_FIRST_TRY = 0.1
/** Tokens that nobody used are not saved for a storm. */
const TOKENS_MAX = 10

/** The same straight ramp as after a hold: the busiest second has twice the mean load. */
const RAMP_PER_SECOND = 5
const RAMP_MAX_MS = 600_000

export function afterTrouble(known: RetryBucket | undefined, resource: string, now: number): RetryBucket {
  const bucket = known ?? { resource, health: 1, phase: 'watched', tokens: 0, at: now }
  const health = bucket.health * (1 - WEIGHT)
  if (health >= FAILING_BELOW || bucket.phase === 'failing') return { ...bucket, health }
  return { resource, health, phase: 'failing', tokens: 0, at: now }
}

/** `undefined` when the resource is well and nothing has to be remembered. */
export function afterAnswers(bucket: RetryBucket, now: number, lastToken: () => number): RetryBucket | undefined {
  const health = 1 - (1 - bucket.health) * (1 - WEIGHT)
  if (bucket.phase === 'watched') return health >= HEALTHY_FROM ? undefined : { ...bucket, health }
  if (bucket.phase === 'healing' || health < FAILING_BELOW) return { ...bucket, health }
  const { resource } = bucket
  const healedAfter = lastToken()
  return { resource, health, phase: 'healing', tokens: 0, at: now, healingSince: now, admitted: 0, healedAfter }
}

/** Which of these resources fail, by name; absent when none does. */
export function failingOf(buckets: Iterable<RetryBucket>): { readonly failing?: readonly string[] } {
  const failing = [...buckets].filter(({ phase }) => phase === 'failing').map(({ resource }) => resource)
  return failing.length === 0 ? {} : { failing: failing.sort() }
}

/** How many retries may be given out now; without end when it does not keep any back. */
export function retriesLeft(bucket: RetryBucket, now: number): number {
  if (bucket.phase === 'watched') return Number.POSITIVE_INFINITY
  if (bucket.phase === 'failing') return Math.floor(tokensAt(bucket, now))
  const seconds = Math.max(0, now - (bucket.healingSince ?? now)) / 1_000
  if (seconds * 1_000 >= RAMP_MAX_MS) return Number.POSITIVE_INFINITY
  return Math.max(0, Math.floor((RAMP_PER_SECOND / 2) * seconds ** 2) + 1 - (bucket.admitted ?? 0))
}

/** When time alone allows one more. */
export function retriesOpenAt(bucket: RetryBucket, now: number): number | undefined {
  if (bucket.phase === 'watched') return undefined
  if (bucket.phase === 'failing')
    return now + Math.max(1, Math.ceil(((1 - tokensAt(bucket, now)) / TOKENS_PER_SECOND) * 1_000))
  const seconds = Math.sqrt((2 * (bucket.admitted ?? 0)) / RAMP_PER_SECOND)
  return Math.max(now + 1, (bucket.healingSince ?? now) + Math.ceil(seconds * 1_000))
}

/** After a claim gave out these. `more` tells whether any retry of the resource is left behind. */
export function afterTries(
  bucket: RetryBucket,
  given: { readonly firstTries: number; readonly retries: number; readonly more: boolean },
  now: number,
): RetryBucket {
  const { firstTries, retries, more } = given
  if (bucket.phase === 'failing') {
    const tokens = tokensAt(bucket, now) - retries + firstTries * TOKENS_PER_FIRST_TRY
    return { ...bucket, tokens: Math.min(TOKENS_MAX, tokens), at: now }
  }
  if (bucket.phase !== 'healing' || retries === 0) return bucket
  const { resource, health, tokens, at } = bucket
  return more
    ? { ...bucket, admitted: (bucket.admitted ?? 0) + retries }
    : { resource, health, phase: 'watched', tokens, at }
}

const tokensAt = ({ tokens, at }: RetryBucket, now: number): number =>
  Math.min(TOKENS_MAX, tokens + (Math.max(0, now - at) / 1_000) * TOKENS_PER_SECOND)
