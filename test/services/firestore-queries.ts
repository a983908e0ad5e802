/**
 * The real client with every query noted that it sends, and the composite index that Firestore's rules demand for it. The emulator
 * answers without indexes; a project in the cloud refuses what it has none for.
 */
import type { Firestore } from '@google-cloud/firestore'

type Direction = 'ASCENDING' | 'DESCENDING'

/** What an index must have: fields that are compared, in any order, then those that are sorted by. */
export interface NeededIndex {
  readonly collection: string
  readonly compared: readonly string[]
  readonly contained: string | undefined
  readonly sorted: readonly (readonly [field: string, direction: Direction])[]
}

export interface IndexFile {
  readonly indexes: readonly Index[]
  readonly fieldOverrides: readonly { readonly collectionGroup: string; readonly fieldPath: string }[]
}

interface Index {
  readonly collectionGroup: string
  readonly queryScope: string
  readonly fields: readonly { readonly fieldPath: string; readonly order?: Direction; readonly arrayConfig?: string }[]
}

export interface Queries {
  /** Composite indexes, by what they are. */
  readonly needed: ReadonlyMap<string, NeededIndex>
  /** `collection field` of all that was compared or sorted by, alone or with others. */
  readonly fields: ReadonlySet<string>
}

interface Filter {
  readonly compositeFilter?: { readonly filters?: readonly Filter[] }
  readonly fieldFilter?: { readonly field: { readonly fieldPath: string }; readonly op: string }
  readonly unaryFilter?: { readonly field: { readonly fieldPath: string }; readonly op: string }
}

interface StructuredQuery {
  readonly from: readonly { readonly collectionId?: string; readonly allDescendants?: boolean }[]
  readonly where?: Filter
  readonly orderBy?: readonly { readonly field: { readonly fieldPath: string }; readonly direction: Direction }[]
}

interface Inner {
  requestStream(method: string, ...more: unknown[]): Promise<unknown>
}

export function collectQueries(client: Firestore, nameOf: (collection: string) => string): Queries {
  const needed = new Map<string, NeededIndex>()
  const fields = new Set<string>()
  const inner = client as unknown as Inner
  const requestStream = inner.requestStream.bind(inner)
  inner.requestStream = (method, ...more) => {
    for (const given of more) {
      const query = (given as { readonly structuredQuery?: StructuredQuery } | null)?.structuredQuery
      if (method !== 'runQuery' || !query) continue
      const collection = nameOf(query.from[0]?.collectionId ?? '')
      for (const field of fieldsOf(query)) fields.add(`${collection} ${field}`)
      const index = indexFor(query, collection)
      if (index) needed.set(JSON.stringify(index), index)
    }
    return requestStream(method, ...more)
  }
  return { needed, fields }
}

const filtersOf = (filter: Filter | undefined): { readonly field: string; readonly op: string }[] => {
  if (filter?.compositeFilter) return (filter.compositeFilter.filters ?? []).flatMap(filtersOf)
  const own = filter?.fieldFilter ?? filter?.unaryFilter
  return own ? [{ field: own.field.fieldPath, op: own.op }] : []
}

/** Documents' names are at the end of every index. */
const isField = (field: string): boolean => field !== '__name__'

function fieldsOf({ where, orderBy = [] }: StructuredQuery): string[] {
  return [...filtersOf(where).map(({ field }) => field), ...orderBy.map(({ field }) => field.fieldPath)].filter(isField)
}

const CONTAINS = new Set(['ARRAY_CONTAINS', 'ARRAY_CONTAINS_ANY'])
const EQUALS = new Set(['EQUAL', 'IN', 'IS_NULL', 'IS_NAN'])

/**
 * Equalities alone are answered from the indexes that each field has by itself, and so is one field alone. Everything else needs one
 * of its own: what is compared for equality or containment, then the order; a range without an order is sorted by its field.
 */
function indexFor({ where, orderBy = [] }: StructuredQuery, collection: string): NeededIndex | undefined {
  const filters = filtersOf(where).filter(({ field }) => isField(field))
  const contained = filters.find(({ op }) => CONTAINS.has(op))?.field
  const compared = [...new Set(filters.filter(({ op }) => EQUALS.has(op)).map(({ field }) => field))].sort()
  const ranges = filters.filter(({ op }) => !CONTAINS.has(op) && !EQUALS.has(op)).map(({ field }) => field)
  const named = orderBy.map(({ field, direction }) => [field.fieldPath, direction] as const)
  const sorted = named.filter(([field]) => isField(field) && !compared.includes(field))
  for (const field of ranges) if (!sorted.some(([other]) => other === field)) sorted.push([field, 'ASCENDING'])
  const isSimple = sorted.length === 0 && contained === undefined
  const count = compared.length + sorted.length + (contained === undefined ? 0 : 1)
  return isSimple || count < 2 ? undefined : { collection, compared, contained, sorted }
}

export function serves(index: Index, { collection, compared, contained, sorted }: NeededIndex): boolean {
  const before = index.fields.slice(0, index.fields.length - sorted.length)
  const after = index.fields.slice(before.length)
  const names = before.filter(({ arrayConfig }) => arrayConfig === undefined).map(({ fieldPath }) => fieldPath)
  const arrays = before.filter(({ arrayConfig }) => arrayConfig === 'CONTAINS').map(({ fieldPath }) => fieldPath)
  return (
    index.collectionGroup === collection &&
    index.queryScope === 'COLLECTION' &&
    JSON.stringify(names.sort()) === JSON.stringify(compared) &&
    JSON.stringify(arrays) === JSON.stringify(contained === undefined ? [] : [contained]) &&
    JSON.stringify(after.map(({ fieldPath, order }) => [fieldPath, order])) === JSON.stringify(sorted)
  )
}
