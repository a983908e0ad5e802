/**
 * The end of a document's attempts: told at error level with everything that whoever looks into it asks for first.
 */
import type { Marks, SourceDocument } from '../ports/source.ts'
import type { Collection } from './collection.ts'
import { crashPoint } from './crash-point.ts'
import type { CollectionReport, PassParts } from './pass-parts.ts'
import { attemptsOf } from './verdict.ts'

export function tellEnd(
  parts: PassParts,
  collection: Collection,
  report: CollectionReport,
  document: SourceDocument,
  marks: Marks,
  why: string,
): void {
  report.ended += 1
  const { failure } = marks
  parts.emit({
    name: 'sweep.ended',
    at: parts.now(),
    collection: report.collection,
    document: document.id,
    attempts: attemptsOf(document, collection),
    ...(document.lastAttemptAt === undefined ? {} : { lastAttemptAt: document.lastAttemptAt }),
    ...(failure === undefined || failure.message === why ? {} : { lastError: failure.message, code: failure.code }),
    reason: why,
  })
  crashPoint('sweep-after-end')
}
