import { describe, expect, test } from 'vitest'
import { parseArtifacts, parseBus, parseStore } from './address.ts'

const store = (value: unknown) => parseStore(value, 'store', '/srv/app')
const artifacts = (value: unknown) => parseArtifacts(value, 'artifacts', '/srv/app')
const bus = (value: unknown) => parseBus(value, 'bus')

describe('addresses', () => {
  test.each([
    ['sqlite:./reprise.db', { driver: 'sqlite', file: '/srv/app/reprise.db' }],
    ['sqlite:data/../x.db', { driver: 'sqlite', file: '/srv/app/x.db' }],
    ['SQLite:/var/x.db', { driver: 'sqlite', file: '/var/x.db' }],
    ['sqlite:///var/with%20space.db', { driver: 'sqlite', file: '/var/with space.db' }],
    ['sqlite::memory:', { driver: 'sqlite', file: ':memory:' }],
    [
      'postgres://app:pw@db:5432/app?sslmode=require',
      { driver: 'postgres', url: 'postgres://app:pw@db:5432/app?sslmode=require' },
    ],
    ['postgresql://db/app', { driver: 'postgres', url: 'postgresql://db/app' }],
    ['firestore://my-project', { driver: 'firestore', project: 'my-project' }],
    ['firestore://my-project/eu', { driver: 'firestore', project: 'my-project', database: 'eu' }],
    ['memory:', { driver: 'memory' }],
    ['memory', { driver: 'memory' }],
  ])('store %s', (text, address) => expect(store(text)).toEqual(address))

  test.each([
    ['folder:./artifacts', { driver: 'folder', folder: '/srv/app/artifacts' }],
    ['gcs://bucket-1', { driver: 'gcs', bucket: 'bucket-1' }],
    ['gs://bucket-1/a/b', { driver: 'gcs', bucket: 'bucket-1', prefix: 'a/b' }],
    ['memory:', { driver: 'memory' }],
  ])('artifacts %s', (text, address) => expect(artifacts(text)).toEqual(address))

  test.each([
    ['memory:', { driver: 'memory' }],
    ['amqps://guest:pw@mq', { driver: 'amqp', url: 'amqps://guest:pw@mq' }],
  ])('bus %s', (text, address) => expect(bus(text)).toEqual(address))

  const STORES = 'sqlite:<file>, firestore://<project> or memory:'
  test.each([
    ['./reprise.db', `store: "./reprise.db" is not allowed; allowed is ${STORES}`],
    ['', `store: "" is not allowed; allowed is ${STORES}`],
    [7, `store: 7 is not allowed; allowed is ${STORES}`],
    [{}, `store: an object is not allowed; allowed is ${STORES}`],
    [['x'], `store: a list is not allowed; allowed is ${STORES}`],
    [() => 1, `store: a function is not allowed; allowed is ${STORES}`],
    ['sqlite:', `store: "sqlite:" is not allowed; allowed is ${STORES}`],
    [
      'sqlite://data/x.db',
      `store: "sqlite://data/x.db" is not allowed; allowed is ${STORES}; a path takes no // before it`,
    ],
    ['sqlit:x.db', `store: "sqlit:x.db" is not allowed; allowed is ${STORES}; did you mean sqlite:?`],
    ['mysql://u:canary-1234@h/d', `store: "mysql://***@h/d" is not allowed; allowed is ${STORES}`],
    ['postgres:', `store: "postgres:" is not allowed; allowed is ${STORES}`],
    ['postgres:///app', `store: "postgres:///app" is not allowed; allowed is ${STORES}`],
    ['memory:x', 'store: "memory:x" is not allowed; allowed is nothing after memory:'],
    [
      'firestore://X',
      'store: "firestore://X" is not allowed; allowed is firestore://<project> or firestore://<project>/<database>',
    ],
  ])('the store %j is refused', (text, message) => expect(() => store(text)).toThrow(new RangeError(message)))

  const ARTIFACTS = 'folder:<path>, gcs://<bucket>/<prefix> or memory:'
  test.each([
    ['./artifacts', `artifacts: "./artifacts" is not allowed; allowed is ${ARTIFACTS}`],
    ['folder:', `artifacts: "folder:" is not allowed; allowed is ${ARTIFACTS}`],
    ['foldr:x', `artifacts: "foldr:x" is not allowed; allowed is ${ARTIFACTS}; did you mean folder:?`],
    ['gcs://', 'artifacts: "gcs://" is not allowed; allowed is gcs://<bucket> or gcs://<bucket>/<prefix>'],
    ['memory:x', 'artifacts: "memory:x" is not allowed; allowed is nothing after memory:'],
  ])('the artifacts %j are refused', (text, message) => expect(() => artifacts(text)).toThrow(new RangeError(message)))

  test.each([
    ['kafka://x', 'bus: "kafka://x" is not allowed; allowed is memory: or amqp://<user>@<host>'],
    ['amqp:', 'bus: "amqp:" is not allowed; allowed is memory: or amqp://<user>@<host>'],
    ['ampq://h', 'bus: "ampq://h" is not allowed; allowed is memory: or amqp://<user>@<host>; did you mean amqp:?'],
    ['memory:x', 'bus: "memory:x" is not allowed; allowed is nothing after memory:'],
  ])('the bus %j is refused', (text, message) => expect(() => bus(text)).toThrow(new RangeError(message)))

  test('a long value is cut', () => {
    expect(() => store(`x${'y'.repeat(500)}`)).toThrow(/^store: "x(?:y|\*)+…?" is not allowed/)
  })
})
