import { describe, expect, it } from 'vitest'
import { defineCollection } from './collection.ts'
import { archives } from './sweep.fixtures.ts'
import { readVariables } from './variables.ts'

describe('the variables of a retry job', () => {
  it('have the usual defaults', () => {
    const { intervalMs, collections, metrics, source, bus } = readVariables({})
    expect({ intervalMs, metrics, source, bus }).toEqual({
      intervalMs: 900_000,
      metrics: 'prometheus',
      source: undefined,
      bus: undefined,
    })
    expect(
      collections.map(({ name, maxAttempts, baseDelay, maxDelay, stuckAge }) => [
        name,
        maxAttempts,
        baseDelay,
        maxDelay,
        stuckAge,
      ]),
    ).toEqual(
      [
        ['archives', 3],
        ['messages', 3],
        ['chunks', 5],
        ['threads', 5],
      ].map((each) => [...each, 300_000, 3_600_000, 86_400_000]),
    )
    for (const each of collections) expect(() => defineCollection(each)).not.toThrow()
  })

  it('are all read', () => {
    const settings = readVariables({
      RETRY_JOB_INTERVAL_SECONDS: '60',
      RETRY_JOB_BASE_DELAY_SECONDS: '10',
      RETRY_JOB_MAX_DELAY_SECONDS: '100',
      RETRY_JOB_STUCK_THRESHOLD_HOURS: '2',
      RETRY_JOB_MAX_ATTEMPTS_ARCHIVES: '4',
      RETRY_JOB_MAX_ATTEMPTS_MESSAGES: '5',
      RETRY_JOB_MAX_ATTEMPTS_CHUNKS: '6',
      RETRY_JOB_MAX_ATTEMPTS_THREADS: '7',
      MONGODB_HOST: 'documentdb',
      MONGODB_PORT: '27018',
      MONGODB_DATABASE: 'copilot',
      MONGODB_USERNAME: 'app',
      MONGODB_PASSWORD: 'p@ss/word',
      RABBITMQ_HOST: 'messagebus',
      RABBITMQ_USERNAME: 'app',
      RABBITMQ_PASSWORD: 'x9-long',
      METRICS_BACKEND: 'prometheus_pushgateway',
      PUSHGATEWAY_URL: 'http://pushgateway:9091',
    })
    expect(settings).toMatchObject({
      intervalMs: 60_000,
      source: { url: 'mongodb://app:p%40ss%2Fword@documentdb:27018/?authSource=admin', database: 'copilot' },
      bus: { url: 'amqp://app:x9-long@messagebus:5672' },
      metrics: 'prometheus_pushgateway',
      pushgatewayUrl: 'http://pushgateway:9091',
    })
    expect(settings.collections.map(({ maxAttempts }) => maxAttempts)).toEqual([4, 5, 6, 7])
    expect(settings.collections[0]).toMatchObject({ baseDelay: 10_000, maxDelay: 100_000, stuckAge: 7_200_000 })
  })

  it('tells everything that is wrong at once, and no password', () => {
    const wrong = () =>
      readVariables({
        RETRY_JOB_INTERVAL_SECONDS: 'soon',
        RETRY_JOB_MAX_ATTEMPTS_ARCHIVES: '0',
        MONGODB_HOST: 'documentdb',
        MONGODB_PORT: '70000',
        MONGODB_USERNAME: 'root',
        MONGODB_PASSWORD: 'example',
        RABBITMQ_HOST: 'messagebus',
        RABBITMQ_USERNAME: 'guest',
        METRICS_BACKEND: 'statsd',
        PUSHGATEWAY_URL: 'pushgateway:9091',
      })
    expect(wrong).toThrow(
      [
        'RETRY_JOB_INTERVAL_SECONDS: "soon" is not allowed; allowed is a whole number from 1 to 604800',
        'RETRY_JOB_MAX_ATTEMPTS_ARCHIVES: "0" is not allowed; allowed is a whole number from 1 to 100',
        'MONGODB_PORT: "70000" is not allowed; allowed is a whole number from 1 to 65535',
        'MONGODB_DATABASE: it is missing; allowed is the name of a database',
        'MONGODB_PASSWORD: its value, not shown, is one that everybody knows; allowed is one of your own',
        'RABBITMQ_PASSWORD: it is missing; allowed are user and password together, or neither. It has no default',
        'METRICS_BACKEND: "statsd" is not allowed; allowed are prometheus_pushgateway, prometheus, none',
        'PUSHGATEWAY_URL: "pushgateway:9091" is not allowed; allowed is http://<host>:<port>',
      ].join('\n'),
    )
  })

  it('shows no password that stands where none belongs', () => {
    const env = { MONGODB_HOST: 'mongodb://bob:canary@db', PUSHGATEWAY_URL: 'ftp://bob:canary@gateway' }
    expect(() => readVariables(env)).toThrow(/MONGODB_HOST: .*\n[\s\S]*PUSHGATEWAY_URL: /)
    try {
      readVariables(env)
    } catch (error) {
      expect((error as Error).message).not.toContain('canary')
    }
  })

  it('the base delay may not pass the cap, and the gateway must be named', () => {
    expect(() => readVariables({ RETRY_JOB_BASE_DELAY_SECONDS: '4000' })).toThrow('RETRY_JOB_MAX_DELAY_SECONDS: 3600')
    expect(() => readVariables({ METRICS_BACKEND: 'prometheus_pushgateway' })).toThrow('PUSHGATEWAY_URL: it is missing')
  })
})

describe('defineCollection', () => {
  it.each([
    [{ name: 'a b' }, 'collections[].name: "a b" is not allowed'],
    [{ maxAttempts: 0 }, 'collections.archives.maxAttempts: 0 is not allowed; allowed is a whole number from 1 to 100'],
    [{ baseDelay: '2h' }, 'collections.archives.maxDelay'],
    [{ stuckAge: 'soon' }, 'collections.archives.stuckAge: "soon" is not a duration'],
    [{ order: 'new' }, 'collections.archives.order: "new" is not allowed; allowed is oldest or recent'],
    [{ stukAge: '1h' }, 'collections.archives.stukAge is not a field; allowed are name,'],
    [{ status: { done: ['pending'] } }, 'each status name in one place only'],
    [{ deadLetter: 'archives' }, 'another collection than its own'],
    [{ marksField: '__proto__' }, 'collections.archives.marksField'],
    [{ policy: 'nobody' }, 'collections.archives.policy: "nobody" is not allowed'],
    [{ stuckAge: 0 }, 'collections.archives.stuckAge: 0 is not allowed; allowed is 1s and more'],
    [{ status: null }, 'collections.archives.status: null is not allowed'],
    [{ status: { opn: ['x'] } }, 'collections.archives.status.opn is not a field; allowed are open, done,'],
    [{ event: { type: 'A', topic: 'a', body: 1 } }, 'collections.archives.event.body is not a field'],
    [{ event: { type: 'A', topic: 'a', data: 'x' } }, 'collections.archives.event.data: "x" is not allowed'],
    [{ failures: { queue: 'q', topic: 'x' } }, 'collections.archives.failures.topic is not a field'],
    [{ failures: { queue: 'q', topics: 'x' } }, 'collections.archives.failures.topics: "x" is not allowed'],
    [{ failures: { queue: 'q', topics: [''] } }, 'collections.archives.failures.topics: "" is not allowed'],
    [{ failures: { queue: 'q', ids: 3 } }, 'collections.archives.failures.ids: 3 is not allowed'],
  ])('refuses %j', (wrong, message) => {
    expect(() => defineCollection({ ...archives, ...(wrong as object) })).toThrow(message)
  })

  it('refuses what is no collection at all', () => {
    for (const wrong of [null, undefined, 'archives', 3])
      expect(() => defineCollection(wrong as never)).toThrow(/^collections\[\]: .* is not allowed; allowed is a coll/)
  })

  it('names documents by an id that is nested', () => {
    const { event, failures } = defineCollection({
      name: 'archives',
      idField: 'meta.id',
      event: { type: 'A', topic: 'a' },
      failures: { queue: 'q' },
    })
    expect(event.data({ meta: { id: 'x' } })).toEqual({ 'meta.id': 'x' })
    expect(failures?.ids({ meta: { id: 'x' } })).toEqual(['x'])
    expect(failures?.ids({ 'meta.id': 'y' })).toEqual(['y'])
  })
})
