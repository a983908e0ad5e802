/**
 * How long ended runs are kept: what the user says, checked once and in milliseconds.
 * Nothing is deleted unless it is said.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { PruneRequest } from '../ports/store.ts'
import { type Duration, parseDuration } from '../time/duration.ts'
import { isObject, strangeField } from './strange-field.ts'

export interface RetentionOptions {
  /** How long a run is kept after its end, by what it ended in. Absent: for ever. */
  readonly succeeded?: Duration
  readonly failed?: Duration
  readonly cancelled?: Duration
  /** Of each task at most this many ended runs are kept, the newest, whatever they ended in. */
  readonly keepMax?: number
  /** How long a key is kept after its run has ended, and at least as long as its run; 7 d and more. @default 7d */
  readonly keys?: Duration
  /** Whether a run that goes takes its artifacts with it. @default 'keep' */
  readonly artifacts?: 'keep' | 'with-run'
  /** How often an idle worker looks. @default 5m */
  readonly every?: Duration
}

export interface Retention {
  readonly request: PruneRequest
  readonly artifacts: 'keep' | 'with-run'
  readonly everyMs: number
}

/** A submit that is repeated after a failure of the network, a restart or a weekend must still meet its key. */
const KEYS_MIN_MS = 7 * 86_400_000

const EVERY_MS = 5 * 60_000

/** One transaction's worth: a few milliseconds. */
const RUNS_PER_CALL = 500

const FIELDS: readonly string[] = Object.keys({
  succeeded: true,
  failed: true,
  cancelled: true,
  keepMax: true,
  keys: true,
  artifacts: true,
  every: true,
} satisfies Record<keyof RetentionOptions, true>)

export function retentionOf(options: RetentionOptions): Retention {
  if (!isObject(options))
    throw new RepriseError(
      'retention.invalid',
      `retention is ${typeof options}. Allowed: an object of ${FIELDS.join(', ')}.`,
    )
  const strange = strangeField(options, FIELDS)
  if (strange !== undefined)
    refuse(strange, options[strange as keyof RetentionOptions], `the fields ${FIELDS.join(', ')}`)
  const { keepMax, artifacts = 'keep' } = options
  const kept = (['succeeded', 'failed', 'cancelled'] as const).flatMap((state) => {
    const given = options[state]
    return given === undefined ? [] : [[state, parseDuration(given, `retention.${state}`)] as const]
  })
  const keysMs = parseDuration(options.keys ?? KEYS_MIN_MS, 'retention.keys')
  if (keysMs < KEYS_MIN_MS) refuse('keys', options.keys, '7 d and more')
  if (keepMax !== undefined && !(Number.isSafeInteger(keepMax) && keepMax >= 0))
    refuse('keepMax', keepMax, 'a whole number from 0')
  if (artifacts !== 'keep' && artifacts !== 'with-run') refuse('artifacts', artifacts, '"keep", "with-run"')
  const everyMs = parseDuration(options.every ?? EVERY_MS, 'retention.every')
  if (everyMs < 1_000) refuse('every', options.every, '1 s and more')
  const byCount = keepMax === undefined ? {} : { keepMax }
  return { request: { keepMs: Object.fromEntries(kept), ...byCount, keysMs, limit: RUNS_PER_CALL }, artifacts, everyMs }
}

function refuse(field: string, value: unknown, allowed: string): never {
  throw new RepriseError('retention.invalid', `retention.${field} is ${JSON.stringify(value)}. Allowed: ${allowed}.`)
}
