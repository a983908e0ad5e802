/**
 * The step that moves documents which failed for good to the dead-letter collection, where that is asked for.
 */
import type { Collection } from './collection.ts'
import { crashPoint } from './crash-point.ts'
import { BATCH, type CollectionReport, type PassParts } from './pass-parts.ts'

/** Documents moved in one pass, at most. */
const MOVES_MAX = 10_000

export async function archiveFailed(parts: PassParts, collection: Collection, report: CollectionReport): Promise<void> {
  const { source, dryRun, signal } = parts
  const { shape, deadLetter } = collection
  if (deadLetter === undefined || dryRun) return
  let cursor: string | undefined
  for (let looked = 0; looked < MOVES_MAX && !signal?.aborted; ) {
    const page = await source.find(shape, {
      where: { is: 'failed' },
      limit: BATCH,
      ...(cursor === undefined ? {} : { cursor }),
    })
    looked += page.documents.length
    cursor = page.cursor
    const answers = await source.move(
      shape,
      deadLetter,
      page.documents.map(({ id, key, rev, status }) => ({ id, key, rev, status })),
    )
    report.archived += answers.filter((answer) => answer === 'ok').length
    crashPoint('sweep-after-archive')
    if (cursor === undefined) return
  }
}
