import { gzipSync } from 'node:zlib'
import { Storage } from '@google-cloud/storage'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type GcsOptions, gcs, gcsObjects } from '../../src/artifacts/gcs/index.ts'
import { immediate } from '../../src/policy/backoff.ts'
import { artifactsContract } from '../../src/testing/artifacts-contract.ts'
import { type GcsServer, startGcsServer } from '../services/gcs-server.ts'

// Proved with the real client against a local server that enforces preconditions and hashes; not against Google's own.
let server: GcsServer
beforeAll(async () => {
  server = await startGcsServer()
})
afterAll(() => server.close())

const open = (more: Partial<GcsOptions> = {}) =>
  gcs({ bucket: 'bucket', apiEndpoint: server.url, projectId: 'test', ...more })

let opened = 0

artifactsContract(
  {
    name: 'gcs',
    open: () => {
      opened += 1
      const prefix = `law-${opened}`
      const here = (name: string) => name.startsWith(`${prefix}/`)
      return {
        artifacts: open({ prefix }),
        reopen: () => open({ prefix }),
        corrupt: (uri) => {
          const object = server.objects.get(uri.replace('gs://bucket/', ''))
          if (object) object.body = Buffer.concat([object.body, Buffer.from('x')])
        },
        outside: () => [...server.objects.keys()].filter((name) => !here(name)),
      }
    },
  },
  { describe, test },
)

describe('gcs under faults', () => {
  const put = { path: ['r1', 'report.json'], body: new TextEncoder().encode('{}'), fingerprint: 'print' }
  const quick = { policy: { kinds: { transient: { backoff: immediate() } } } }
  let prefix: string
  beforeEach(() => {
    opened += 1
    prefix = `fault-${opened}`
    server.log.length = 0
  })

  test('each failed request is tried again by itself, five times in all', async () => {
    server.fail({ verb: 'insert', how: 'error-before', times: 4 })
    expect(await open({ prefix, ...quick }).put(put)).toMatchObject({ reused: false })
    expect(server.log.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      ...Array(4).fill('insert 503'),
      'insert 200',
    ])
    server.fail({ verb: 'insert', how: 'error-before', times: 5 })
    const gaveUp = open({ prefix: `${prefix}-b`, ...quick }).put(put)
    await expect(gaveUp).rejects.toMatchObject({ code: 'artifacts.unavailable', cause: { code: 503 } })
  })

  test.each(['error-after', 'reset-after'] as const)(
    'an insert that arrived and was told as failed (%s) is found, not repeated',
    async (how) => {
      server.fail({ verb: 'insert', how })
      expect(await open({ prefix, ...quick }).put(put)).toMatchObject({ reused: true, bytes: 2 })
      expect(server.log.at(1)).toBe(`insert 412 ${prefix}/r1/report.json`)
      expect([...server.objects.keys()].filter((name) => name.startsWith(prefix))).toHaveLength(1)
    },
  )

  test('after a successful insert elsewhere only the read is repeated', async () => {
    await open({ prefix }).put(put)
    server.log.length = 0
    server.fail({ verb: 'media', how: 'error-before', times: 2 })
    expect(await open({ prefix, ...quick }).put(put)).toMatchObject({ reused: true })
    expect(server.log.filter((line) => line.startsWith('insert'))).toHaveLength(1)
  })

  test('bytes that were bent on the way never become an object', async () => {
    server.fail({ verb: 'insert', how: 'bend' })
    await open({ prefix, ...quick })
      .put(put)
      .catch(() => undefined)
    expect(server.log[0]).toBe(`insert 400 ${prefix}/r1/report.json`)
    expect(await open({ prefix, ...quick }).put(put)).not.toBe('conflict')
    expect(await open({ prefix }).get(`gs://bucket/${prefix}/r1/report.json`)).toEqual(put.body)
  })

  test('what cannot be cured is not tried again', async () => {
    server.fail({ verb: 'insert', how: 'error-before', status: 403 })
    await expect(open({ prefix }).put(put)).rejects.toMatchObject({ code: 'artifacts.unavailable' })
    expect(server.log).toHaveLength(1)
  })

  test('an object that somebody else put there is a conflict and stays as it is', async () => {
    const foreign = { body: Buffer.from('theirs'), contentType: 'text/plain', metadata: {}, generation: 1 }
    server.objects.set(`${prefix}/r1/report.json`, foreign)
    expect(await open({ prefix }).put(put)).toBe('conflict')
    expect(await open({ prefix }).get(`gs://bucket/${prefix}/r1/report.json`)).toBe('broken')
    expect(server.objects.get(`${prefix}/r1/report.json`)?.body.toString()).toBe('theirs')
  })

  test('removes more than a page, and nothing of a neighbour', async () => {
    const artifacts = open({ prefix })
    for (const name of ['a', 'b', 'c', 'd', 'e']) await artifacts.put({ ...put, path: ['r1', name] })
    await artifacts.put({ ...put, path: ['r10', 'a'] })
    await artifacts.remove?.(['r1'])
    expect([...server.objects.keys()].filter((name) => name.startsWith(prefix))).toEqual([`${prefix}/r10/a`])
  })
})

describe('gcs at the door', () => {
  test.each([
    [{ bucket: '' }, /bucket: ""/],
    [{ bucket: 'a/b' }, /bucket: "a\/b"/],
    [{ bucket: 'bucket', prefix: '../up' }, /prefix: "\.\.\/up"/],
    [{ bucket: 'bucket', client: new Storage({ projectId: 'test' }) }, /autoRetry: false/],
    [
      { bucket: 'bucket', client: new Storage({ projectId: 'test' }), projectId: 'p' },
      /projectId: "p"; allowed is none/,
    ],
  ] as const)('%j is refused by name', (options, message) => {
    expect(() => gcs(options as GcsOptions)).toThrow(message)
  })

  test('a client of the application is used as it is', async () => {
    const client = new Storage({
      projectId: 'test',
      apiEndpoint: server.url,
      retryOptions: { autoRetry: false },
    })
    const artifacts = gcs({ bucket: 'bucket', prefix: 'own-client', client })
    const body = new TextEncoder().encode('x')
    expect(await artifacts.put({ path: ['r1', 'a'], body, fingerprint: 'f' })).toMatchObject({ reused: false })
  })
})

describe('objects of others', () => {
  const read = (uri: string) => gcsObjects({ buckets: ['bucket'], apiEndpoint: server.url, projectId: 'test' })(uri)
  const put = (name: string, body: Buffer, more: object = {}) =>
    server.objects.set(name, { body, contentType: 'application/json', metadata: {}, generation: 1, ...more })

  test('are read by their uris, whatever their names are, without marks of ours', async () => {
    put('prices/2026 11/BTC-USD@1h.json', Buffer.from('[1]'))
    expect(await read('gs://bucket/prices/2026 11/BTC-USD@1h.json')).toEqual(new TextEncoder().encode('[1]'))
    expect(await read('gs://bucket/prices/gone.json')).toBeUndefined()
  })

  test('that are stored packed are given unpacked', async () => {
    put('packed.json', gzipSync('[1]'), { contentEncoding: 'gzip' })
    expect(await read('gs://bucket/packed.json')).toEqual(new TextEncoder().encode('[1]'))
  })

  test('whose bytes do not match their hash are broken', async () => {
    put('bent.json', Buffer.from('[1]'), { metadata: { sha256: 'other' } })
    put('cut.json', Buffer.from('[1]'), { md5Hash: 'other' })
    expect(await read('gs://bucket/bent.json')).toBe('broken')
    expect(await read('gs://bucket/cut.json')).toBe('broken')
  })

  test.each(['gs://other/prices.json', 'https://bucket/prices.json', 'gs://bucket', 'gs://bucket/', ''])(
    'in no bucket that is named are not asked for: %j',
    async (uri) => {
      server.log.length = 0
      expect(await read(uri)).toBeUndefined()
      expect(server.log).toEqual([])
    },
  )

  test.each([
    [{ buckets: [] }, /^buckets: \[\]; allowed/],
    [{ buckets: ['a', ''] }, /^buckets\[0\]: "a"; allowed/],
  ])('%j is refused by name', (options, message) => {
    expect(() => gcsObjects(options)).toThrow(message)
  })
})
