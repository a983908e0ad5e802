/**
 * Documents as MongoDB holds them, and as the sweep sees them. Forgiving in reading, since other services write: instants may be dates,
 * texts or numbers, fields may be missing, ids may be anything.
 */
import type { CollectionShape, Marks, SourceDocument } from '../../ports/source.ts'

export type Raw = Readonly<Record<string, unknown>>

/** What a compare-and-swap compares with: the values as they were read, whatever their type. */
export interface RawKey {
  readonly _id: unknown
  readonly attempts: unknown
  readonly lastAttempt: unknown
}

const NEW_MARKS: Marks = Object.freeze({ generation: 1, delivered: 0 })

/** Instants inside the marks; everything else there is text or numbers. */
const INSTANTS = new Set(['dueAt', 'seenAt', 'endedAt', 'at', 'until', 'lastAttemptAt', 'resetAt'])

export function documentOf(raw: Raw, shape: CollectionShape): SourceDocument {
  const attempts = at(raw, shape.attemptsField)
  const lastAttempt = at(raw, shape.lastAttemptField)
  const stored = at(raw, shape.marksField)
  const marks = isRecord(stored) ? stored : undefined
  const { rev, ...kept } = (marks ? decoded(marks) : {}) as Partial<Marks> & { rev?: unknown }
  const lastAttemptAt = instantOf(lastAttempt)
  const createdAt = createdOf(raw, shape)
  return {
    id: textOf(at(raw, shape.idField) ?? raw['_id']),
    key: { _id: raw['_id'], attempts, lastAttempt } satisfies RawKey,
    status: textOf(at(raw, shape.statusField) ?? ''),
    attempts: countOf(attempts),
    ...(lastAttemptAt === undefined ? {} : { lastAttemptAt }),
    ...(createdAt === undefined ? {} : { createdAt }),
    marks: { ...NEW_MARKS, ...kept },
    rev: countOf(rev),
    document: plain(withoutTop(raw, shape.marksField)) as Readonly<Record<string, unknown>>,
  }
}

export const marksIn = (marks: Marks, rev: number): Raw => ({ ...(encoded(marks) as Raw), rev })

export const instantIn = (ms: number, dates: CollectionShape['dates']): unknown =>
  dates === 'iso' ? new Date(ms).toISOString() : new Date(ms)

/** A value by its path; services nest. */
export function at(raw: Raw, path: string): unknown {
  let value: unknown = raw
  for (const part of path.split('.')) value = isRecord(value) ? value[part] : undefined
  return value
}

function createdOf(raw: Raw, { createdField }: CollectionShape): number | undefined {
  if (createdField !== undefined) return instantOf(at(raw, createdField))
  const id = raw['_id']
  return isObjectId(id) ? id.getTimestamp().getTime() : undefined
}

function instantOf(value: unknown): number | undefined {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : value.getTime()
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (typeof value !== 'string' || value === '') return undefined
  const ms = Date.parse(value)
  return Number.isNaN(ms) ? undefined : ms
}

function countOf(value: unknown): number {
  const number = typeof value === 'number' ? value : Number(isRecord(value) ? String(value) : value)
  return Number.isFinite(number) && number > 0 ? Math.floor(number) : 0
}

interface ObjectIdLike {
  readonly _bsontype: 'ObjectId'
  getTimestamp(): Date
  toHexString(): string
}

const isObjectId = (value: unknown): value is ObjectIdLike => isRecord(value) && value['_bsontype'] === 'ObjectId'

const textOf = (value: unknown): string => (isObjectId(value) ? value.toHexString() : String(value))

const isRecord = (value: unknown): value is Raw => typeof value === 'object' && value !== null && !Array.isArray(value)

const withoutTop = (raw: Raw, field: string): Raw =>
  Object.fromEntries(Object.entries(raw).filter(([name]) => name !== field))

function encoded(value: unknown): unknown {
  return mapped(value, (name, each) => (INSTANTS.has(name) && typeof each === 'number' ? new Date(each) : undefined))
}

function decoded(value: unknown): unknown {
  return mapped(value, (_name, each) => (each instanceof Date ? each.getTime() : undefined))
}

/** A copy with what `change` answers in place of the values that it answers for. */
function mapped(value: unknown, change: (name: string, value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => mapped(each, change))
  if (!isRecord(value)) return value
  const entries = Object.entries(value).filter(([, each]) => each !== undefined)
  return Object.fromEntries(entries.map(([name, each]) => [name, change(name, each) ?? mapped(each, change)]))
}

/** As JSON can carry it: dates and ids as text. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (isObjectId(value)) return value.toHexString()
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (typeof value === 'bigint') return value.toString()
  if (!isRecord(value)) return value
  if ('_bsontype' in value) return numberOrText(value)
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]))
}

function numberOrText(value: Raw): unknown {
  const text = String(value)
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text
}
