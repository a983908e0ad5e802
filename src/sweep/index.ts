/**
 * The public face of the sweep, as `reprise/sweep`.
 */
export type { Bus, BusMessage, Delivery, QueueShape } from '../ports/bus.ts'
export type {
  CollectionShape,
  DocumentFailure,
  DocumentFilter,
  FailureGroup,
  Marks,
  Source,
  SourceDocument,
} from '../ports/source.ts'
export { type Collection, type CollectionInput, defineCollection } from './collection.ts'
export { defineSweep, type SweepConfig } from './define-sweep.ts'
export { type SweepGroup, sweepGroups } from './groups.ts'
export { type SweepMetrics, sweepMetrics } from './metrics.ts'
export {
  type Acted,
  type ActOptions,
  actOn,
  type ExportedDocument,
  type ExportLine,
  exportDocuments,
  purgeExported,
  type Selection,
  selected,
  type Verb,
} from './operate.ts'
export type { CollectionReport } from './pass-parts.ts'
export { pushMetrics } from './push-metrics.ts'
export {
  peekQueue,
  purgeQueue,
  type QueueActed,
  type QueueLine,
  type QueueLook,
  queueDepths,
  requeueQueue,
} from './queues.ts'
export { archives, chunks, messages, shippedCollections, threads } from './shipped.ts'
export {
  collectionNamed,
  createSweep,
  type PassOptions,
  type PassReport,
  type Sweep,
  type SweepOptions,
} from './sweep.ts'
export { addedUp, type Totals } from './totals.ts'
export { type TrackedAttempt, trackAttempt } from './track-attempt.ts'
export { type JobSettings, readVariables } from './variables.ts'
export { scheduleOf } from './verdict.ts'
