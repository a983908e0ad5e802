import { describe, expect, it } from 'vitest'
import { RepriseError } from '../failure/reprise-error.ts'
import { archives, DAY, HOUR, MINUTE, sweepWorld } from './sweep.fixtures.ts'
import { createSweep } from './sweep.ts'

describe('the three procedures, with corrected times', () => {
  it('integration: a pending document older than the stuck age is counted once and its event published', async () => {
    const { clock, source, bus, sweep, document } = await sweepWorld()
    await source.put('archives', [
      { id: 'a', createdAt: clock.now() - 25 * HOUR, document: { path: '/in/a.mbox' } },
      { id: 'new', createdAt: clock.now() - 23 * HOUR },
    ])
    const report = await sweep.pass()
    expect(report).toMatchObject({ ok: true, collections: [{ collection: 'archives', begun: 1, stuck: 1 }] })
    expect(await document('a')).toMatchObject({ attempts: 1, lastAttemptAt: clock.now(), status: 'pending' })
    expect((await document('a')).marks.outbox).toBeUndefined()
    expect(await document('new')).toMatchObject({ attempts: 0, rev: 0 })
    const [message] = bus.peek('parsing')
    expect(message?.id).toBe('sweep/archives/a/1.1')
    expect(JSON.parse(message?.body ?? '')).toEqual({
      event_type: 'ArchiveIngested',
      event_id: 'sweep/archives/a/1.1',
      timestamp: '2026-01-01T00:00:00.000Z',
      version: '1.0.0',
      data: { archive_id: 'a', path: '/in/a.mbox' },
      retry: { collection: 'archives', document_id: 'a', attempt: 1, generation: 1 },
    })
    expect((await sweep.pass()).collections[0]).toMatchObject({ begun: 0, stuck: 0 })
    expect(bus.peek('parsing')).toHaveLength(1)
  })

  it('backoff: attempts 2, failed 5 min after the last: skipped; 10 min later: begun again', async () => {
    const { clock, source, sweep, report, document } = await sweepWorld()
    await source.put('archives', [{ id: 'a', attempts: 2, lastAttemptAt: clock.now() - 5 * MINUTE, createdAt: 0 }])
    await report('a')
    expect((await sweep.pass()).collections[0]).toMatchObject({ heard: 1, begun: 0, waiting: 1 })
    expect((await document('a')).marks.dueAt).toBe(clock.now() + 5 * MINUTE)
    await clock.advance(10 * MINUTE)
    expect((await sweep.pass()).collections[0]).toMatchObject({ begun: 1, waiting: 0 })
    expect(await document('a')).toMatchObject({ attempts: 3, lastAttemptAt: clock.now() })
  })

  it('max retries: attempts 3 and no sign of life: failed for good, told at error level', async () => {
    const { clock, source, sweep, document, events } = await sweepWorld()
    await source.put('archives', [{ id: 'a', attempts: 3, lastAttemptAt: clock.now() - 25 * HOUR, createdAt: 0 }])
    expect((await sweep.pass()).collections[0]).toMatchObject({ ended: 1, begun: 0, failed: 1 })
    expect(await document('a')).toMatchObject({ status: 'failed_max_retries', attempts: 3 })
    expect(events.find(({ name }) => name === 'sweep.ended')).toMatchObject({ document: 'a', attempts: 3 })
  })
})

describe('bounds', () => {
  it('begins a document three times and no more: the third failure ends it, with the last error', async () => {
    const { clock, source, bus, sweep, report, document } = await sweepWorld()
    await source.put('archives', [{ id: 'a', createdAt: clock.now() - 2 * DAY }])
    await sweep.pass()
    const delays = [5, 10]
    for (const [index, minutes] of delays.entries()) {
      await report('a')
      await clock.advance(minutes * MINUTE - 1)
      await sweep.pass()
      expect((await document('a')).attempts).toBe(index + 1)
      await clock.advance(1)
      await sweep.pass()
      expect((await document('a')).attempts).toBe(index + 2)
    }
    await report('a', 'the archive is not a mailbox')
    await sweep.pass()
    expect(await document('a')).toMatchObject({
      status: 'failed_max_retries',
      attempts: 3,
      marks: { failure: { message: 'the archive is not a mailbox', at: clock.now() } },
    })
    await clock.advance(3 * DAY)
    await sweep.pass()
    expect(bus.peek('parsing').map(({ id }) => id)).toEqual([1, 2, 3].map((n) => `sweep/archives/a/1.${n}`))
  })

  it('does not end a document while its last attempt runs', async () => {
    const { clock, source, sweep, document } = await sweepWorld()
    const lastAttemptAt = clock.now() - HOUR
    await source.put('archives', [{ id: 'a', status: 'processing', attempts: 3, lastAttemptAt, createdAt: 0 }])
    await sweep.pass()
    expect(await document('a')).toMatchObject({ status: 'processing', rev: 0 })
  })

  it('never touches a processed document, whatever is heard of it', async () => {
    const { source, sweep, report, document } = await sweepWorld()
    await source.put('archives', [{ id: 'a', status: 'processed', attempts: 3, lastAttemptAt: 1, createdAt: 0 }])
    await report('a')
    expect((await sweep.pass()).collections[0]).toMatchObject({ heard: 0, ended: 0 })
    expect(await document('a')).toMatchObject({ status: 'processed', rev: 0 })
  })

  it('never overwrites what a service wrote between the look and the act', async () => {
    const { clock, source, bus, sweep, document } = await sweepWorld()
    const lastAttemptAt = clock.now() - 2 * DAY
    await source.put('archives', [
      { id: 'begun', status: 'processing', attempts: 1, lastAttemptAt, createdAt: 0 },
      { id: 'spent', status: 'processing', attempts: 3, lastAttemptAt, createdAt: 0 },
    ])
    const { find } = source
    source.find = async (shape, query) => {
      const page = await find(shape, query)
      const done = page.documents.map(({ id, key, rev }) => ({ expect: { id, key, rev }, status: 'processed' }))
      if (query.limit > 1) await source.change(shape, done)
      return page
    }
    expect((await sweep.pass()).collections[0]).toMatchObject({ begun: 0, ended: 0, lost: 2 })
    expect(await document('begun')).toMatchObject({ status: 'processed', attempts: 1, rev: 0 })
    expect(await document('spent')).toMatchObject({ status: 'processed', attempts: 3, rev: 0 })
    expect(bus.peek('parsing')).toHaveLength(0)
  })

  it('never overwrites what another sweeper wrote between the look and the act', async () => {
    const { clock, source, bus, sweep, document } = await sweepWorld()
    const lastAttemptAt = clock.now() - 2 * DAY
    await source.put('archives', [{ id: 'a', attempts: 1, lastAttemptAt, createdAt: 0 }])
    const { find } = source
    source.find = async (shape, query) => {
      const page = await find(shape, query)
      const scheduled = page.documents.map(({ id, key, rev, marks }) => ({
        expect: { id, key, rev },
        marks: { ...marks, dueAt: clock.now() + DAY, why: 'schedule by ana' },
      }))
      if (query.limit > 1) await source.change(shape, scheduled)
      return page
    }
    expect((await sweep.pass()).collections[0]).toMatchObject({ begun: 0, lost: 1 })
    expect(await document('a')).toMatchObject({ attempts: 1, rev: 1, marks: { why: 'schedule by ana' } })
    expect(bus.peek('parsing')).toHaveLength(0)
  })

  it('bounds a service that counts for itself and one that never begins', async () => {
    const { clock, source, bus, sweep, document } = await sweepWorld([{ ...archives, countedBy: 'service' }])
    await source.put('archives', [{ id: 'a', attempts: 1, lastAttemptAt: 0, createdAt: 0 }])
    for (let day = 0; day < 6; day++) {
      await sweep.pass()
      await clock.advance(DAY + 1)
    }
    expect(bus.peek('parsing').map(({ id }) => id)).toEqual(['sweep/archives/a/1.2', 'sweep/archives/a/1.3'])
    expect(await document('a')).toMatchObject({ attempts: 1, status: 'failed_max_retries' })
  })

  it('ends at once what can never work, by the policy', async () => {
    const { source, sweep, report, document } = await sweepWorld()
    await source.put('archives', [{ id: 'a', attempts: 1, lastAttemptAt: 0 }])
    await report('a', 'Incorrect API key provided', { error_type: 'AuthenticationError', error_code: 401 })
    await sweep.pass()
    expect(await document('a')).toMatchObject({ status: 'failed_max_retries', attempts: 1 })
  })
})

describe('news of failures', () => {
  it('is idempotent by event id, also after the next attempt went out', async () => {
    const { clock, source, sweep, report, document } = await sweepWorld()
    await source.put('archives', [{ id: 'a', attempts: 1, lastAttemptAt: clock.now(), createdAt: 0 }])
    await report('a', 'ECONNRESET', { event_id: 'same' })
    await report('a', 'ECONNRESET', { event_id: 'same' })
    await sweep.pass()
    await clock.advance(5 * MINUTE)
    await sweep.pass()
    await report('a', 'ECONNRESET', { event_id: 'same' })
    await sweep.pass()
    expect(await document('a')).toMatchObject({ attempts: 2, rev: 3 })
    expect((await document('a')).marks.dueAt).toBeUndefined()
  })

  it('of an earlier attempt is stale', async () => {
    const { clock, source, sweep, report, document } = await sweepWorld()
    await source.put('archives', [{ id: 'a', attempts: 2, lastAttemptAt: clock.now(), createdAt: 0 }])
    await report('a', 'ECONNRESET', { attempt: 1 })
    await sweep.pass()
    expect(await document('a')).toMatchObject({ rev: 0 })
  })

  it('that nobody can read is put aside and blocks nobody', async () => {
    const { source, bus, sweep, report, document } = await sweepWorld()
    await source.put('archives', [{ id: 'a', attempts: 1, lastAttemptAt: 0 }])
    for (let index = 0; index < 450; index++)
      await bus.send([{ id: `bad-${index}`, topic: 'parsing.failed', body: index % 2 ? '{' : '{"data":{}}' }])
    await report('nobody')
    await report('a')
    const { collections, ok } = await sweep.pass()
    expect(collections[0]).toMatchObject({ heard: 1, parked: 451 })
    expect(ok).toBe(true)
    expect((await document('a')).marks.failure?.code).toBe('network.refused')
    expect(await bus.depth('parsing.failed')).toBe(0)
    expect(await bus.depth('parsing.failed.parked')).toBe(451)
  })
})

describe('failures without an id', () => {
  it('are heard for each attempt, however alike they are', async () => {
    const { clock, source, sweep, bus, document } = await sweepWorld()
    const nameless = createSweep({
      source,
      clock,
      collections: [archives],
      bus: {
        ...bus,
        take: async (queue, limit) =>
          (await bus.take(queue, limit)).map((each) => ({ ...each, id: 'content-1', isNamed: false })),
      },
    })
    await source.put('archives', [{ id: 'a', attempts: 1, lastAttemptAt: clock.now(), createdAt: 0 }])
    const body = JSON.stringify({ archive_id: 'a', error_message: 'connect ECONNREFUSED' })
    for (const attempt of [1, 2, 3]) {
      await bus.send([{ id: 'm', topic: 'parsing.failed', body }])
      expect((await nameless.pass()).collections[0]).toMatchObject({ heard: 1, ended: attempt === 3 ? 1 : 0 })
      await clock.advance(HOUR)
      await sweep.pass()
    }
    expect(await document('a')).toMatchObject({ status: 'failed_max_retries', attempts: 3 })
  })
})

describe('a message that cannot be put aside', () => {
  it('goes back to its queue, and is put aside when that is possible', async () => {
    const { bus, sweep, report } = await sweepWorld()
    await report('nobody')
    await bus.send([{ id: 'bad', topic: 'parsing.failed', body: '{' }])
    const { send } = bus
    bus.send = async (messages) => messages.map(() => 'unknown')
    expect((await sweep.pass()).collections[0]).toMatchObject({ heard: 0, parked: 0 })
    expect(await bus.depth('parsing.failed')).toBe(2)
    bus.send = send
    expect((await sweep.pass()).collections[0]).toMatchObject({ parked: 2 })
    expect(await bus.depth('parsing.failed.parked')).toBe(2)
  })
})

describe('a bus that is down', () => {
  it('keeps what was counted in the documents, counts no more, and sends it once the bus is back', async () => {
    const { clock, source, bus, sweep, another, document } = await sweepWorld()
    const old = clock.now() - 2 * DAY
    await source.put(
      'archives',
      Array.from({ length: 500 }, (_, index) => ({ id: `a-${index}`, createdAt: old + index })),
    )
    const { send } = bus
    bus.send = async (messages) => messages.map(() => 'unknown')
    const report = await sweep.pass()
    expect(report.ok).toBe(false)
    expect(report.collections[0]).toMatchObject({ begun: 0, errors: { 'bus.unknown': 1 } })
    const counted = (await source.find(sweep.collections[0]!.shape, { where: { is: 'open' }, limit: 1_000 })).documents
    expect(counted.filter(({ attempts }) => attempts === 1)).toHaveLength(200)
    bus.send = send
    await another().pass()
    expect(bus.peek('parsing')).toHaveLength(300)
    await clock.advance(3 * MINUTE)
    expect((await sweep.pass()).collections[0]).toMatchObject({ resent: 200 })
    expect(new Set(bus.peek('parsing').map(({ id }) => id)).size).toBe(500)
    expect(bus.peek('parsing')).toHaveLength(500)
    expect(await document('a-0')).toMatchObject({ attempts: 1 })
  })
})

describe('two sweepers at once', () => {
  it('count and send each document once', async () => {
    const { clock, source, bus, sweep, another } = await sweepWorld()
    const old = clock.now() - 2 * DAY
    const many = Array.from({ length: 1_000 }, (_, index) => ({ id: `a-${index}`, createdAt: old + index }))
    await source.put('archives', many)
    const reports = await Promise.all([sweep.pass(), another().pass(), another().pass()])
    const begun = reports.map(({ collections }) => collections[0]?.begun ?? 0)
    expect(begun.reduce((sum, each) => sum + each, 0)).toBe(1_000)
    expect(bus.peek('parsing')).toHaveLength(1_000)
    expect(new Set(bus.peek('parsing').map(({ id }) => id)).size).toBe(1_000)
  })
})

describe('poison', () => {
  it('a message that names thousands of documents, none of them there, is put aside once and holds nobody up', async () => {
    const { source, sweep, bus, clock, document } = await sweepWorld([
      { ...archives, failures: { queue: 'parsing.failed', ids: ({ ids }) => ids as string[] } },
    ])
    await source.put('archives', [{ id: 'a', attempts: 1, lastAttemptAt: clock.now(), createdAt: 0 }])
    const news = (id: string, ids: readonly string[]) => ({
      id,
      topic: 'parsing.failed',
      body: JSON.stringify({ event_id: id, data: { ids, error_message: 'down' } }),
    })
    const gone = Array.from({ length: 5_000 }, (_, index) => `gone-${index}`)
    await bus.send([news('poison', gone), news('good', ['a'])])
    expect((await sweep.pass()).collections[0]).toMatchObject({ heard: 1, parked: 1, errors: { unreadable: 1 } })
    expect(bus.peek('parsing.failed.parked')[0]?.body).toMatch(/there are no documents gone-.*\(5000\)/)
    expect((await document('a')).marks.failure?.event).toBe('good')
  })

  it('a document that no event can be made of ends with the reason, and its neighbours go on', async () => {
    const data = (document: Readonly<Record<string, unknown>>) => {
      if (document['bad'] === true) throw new TypeError('path is missing')
      return document
    }
    const { clock, source, sweep, document } = await sweepWorld([
      { ...archives, limit: 10, event: { ...archives.event, data } },
    ])
    const old = clock.now() - 2 * DAY
    const all = Array.from({ length: 310 }, (_, index) => ({
      id: `a-${index}`,
      createdAt: old + index,
      document: { bad: index < 300 },
    }))
    await source.put('archives', all)
    expect((await sweep.pass()).collections[0]).toMatchObject({ ended: 300, begun: 10 })
    expect((await document('a-0')).marks.why).toContain('path is missing')
  })
})

describe('order and limit', () => {
  it.each([
    ['oldest', ['a-0', 'a-1']],
    ['recent', ['a-4', 'a-3']],
  ] as const)('%s first', async (order, ids) => {
    const { clock, source, bus, sweep } = await sweepWorld([{ ...archives, order, limit: 2 }])
    const old = clock.now() - 2 * DAY
    await source.put(
      'archives',
      Array.from({ length: 5 }, (_, index) => ({ id: `a-${index}`, createdAt: old + index })),
    )
    await sweep.pass()
    expect(bus.peek('parsing').map(({ body }) => JSON.parse(body).data.archive_id)).toEqual(ids)
  })
})

describe('a dry run', () => {
  it('says what would be done and changes nothing', async () => {
    const { clock, source, bus, sweep, report, document } = await sweepWorld()
    await source.put('archives', [
      { id: 'a', createdAt: clock.now() - 2 * DAY },
      { id: 'b', attempts: 3, lastAttemptAt: clock.now() - 2 * DAY, createdAt: 0 },
    ])
    await report('a')
    expect((await sweep.pass({ dryRun: true })).collections[0]).toMatchObject({ begun: 1, ended: 1, stuck: 2 })
    expect(await document('a')).toMatchObject({ attempts: 0, rev: 0 })
    expect(await document('b')).toMatchObject({ status: 'pending', rev: 0 })
    expect(await bus.depth('parsing.failed')).toBe(1)
    expect(bus.peek('parsing')).toHaveLength(0)
  })
})

describe('the dead-letter collection', () => {
  it('gets what failed for good', async () => {
    const { clock, source, sweep } = await sweepWorld([{ ...archives, deadLetter: 'archives_dead' }])
    await source.put('archives', [{ id: 'a', attempts: 3, lastAttemptAt: clock.now() - 2 * DAY, createdAt: 0 }])
    expect((await sweep.pass()).collections[0]).toMatchObject({ ended: 1, archived: 1, failed: 0 })
    const shape = sweep.collections[0]!.shape
    expect(await source.get(shape, 'a')).toBeUndefined()
    expect(await source.get({ ...shape, name: 'archives_dead' }, 'a')).toMatchObject({ status: 'failed_max_retries' })
  })
})

describe('run', () => {
  it('passes in its interval, one after the other, until it is stopped', async () => {
    const { clock, sweep } = await sweepWorld()
    const stop = new AbortController()
    const began: number[] = []
    const start = clock.now()
    const running = sweep.run({
      interval: '15m',
      signal: stop.signal,
      onPass: ({ startedAt }) => {
        began.push((startedAt - start) / MINUTE)
        if (began.length === 4) stop.abort()
      },
    })
    await clock.runUntilSettled(running)
    expect(began).toEqual([0, 15, 30, 45])
    expect(clock.pending()).toBe(0)
    await expect(sweep.run({ interval: '10ms', signal: stop.signal })).rejects.toThrow('allowed is 1s and more')
  })

  it('a source that is away fails the pass and not the run', async () => {
    const { sweep, source, events } = await sweepWorld()
    const { now } = source
    source.now = () => Promise.reject(new RepriseError('source.unavailable', 'gone'))
    expect(await sweep.pass()).toMatchObject({ ok: false, collections: [{ errors: { 'source.unavailable': 1 } }] })
    expect(events.map(({ name }) => name)).toContain('sweep.trouble')
    source.now = now
    expect((await sweep.pass()).ok).toBe(true)
  })
})

describe('without a bus', () => {
  it('counts the attempt and makes the document pending for services that look for themselves, and says so', async () => {
    const { clock, source } = await sweepWorld()
    const sweep = createSweep({ source, collections: [archives], clock })
    expect(await sweep.prepare()).toEqual([expect.stringContaining('no failures are heard of (no bus)')])
    const lastAttemptAt = clock.now() - 2 * DAY
    await source.put('archives', [{ id: 'a', status: 'processing', attempts: 1, lastAttemptAt, createdAt: 0 }])
    await sweep.pass()
    const found = await source.get(sweep.collections[0]!.shape, 'a')
    expect(found).toMatchObject({ status: 'pending', attempts: 2, lastAttemptAt: clock.now() })
    expect(found?.marks.outbox).toBeUndefined()
  })
})

describe('run with a collection', () => {
  it('looks after one collection, if only that is asked for', async () => {
    const { sweep } = await sweepWorld([
      archives,
      { ...archives, name: 'others', failures: { queue: 'others.failed' } },
    ])
    const stop = new AbortController()
    const seen: string[] = []
    await sweep.run({
      interval: '1h',
      signal: stop.signal,
      collection: 'others',
      onPass: ({ collections }) => {
        seen.push(...collections.map(({ collection }) => collection))
        stop.abort()
      },
    })
    expect(seen).toEqual(['others'])
  })
})

describe('createSweep', () => {
  it('refuses a source or a bus that is none, with what is allowed', async () => {
    const { source } = await sweepWorld()
    const collections = [archives]
    for (const wrong of ['amqp://localhost', null, {}])
      expect(() => createSweep({ source, collections, bus: wrong as never })).toThrow(/^bus is .*rabbitmqBus/)
    for (const wrong of ['mongodb://localhost', undefined, {}])
      expect(() => createSweep({ source: wrong as never, collections })).toThrow(/^source is .*mongodbSource/)
  })
})
