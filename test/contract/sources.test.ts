import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mongodbSource } from '../../src/sources/mongodb/index.ts'
import { sqliteSource } from '../../src/sources/sqlite/index.ts'
import { defineCollection } from '../../src/sweep/collection.ts'
import { sourceContract } from '../../src/testing/source-contract.ts'
import { type MongoService, mongoService, noMongo } from '../services/mongodb.ts'

let collections = 0
const shapeOf = (more: { readonly dates?: 'date' | 'iso' } = {}) => {
  collections += 1
  const event = { type: 'Again', topic: 'again' }
  return defineCollection({ name: `law-${collections}`, idField: 'name', createdField: 'created', event, ...more })
    .shape
}

sourceContract(
  {
    name: 'sqlite',
    open: async () => {
      const source = sqliteSource({ file: ':memory:' })
      const shape = shapeOf()
      return {
        source,
        shape,
        put: async (documents) => void (await source.put(shape.name, documents)),
        close: () => source.close(),
      }
    },
  },
  { describe, test },
)

describe('a server that speaks the wire protocol of MongoDB', () => {
  const reason = noMongo()
  let service: MongoService | undefined
  let client: MongoClient | undefined
  beforeAll(async () => {
    if (reason !== undefined) return
    service = await mongoService()
    client = new MongoClient(service.url)
    console.log(`The contract of Source for mongodb runs on ${service.server}.`)
  }, 180_000)
  afterAll(async () => {
    await client?.close()
    await service?.dispose()
  })

  for (const dates of ['date', 'iso'] as const)
    sourceContract(
      {
        name: `mongodb, instants as ${dates}`,
        open: async () => {
          if (!service || !client) throw new Error('there is no server')
          const source = mongodbSource({ url: service.url, database: 'laws' })
          const shape = shapeOf({ dates })
          const collection = client.db('laws').collection(shape.name)
          const instant = (ms: number | undefined) =>
            ms === undefined ? null : dates === 'iso' ? new Date(ms).toISOString() : new Date(ms)
          return {
            source,
            shape,
            put: async (documents) => {
              for (const { id, status = 'pending', attempts, lastAttemptAt, createdAt, document } of documents)
                await collection.insertOne({
                  name: id,
                  status,
                  ...(attempts === undefined
                    ? {}
                    : { attemptCount: attempts, lastAttemptTime: instant(lastAttemptAt) }),
                  created: instant(createdAt ?? 1_700_000_000_000),
                  ...document,
                })
            },
            close: () => source.close(),
          }
        },
      },
      { describe, test: (name, body) => test(name, async (context) => (reason ? context.skip(reason) : body())) },
    )

  test('a document without any date is marked as seen, and is silent once that is long ago', async (context) => {
    if (reason !== undefined || !service || !client) return context.skip(reason ?? 'there is no server')
    const source = mongodbSource({ url: service.url, database: 'laws' })
    const { shape } = defineCollection({ name: 'ageless', event: { type: 'Again', topic: 'again' } })
    await client
      .db('laws')
      .collection<{ _id: string; status: string }>('ageless')
      .insertOne({ _id: 'hash', status: 'pending' })
    const before = await source.now()
    const find = async (at: number) =>
      (await source.find(shape, { where: { is: 'silent', before: at }, limit: 5 })).documents
    const stuck = (at: number) => source.count(shape, { is: 'stuck', before: at })
    const [found] = await find(before)
    expect(await stuck(before + 1_000)).toBe(0)
    expect(found).toMatchObject({ id: 'hash', attempts: 0 })
    expect(found?.createdAt).toBeUndefined()
    const expected = { id: 'hash', key: found?.key, rev: 0 }
    await source.change(shape, [{ expect: expected, marks: { generation: 1, delivered: 0, seenAt: before } }])
    expect(await find(before)).toEqual([])
    expect(await find(before + 1)).toHaveLength(1)
    expect(await stuck(before)).toBe(0)
    expect(await stuck(before + 1)).toBe(1)
    await source.close()
  })

  test('instants are found as dates and as texts, whichever the collection says', async (context) => {
    if (reason !== undefined || !service || !client) return context.skip(reason ?? 'there is no server')
    const source = mongodbSource({ url: service.url, database: 'laws' })
    const T = Date.parse('2026-01-01T00:00:00Z')
    for (const dates of ['date', 'iso'] as const) {
      const { shape } = defineCollection({
        name: `mixed-${dates}`,
        dates,
        createdField: 'created',
        event: { type: 'Again', topic: 'again' },
      })
      const forms = { date: new Date(T), text: '2026-01-01T00:00:00.000Z', python: '2026-01-01T00:00:00.000000+00:00' }
      for (const [form, at] of Object.entries(forms))
        await client
          .db('laws')
          .collection<{ _id: string }>(shape.name)
          .insertMany([
            { _id: `attempted ${form}`, status: 'pending', attemptCount: 1, lastAttemptTime: at },
            { _id: `never ${form}`, status: 'pending', created: at },
            { _id: `done ${form}`, status: 'processed', attemptCount: 1, lastAttemptTime: at },
          ] as never[])
      const ids = async (before: number) => {
        const found: string[] = []
        let cursor: string | undefined
        do {
          const where = { is: 'silent', before } as const
          const page = await source.find(shape, { where, limit: 2, ...(cursor === undefined ? {} : { cursor }) })
          found.push(...page.documents.map(({ id }) => id))
          cursor = page.cursor
        } while (cursor !== undefined)
        return found.sort()
      }
      const all = Object.keys(forms).flatMap((form) => [`attempted ${form}`, `never ${form}`])
      expect(await ids(T + 1)).toEqual(all.sort())
      expect(await ids(T - 1)).toEqual([])
      expect(await source.count(shape, { is: 'stuck', before: T + 1 })).toBe(6)
      expect(await source.count(shape, { is: 'processed', since: T - 1 })).toBe(3)
    }
    await source.close()
  })

  test('ObjectIds tell the age of documents and name them', async (context) => {
    if (reason !== undefined || !service || !client) return context.skip(reason ?? 'there is no server')
    const source = mongodbSource({ url: service.url, database: 'laws' })
    const { shape } = defineCollection({ name: 'objectids', event: { type: 'Again', topic: 'again' } })
    const { insertedId } = await client.db('laws').collection('objectids').insertOne({ status: 'pending' })
    const createdAt = insertedId.getTimestamp().getTime()
    expect(await source.get(shape, insertedId.toHexString())).toMatchObject({ createdAt })
    expect(await source.count(shape, { is: 'silent', before: createdAt })).toBe(0)
    expect(await source.count(shape, { is: 'silent', before: createdAt + 1_000 })).toBe(1)
    await source.close()
  })
})
