/**
 * JSON texts in documents: small ones beside the rest, readable by others as a map; long ones cut into documents of their own.
 * A text comes back exactly as it was; what it means is nobody's concern here.
 */
import type { Place } from './place.ts'
import { named } from './place.ts'
import { unavailable } from './trouble.ts'

/** A text of a row: itself, or where its parts lie. */
export type Text = string | { readonly body: string; readonly parts: number }

/** Longer texts leave the document: it may have 1 MiB, and a flow may have a thousand steps. */
const INLINE_MAX = 8_192
/** In UTF-16 units; three bytes each at worst, below the 1 MiB of a document. */
const PART_MAX = 300_000
/** A commit may have 10 MiB. */
const PARTS_MAX = 9

export interface Written {
  readonly text: Text
  /** Documents to be written with it, by their ids under `bodies`. */
  readonly bodies: readonly (readonly [id: string, text: string])[]
}

/** Bodies are named by their content, so writing one twice changes nothing. */
export function writeText(field: string, text: string): Written {
  if (text.length <= INLINE_MAX) return { text, bodies: [] }
  if (text.length > PART_MAX * PARTS_MAX) {
    throw new RangeError(
      `${field}: ${text.length} characters; the Firestore store takes ${PART_MAX * PARTS_MAX} at most: keep what is larger as an artifact`,
    )
  }
  const body = named(text)
  const bodies: (readonly [string, string])[] = []
  for (let from = 0; from < text.length; ) {
    const part = text.slice(from, from + PART_MAX)
    // A pair of surrogates is one sign: half of it could not be written.
    const whole = /[\uD800-\uDBFF]$/.test(part) && from + PART_MAX < text.length ? part.slice(0, -1) : part
    bodies.push([`${body}-${bodies.length}`, whole])
    from += whole.length
  }
  return { text: { body, parts: bodies.length }, bodies }
}

export async function readText(place: Place, doc: string, text: Text): Promise<string> {
  if (typeof text === 'string') return text
  const bodies = place.runs.doc(doc).collection('bodies')
  const refs = Array.from({ length: text.parts }, (_, part) => bodies.doc(`${text.body}-${part}`))
  try {
    const snapshots = await place.db.getAll(...refs)
    return snapshots.map((snapshot) => String(snapshot.get('text') ?? '')).join('')
  } catch (error) {
    throw unavailable(error)
  }
}

/** How a text stands in a document under `name`: as a map if that loses nothing, else as text and, for other readers, as a map too. */
export function encodeText(name: 'inputs' | 'outputs', text: Text | undefined): Record<string, unknown> {
  if (text === undefined) return {}
  const own = name === 'inputs' ? 'input' : 'output'
  if (typeof text !== 'string') return { [`${own}Body`]: { ...text } }
  const map = storable(text)
  if (map === undefined) return { [own]: text }
  return JSON.stringify(sorted(map)) === text ? { [name]: map } : { [own]: text, [name]: map }
}

export function decodeText(name: 'inputs' | 'outputs', data: Readonly<Record<string, unknown>>): Text | undefined {
  const own = name === 'inputs' ? 'input' : 'output'
  const text = data[own]
  if (typeof text === 'string') return text
  const body = bodyIn(data[`${own}Body`])
  if (body) return body
  const map = data[name]
  return map === undefined || map === null ? undefined : JSON.stringify(sorted(map))
}

/** `undefined` for what is not the place of a body. */
export function bodyIn(value: unknown): Exclude<Text, string> | undefined {
  const { body, parts } = (value ?? {}) as Partial<Exclude<Text, string>>
  const isOurs = typeof body === 'string' && typeof parts === 'number' && parts >= 1 && parts <= PARTS_MAX
  return isOurs ? { body, parts } : undefined
}

const DEPTH_MAX = 15

/** The value, if Firestore can hold it: an object without arrays in arrays and without reserved names. */
function storable(text: string): object | undefined {
  const value = parsed(text)
  const fits = (inner: unknown, depth: number, inArray: boolean): boolean => {
    if (typeof inner !== 'object' || inner === null) return true
    if (depth > DEPTH_MAX) return false
    if (Array.isArray(inner)) return !inArray && inner.every((each) => fits(each, depth + 1, true))
    return Object.entries(inner).every(
      ([name, each]) => name !== '' && !/^__.*__$/.test(name) && fits(each, depth + 1, false),
    )
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) && fits(value, 0, false)
    ? value
    : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Firestore keeps no order of names; what it dates and points to is told as text. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  if ('toDate' in value && typeof value.toDate === 'function') return (value.toDate() as Date).toISOString()
  if ('path' in value && 'firestore' in value) return String(value.path)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]))
}
