/**
 * Which documents, as MongoDB filters: one or more stages, each served by one index and read in its order. The stages of a question are
 * read one after the other; the cursor says in which it stands and behind which document.
 */
import type { CollectionShape, DocumentFilter, Where } from '../../ports/source.ts'
import { instantIn } from './codec.ts'

export type Filter = Readonly<Record<string, unknown>>

export interface Stage {
  readonly filter: Filter
  /** What `oldest` is ordered by, besides the id. */
  readonly order: string
}

export interface Ids {
  /** The least ObjectId of an instant, for ages that only ids tell. */
  fromTime(ms: number): unknown
  parse(text: string): unknown
}

export function stagesOf(shape: CollectionShape, where: Where, ids: Ids): readonly Stage[] {
  const narrowed = filterOf(shape, where.filter, ids)
  return unfiltered(shape, where, ids).map(({ filter, order }) => ({
    order,
    filter: narrowed.length === 0 ? filter : { $and: [filter, ...narrowed] },
  }))
}

function unfiltered(shape: CollectionShape, where: Where, ids: Ids): readonly Stage[] {
  const { statusField, lastAttemptField, marksField } = shape
  const { open, done, failed } = shape.status
  const isOpen = { [statusField]: { $in: open } }
  const due = `${marksField}.dueAt`
  const failedAt = `${marksField}.failure.at`
  switch (where.is) {
    case 'due':
      return [{ filter: { ...isOpen, [due]: { $lte: new Date(where.by) } }, order: due }]
    case 'waiting':
      return [{ filter: { ...isOpen, [due]: { $gt: new Date(where.after) } }, order: due }]
    case 'silent':
    case 'stuck':
      return silent(shape, where, ids)
    case 'unsent': {
      const until = `${marksField}.outbox.until`
      return [{ filter: { [until]: { $lt: new Date(where.before) } }, order: until }]
    }
    case 'failed':
      return [{ filter: { [statusField]: failed }, order: '_id' }]
    case 'open':
      return [{ filter: isOpen, order: '_id' }]
    case 'processed':
      return FORMS.map((form) => ({
        filter: { [statusField]: { $in: done }, [lastAttemptField]: { $gte: instantIn(where.since, form) } },
        order: lastAttemptField,
      }))
    case 'troubled':
      return [
        {
          filter: { [failedAt]: { $gte: new Date(where.since) }, [statusField]: { $nin: done } },
          order: failedAt,
        },
      ]
  }
}

/**
 * A comparison finds only values of its own type, and services of one collection may write instants as dates and as texts: both are asked
 * for, or a document of the other kind would be passed over for ever.
 */
const FORMS = ['date', 'iso'] as const

/** Attempted before; never attempted and created before; never attempted and of unknown age. */
function silent(
  shape: CollectionShape,
  { is, before }: { readonly is: 'silent' | 'stuck'; readonly before: number },
  ids: Ids,
): readonly Stage[] {
  const { statusField, lastAttemptField: last, createdField, marksField } = shape
  const idle = {
    [statusField]: { $in: shape.status.open },
    [`${marksField}.dueAt`]: null,
    [`${marksField}.outbox`]: null,
  }
  const seen = `${marksField}.seenAt`
  const seenBefore = { [seen]: { $lt: new Date(before) } }
  const unknownAge = is === 'stuck' ? seenBefore : { $or: [{ [seen]: null }, seenBefore] }
  const never = { ...idle, [last]: null }
  const earlier = (field: string, base: Filter): Stage[] =>
    FORMS.map((form) => ({ filter: { ...base, [field]: { $lt: instantIn(before, form) } }, order: field }))
  if (createdField !== undefined)
    return [
      ...earlier(last, idle),
      ...earlier(createdField, never),
      { filter: { ...never, [createdField]: null, ...unknownAge }, order: '_id' },
    ]
  return [
    ...earlier(last, idle),
    { filter: { ...never, _id: { $lt: ids.fromTime(before) } }, order: '_id' },
    { filter: { ...never, _id: { $not: { $type: 'objectId' } }, ...unknownAge }, order: '_id' },
  ]
}

function filterOf({ idField, marksField }: CollectionShape, filter: DocumentFilter | undefined, ids: Ids): Filter[] {
  const parts: Filter[] = []
  if (filter?.ids) parts.push({ [idField]: { $in: filter.ids.flatMap((id) => namesOf(id, ids)) } })
  if (filter?.fingerprint !== undefined) parts.push({ [`${marksField}.failure.fingerprint`]: filter.fingerprint })
  const { code } = filter ?? {}
  const field = `${marksField}.failure.code`
  if (code?.endsWith('*')) parts.push({ [field]: { $gte: code.slice(0, -1), $lt: `${code.slice(0, -1)}\uffff` } })
  else if (code !== undefined) parts.push({ [field]: code })
  return parts
}

/** A document may be named by a text that stands for an ObjectId or a number. */
export function namesOf(id: string, ids: Ids): unknown[] {
  const names: unknown[] = [id]
  if (/^[0-9a-f]{24}$/i.test(id)) names.push(ids.parse(id))
  if (/^-?\d{1,15}$/.test(id)) names.push(Number(id))
  return names
}

/** Behind a document, in the order of a stage. */
export function behind(order: string, direction: 1 | -1, key: unknown, id: unknown): Filter {
  const beyond = direction === 1 ? '$gt' : '$lt'
  if (order === '_id') return { _id: { [beyond]: id } }
  return { $or: [{ [order]: { [beyond]: key } }, { [order]: key, _id: { [beyond]: id } }] }
}
