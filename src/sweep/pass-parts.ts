/**
 * What the steps of a pass share: the seams, the time of this pass, and the report that they fill.
 */
import type { ClassifyOptions } from '../failure/classify.ts'
import { safeText } from '../failure/mask-secrets.ts'
import { isRepriseError } from '../failure/reprise-error.ts'
import type { Bus } from '../ports/bus.ts'
import type { Source, SourceDocument } from '../ports/source.ts'
import type { Emit } from '../run/event.ts'
import type { Collection } from './collection.ts'

export interface PassParts {
  readonly source: Source
  readonly bus?: Bus
  readonly rules?: ClassifyOptions['rules']
  readonly emit: Emit
  /** The source's time, carried on by the monotonic clock. */
  readonly now: () => number
  /** How long an event belongs to whoever wrote it; then anybody may send it. */
  readonly sendLeaseMs: number
  /** Says what would be done, and does nothing. */
  readonly dryRun: boolean
  /** Aborts between batches. */
  readonly signal?: AbortSignal
}

export interface CollectionReport {
  readonly collection: string
  /** Failures heard, and messages that nobody could read. */
  heard: number
  parked: number
  /** Attempts counted and sent. */
  begun: number
  /** Events of earlier passes that were sent now. */
  resent: number
  ended: number
  archived: number
  /** Lost to another sweeper or a service: nothing was done. */
  lost: number
  /** Due, and kept back because the dependency is sick. */
  deferred: number
  /** Found silent when the pass began. */
  stuck: number
  /** How long the longest silent one has been so; 0 when there is none. */
  oldestStuckMs: number
  /** Their backoff has not passed. */
  waiting: number
  /** Failed for good, all of them. */
  failed: number
  health: 'well' | 'sick'
  /** False: `stuck`, `waiting` and `failed` could not all be counted, and a 0 among them says nothing. */
  isCounted: boolean
  readonly errors: Record<string, number>
}

export function newReport(collection: Collection): CollectionReport {
  return {
    collection: collection.shape.name,
    heard: 0,
    parked: 0,
    begun: 0,
    resent: 0,
    ended: 0,
    archived: 0,
    lost: 0,
    deferred: 0,
    stuck: 0,
    oldestStuckMs: 0,
    waiting: 0,
    failed: 0,
    health: 'well',
    isCounted: false,
    errors: {},
  }
}

/** Documents read and written at a time: memory and the length of a transaction are bounded by it. */
export const BATCH = 200

const MESSAGE_MAX = 400

/** Counts trouble once per type and occasion, and tells of it. */
export function trouble(parts: PassParts, report: CollectionReport, type: string, error: unknown): void {
  report.errors[type] = (report.errors[type] ?? 0) + 1
  const message = safeText(error instanceof Error ? error.message : String(error), MESSAGE_MAX)
  parts.emit({ name: 'sweep.trouble', at: parts.now(), collection: report.collection, type, message })
}

/** A short, stable word for metrics; never a message. */
export const troubleType = (error: unknown): string => (isRepriseError(error) ? error.code : 'unexpected')

/** What every write expects: the document as it was read. */
export const asRead = ({ id, key, rev, status, attempts, lastAttemptAt }: SourceDocument) => ({
  id,
  key,
  rev,
  status,
  attempts,
  lastAttemptAt: lastAttemptAt ?? null,
})
