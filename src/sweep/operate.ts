/**
 * The operators' verbs over documents: look, requeue, reset, schedule, export, purge. Each by id or filter, each with a look first, each
 * write a compare-and-swap, each act in the audit. What failed before is kept: a reset begins the next generation.
 */
import { isDeepStrictEqual } from 'node:util'
import { RepriseError } from '../failure/reprise-error.ts'
import type { DocumentChange, DocumentFilter, Marks, PastGeneration, SourceDocument, Where } from '../ports/source.ts'
import { type Dice, systemDice } from '../time/dice.ts'
import type { Collection } from './collection.ts'
import { asRead, BATCH } from './pass-parts.ts'
import type { Sweep } from './sweep.ts'
import { attemptsOf } from './verdict.ts'

export type Verb = 'requeue' | 'reset' | 'schedule'

export interface Selection {
  readonly collection: Collection
  /** Which of its documents; `failed` unless given. */
  readonly of?: 'failed' | 'open' | 'stuck'
  readonly filter?: DocumentFilter
}

export interface ActOptions {
  readonly by: string
  readonly dryRun: boolean
  /** `schedule`: when. */
  readonly at?: number
  /** Re-admission is spread over so long, so that a thousand documents do not come back in one second. */
  readonly spreadMs?: number
  readonly dice?: Dice
}

export interface Acted {
  readonly verb: Verb | 'purge'
  readonly collection: string
  readonly dryRun: boolean
  readonly matched: number
  readonly done: number
  /** Changed by somebody else between the look and the act. */
  readonly lost: number
  readonly ids: readonly string[]
}

/** Earlier generations that are kept in a document. */
const PAST_MAX = 20

/** Ids that an answer names. */
const IDS_SHOWN = 20

export function whereOf({ collection, of = 'failed', filter }: Selection, now: number): Where {
  const narrowed = filter ? { filter } : {}
  switch (of) {
    case 'failed':
      return { is: 'failed', ...narrowed }
    case 'open':
      return { is: 'open', ...narrowed }
    case 'stuck':
      return { is: 'stuck', before: now - collection.stuckAgeMs, ...narrowed }
  }
}

/** Every document that is selected, page by page. */
export async function* selected(sweep: Sweep, selection: Selection): AsyncGenerator<SourceDocument> {
  const where = whereOf(selection, await sweep.source.now())
  let cursor: string | undefined
  do {
    const page = await sweep.source.find(selection.collection.shape, {
      where,
      limit: BATCH,
      ...(cursor === undefined ? {} : { cursor }),
    })
    yield* page.documents
    cursor = page.cursor
  } while (cursor !== undefined)
}

/**
 * - `requeue`: its next attempt is due now. One that failed for good, or has no attempt left, begins its next generation with it.
 * - `reset`: generation + 1, no attempts, due now: also for one that is open.
 * - `schedule`: as `requeue`, at a time.
 */
export async function actOn(sweep: Sweep, verb: Verb, selection: Selection, options: ActOptions): Promise<Acted> {
  const { collection } = selection
  const { by, dryRun, at, spreadMs = 0, dice = systemDice } = options
  if (verb === 'schedule' && at === undefined)
    throw new RepriseError('sweep.at', 'When is the retry to be? Allowed: an instant.')
  const now = await sweep.source.now()
  const counts = { matched: 0, done: 0, lost: 0 }
  const ids: string[] = []
  for await (const batch of batches(selected(sweep, selection))) {
    counts.matched += batch.length
    ids.push(...batch.slice(0, IDS_SHOWN - ids.length).map(({ id }) => id))
    if (dryRun) continue
    const changes = batch.map((document): DocumentChange => {
      const dueAt = (verb === 'schedule' ? (at ?? now) : now) + Math.floor(dice() * spreadMs)
      const isSpent =
        document.status === collection.shape.status.failed ||
        document.marks.ends !== undefined ||
        attemptsOf(document, collection) >= collection.policy.maxAttempts
      return verb === 'reset' || isSpent
        ? begunAgain(collection, document, dueAt, now, by)
        : { expect: asRead(document), marks: { ...document.marks, dueAt, why: `${verb} by ${by}` } }
    })
    const answers = await sweep.source.change(collection.shape, changes)
    const done = answers.filter((answer) => answer === 'ok').length
    counts.done += done
    counts.lost += batch.length - done
  }
  if (!dryRun && counts.matched > 0) await noted(sweep, verb, collection, by, now, counts, selection)
  return { verb, collection: collection.shape.name, dryRun, ...counts, ids }
}

/** Generation + 1, with what the last one came to. */
function begunAgain(
  { shape }: Collection,
  document: SourceDocument,
  dueAt: number,
  now: number,
  by: string,
): DocumentChange {
  const { marks, attempts, lastAttemptAt, status } = document
  const past: PastGeneration = {
    generation: marks.generation,
    attempts,
    ...(lastAttemptAt === undefined ? {} : { lastAttemptAt }),
    status,
    ...(marks.failure ? { failure: marks.failure } : {}),
    resetAt: now,
    by,
  }
  const next: Marks = {
    generation: marks.generation + 1,
    delivered: 0,
    dueAt,
    why: `begun again by ${by}`,
    past: [past, ...(marks.past ?? [])].slice(0, PAST_MAX),
  }
  return { expect: asRead(document), status: shape.status.pending, attempts: 0, lastAttemptAt: null, marks: next }
}

/** A line of an export: what a purge needs to know that it deletes the same. */
export interface ExportLine {
  readonly collection: string
  readonly id: string
  readonly rev: number
  readonly status: string
  readonly attempts: number
  readonly lastAttemptAt?: number
  readonly marks: Marks
  readonly document: Readonly<Record<string, unknown>>
}

export async function* exportDocuments(sweep: Sweep, selection: Selection): AsyncGenerator<ExportLine> {
  for await (const { id, rev, status, attempts, lastAttemptAt, marks, document } of selected(sweep, selection))
    yield {
      collection: selection.collection.shape.name,
      id,
      rev,
      status,
      attempts,
      ...(lastAttemptAt === undefined ? {} : { lastAttemptAt }),
      marks,
      document,
    }
}

/** What a purge needs of a line; what the line says of attempts and content besides is compared too. */
export type ExportedDocument = Pick<ExportLine, 'collection' | 'id' | 'rev'> & Partial<ExportLine>

/** Services write without raising the sweep's revision: so what they write is looked at too. */
function isAsExported(
  document: SourceDocument | undefined,
  line: ExportedDocument | undefined,
  failed: string,
): boolean {
  if (!document || !line || document.rev !== line.rev || document.status !== failed) return false
  if (line.attempts !== undefined && line.attempts !== document.attempts) return false
  if (line.attempts !== undefined && line.lastAttemptAt !== document.lastAttemptAt) return false
  return line.document === undefined || isDeepStrictEqual(line.document, asJson(document.document))
}

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** Deletes what an export named, and only while it is as it was exported and failed for good. */
export async function purgeExported(
  sweep: Sweep,
  collection: Collection,
  lines: Iterable<ExportedDocument>,
  { by, dryRun }: ActOptions,
): Promise<Acted> {
  const { shape } = collection
  const all = [...lines]
  const foreign = all.find((line) => line.collection !== shape.name)
  if (foreign)
    throw new RepriseError(
      'sweep.export',
      `The export is of ${foreign.collection}, not of ${shape.name}. Allowed: an export of ${shape.name}.`,
    )
  const counts = { matched: 0, done: 0, lost: 0 }
  const ids: string[] = []
  for await (const batch of batches(all)) {
    const found = await Promise.all(batch.map((line) => sweep.source.get(shape, line.id)))
    const same = found.filter((document, index) =>
      isAsExported(document, batch[index], shape.status.failed),
    ) as SourceDocument[]
    counts.matched += same.length
    counts.lost += batch.length - same.length
    ids.push(...same.slice(0, IDS_SHOWN - ids.length).map(({ id }) => id))
    if (dryRun) continue
    const done = (await sweep.source.remove(shape, same.map(asRead))).filter((answer) => answer === 'ok').length
    counts.done += done
    counts.lost += same.length - done
  }
  if (!dryRun) await noted(sweep, 'purge', collection, by, await sweep.source.now(), counts)
  return { verb: 'purge', collection: shape.name, dryRun, ...counts, ids }
}

function noted(
  sweep: Sweep,
  what: Acted['verb'],
  { shape }: Collection,
  by: string,
  at: number,
  { matched, done, lost }: { readonly matched: number; readonly done: number; readonly lost: number },
  selection?: Selection,
): Promise<void> {
  const filter = selection ? { of: selection.of ?? 'failed', filter: JSON.stringify(selection.filter ?? {}) } : {}
  return sweep.source.note({ at, by, what, collection: shape.name, data: { matched, done, lost, ...filter } })
}

export async function* batches<T>(items: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
