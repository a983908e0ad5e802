/**
 * The MongoDB source: collections that other services own, in their database. Needs no transactions: every write is one conditional
 * update of one document. What the sweep remembers and notes is in two collections of its own.
 */
import type { Db, MongoClient, Collection as MongoCollection } from 'mongodb'
import { RepriseError } from '../../failure/reprise-error.ts'
import type {
  CollectionShape,
  DocumentChange,
  DocumentPage,
  DocumentQuery,
  Expected,
  Source,
  SourceDocument,
  SourceNote,
  Where,
} from '../../ports/source.ts'
import { connect, connected, databaseOf, type Library, loadLibrary, reaching } from './client.ts'
import { at, documentOf, instantIn, marksIn, type RawKey } from './codec.ts'
import { groupsOf } from './groups.ts'
import { behind, type Filter, type Ids, namesOf, stagesOf } from './query.ts'

export type MongodbSourceOptions = {
  readonly database: string
  /** Where the sweep keeps what it remembers; its notes are in `<memory>_notes`. @default 'reprise_sweep' */
  readonly memory?: string
} & ({ readonly url: string } | { /** Never closed here. */ readonly client: MongoClient })

interface Session {
  readonly library: Library
  readonly client: MongoClient
  readonly db: Db
  readonly ids: Ids
}

type Answer = 'ok' | 'lost'

/** Writes under way at a time, within the pool of the driver. */
const WRITES = 32

const DUPLICATE_KEY = 11_000

export function mongodbSource(options: MongodbSourceOptions): Source {
  const { database, memory = 'reprise_sweep' } = options
  if (typeof database !== 'string' || !/^[^/\\. "$*<>:|?\0]{1,63}$/.test(database))
    throw new RepriseError(
      'mongodb.database',
      `database is ${JSON.stringify(database)}. Allowed: the name of a database.`,
    )
  let opening: Promise<Session> | undefined
  const session = (): Promise<Session> => {
    opening ??= open().catch((error) => {
      opening = undefined
      throw error
    })
    return opening
  }
  async function open(): Promise<Session> {
    const library = await loadLibrary()
    const client = 'client' in options ? options.client : connect(library, options.url)
    // Said outright: a client whose first connection fails while it serves a query stays closed for ever.
    if (!('client' in options)) await connected(client)
    const ids: Ids = {
      fromTime: (ms) => library.ObjectId.createFromTime(Math.max(0, Math.floor(ms / 1_000))),
      parse: (text) => new library.ObjectId(text),
    }
    return { library, client, db: databaseOf(client, database), ids }
  }
  const reach = <T>(act: (session: Session) => Promise<T>): Promise<T> => reaching(async () => act(await session()))
  const on = <T>(shape: CollectionShape, act: (collection: MongoCollection, session: Session) => Promise<T>) =>
    reach((opened) => act(opened.db.collection(shape.name), opened))

  return {
    name: 'mongodb',
    now: () =>
      reach(async ({ db }) => {
        const { localTime } = await db.command({ hello: 1 })
        return (localTime as Date).getTime()
      }),
    prepare: (shapes) =>
      reach(async ({ db }) => (await Promise.all(shapes.map((shape) => makeIndexes(db, shape)))).flat()),
    find: (shape, query) => on(shape, (collection, opened) => page(collection, opened, shape, query)),
    get: (shape, id) =>
      on(shape, async (collection, { ids }) => {
        const raw = await collection.findOne({ [shape.idField]: { $in: namesOf(id, ids) } } as Filter)
        return raw ? documentOf(raw, shape) : undefined
      }),
    count: (shape, where) =>
      on(shape, async (collection, { ids }) => {
        const counts = stagesOf(shape, where, ids).map(({ filter }) => collection.countDocuments(filter))
        return (await Promise.all(counts)).reduce((sum, each) => sum + each, 0)
      }),
    change: (shape, changes) =>
      on(shape, (collection) => inTurn(changes, (change) => changeOne(collection, shape, change))),
    groups: (shape) => on(shape, (collection) => groupsOf(collection, shape)),
    move: (shape, to, items) =>
      on(shape, (collection, { db }) =>
        inTurn(items, async (item) => {
          const raw = await collection.findOne(expectation(shape, item) as Filter)
          if (!raw) return 'lost'
          const { _id, ...rest } = raw
          await db.collection(to).replaceOne({ _id }, rest, { upsert: true })
          const { deletedCount } = await collection.deleteOne(expectation(shape, item) as Filter)
          return deletedCount === 1 ? 'ok' : 'lost'
        }),
      ),
    remove: (shape, items) =>
      on(shape, (collection) =>
        inTurn(items, async (item) => {
          const { deletedCount } = await collection.deleteOne(expectation(shape, item) as Filter)
          return deletedCount === 1 ? 'ok' : 'lost'
        }),
      ),
    recall: (name) =>
      reach(async ({ db }) => {
        const found = await db.collection<Remembered>(memory).findOne({ _id: name })
        return found ? { value: found.value, rev: found.rev } : undefined
      }),
    remember: (name, value, expectRev) =>
      reach(async ({ db }) => {
        const collection = db.collection<Remembered>(memory)
        if (expectRev > 0) {
          const { matchedCount } = await collection.updateOne(
            { _id: name, rev: expectRev },
            { $set: { value, rev: expectRev + 1 } },
          )
          return matchedCount === 1 ? 'ok' : 'lost'
        }
        try {
          await collection.insertOne({ _id: name, value, rev: 1 })
          return 'ok'
        } catch (error) {
          if ((error as { code?: unknown }).code === DUPLICATE_KEY) return 'lost'
          throw error
        }
      }),
    note: (note) =>
      reach(async ({ db }) => {
        await db.collection(`${memory}_notes`).insertOne({ ...note, at: new Date(note.at) })
      }),
    notes: (limit) =>
      reach(async ({ db }) => {
        const found = await db.collection(`${memory}_notes`).find().sort({ _id: -1 }).limit(limit).toArray()
        return found.map(({ _id, at: when, ...rest }) => ({ ...rest, at: (when as Date).getTime() }) as SourceNote)
      }),
    async close() {
      const opened = await opening?.catch(() => undefined)
      opening = undefined
      if (opened && !('client' in options)) await opened.client.close()
    },
  }
}

interface Remembered {
  readonly _id: string
  readonly value: string
  readonly rev: number
}

/** Behind which document a stage is to be read on; `end` when there is no more. */
type Place = { readonly key: unknown; readonly id: unknown } | 'start' | 'end'

/** Each stage is in order by itself; a page is the first of them all, and the cursor says where each stage stands. */
async function page(
  collection: MongoCollection,
  { library, ids }: Session,
  shape: CollectionShape,
  query: DocumentQuery,
): Promise<DocumentPage> {
  const { EJSON } = library.BSON
  const stages = stagesOf(shape, query.where, ids)
  const isRecent = query.order === 'recent'
  const direction = isRecent ? -1 : 1
  const places: readonly Place[] =
    query.cursor === undefined ? stages.map(() => 'start' as const) : (EJSON.parse(query.cursor) as Place[])
  const orders = stages.map(({ order }) => (isRecent ? (shape.createdField ?? '_id') : order))
  const read = await Promise.all(
    stages.map(async ({ filter }, index) => {
      const [place, order] = [places[index] ?? 'end', orders[index] as string]
      if (place === 'end') return []
      const behindLast = place === 'start' ? filter : { $and: [filter, behind(order, direction, place.key, place.id)] }
      const sort: Record<string, 1 | -1> = order === '_id' ? { _id: direction } : { [order]: direction, _id: direction }
      return collection.find(behindLast).sort(sort).limit(query.limit).toArray()
    }),
  )
  const all = read.flatMap((found, stage) => found.map((raw) => ({ raw, stage, document: documentOf(raw, shape) })))
  const age = isRecent ? createdAt : since(query.where)
  // The sort is stable, so that documents of one instant keep the order of their stage.
  const taken = all.sort((a, b) => direction * (age(a.document) - age(b.document))).slice(0, query.limit)
  const next = stages.map((_, stage): Place => {
    const mine = taken.filter((each) => each.stage === stage)
    const found = read[stage]?.length ?? 0
    if (found < query.limit && mine.length === found) return 'end'
    const last = mine.at(-1)?.raw
    return last ? { key: at(last, orders[stage] as string) ?? null, id: last['_id'] } : (places[stage] ?? 'end')
  })
  const documents = taken.map(({ document }) => document)
  return next.every((place) => place === 'end')
    ? { documents }
    : { documents, cursor: EJSON.stringify(next, { relaxed: false }) }
}

/** Documents of unknown age come last, whichever way. */
const createdAt = (document: SourceDocument): number => document.createdAt ?? Number.NEGATIVE_INFINITY

/** What `oldest` means for a question: the stages of all but the silent are one, or in order already. */
const since =
  ({ is }: Where) =>
  ({ lastAttemptAt, createdAt: created, marks }: SourceDocument): number =>
    is === 'silent' || is === 'stuck' ? (lastAttemptAt ?? created ?? marks.seenAt ?? Number.MAX_SAFE_INTEGER) : 0

async function changeOne(collection: MongoCollection, shape: CollectionShape, change: DocumentChange): Promise<Answer> {
  const set: Record<string, unknown> = {}
  if (change.status !== undefined) set[shape.statusField] = change.status
  if (change.attempts !== undefined) set[shape.attemptsField] = change.attempts
  if (change.lastAttemptAt !== undefined)
    set[shape.lastAttemptField] = change.lastAttemptAt === null ? null : instantIn(change.lastAttemptAt, shape.dates)
  if (change.marks) set[shape.marksField] = marksIn(change.marks, change.expect.rev + 1)
  const { matchedCount } = await collection.updateOne(expectation(shape, change.expect) as Filter, { $set: set })
  return matchedCount === 1 ? 'ok' : 'lost'
}

/** Compared with the values as they were read; null is also a field that is missing. */
function expectation(shape: CollectionShape, expect: Expected): Filter {
  const { _id, attempts, lastAttempt } = expect.key as RawKey
  return {
    _id,
    [`${shape.marksField}.rev`]: expect.rev === 0 ? null : expect.rev,
    ...(expect.status === undefined ? {} : { [shape.statusField]: expect.status }),
    ...(expect.attempts === undefined ? {} : { [shape.attemptsField]: attempts ?? null }),
    ...(expect.lastAttemptAt === undefined ? {} : { [shape.lastAttemptField]: lastAttempt ?? null }),
  }
}

async function inTurn<Item, Result>(items: readonly Item[], act: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  for (let from = 0; from < items.length; from += WRITES)
    results.push(...(await Promise.all(items.slice(from, from + WRITES).map(act))))
  return results
}

/** Made if they are missing; one that cannot be made is told, since without it a pass reads whole collections. */
async function makeIndexes(db: Db, shape: CollectionShape): Promise<string[]> {
  const { name, idField, statusField, lastAttemptField, createdField, marksField } = shape
  const keys: readonly (readonly [key: Record<string, 1>, sparse?: 'sparse'])[] = [
    [{ [statusField]: 1, [lastAttemptField]: 1 }],
    [{ [`${marksField}.dueAt`]: 1 }, 'sparse'],
    [{ [`${marksField}.outbox.until`]: 1 }, 'sparse'],
    [{ [`${marksField}.failure.at`]: 1 }, 'sparse'],
    ...(createdField === undefined ? [] : [[{ [statusField]: 1, [createdField]: 1 }] as const]),
    ...(idField === '_id' ? [] : [[{ [idField]: 1 }] as const]),
  ]
  const missing: string[] = []
  for (const [key, sparse] of keys) {
    try {
      await db.collection(name).createIndex(key, sparse ? { sparse: true } : {})
    } catch (error) {
      if ((error as Error).name !== 'MongoServerError') throw error
      missing.push(
        `${name}: the index on ${Object.keys(key).join(', ')} could not be made (${(error as Error).message}). Make it, or passes read the whole collection.`,
      )
    }
  }
  return missing
}
