import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SourceDocument } from '../ports/source.ts'
import { defineCollection } from './collection.ts'
import { allowedBy, type Health, healthAfter, PROBES, WELL } from './health.ts'
import { shippedCollections } from './shipped.ts'
import { archives, HOUR, MINUTE } from './sweep.fixtures.ts'
import { scheduleOf, verdictOn, verdictOnFailure } from './verdict.ts'

const NOW = 1_767_225_600_000

const documentOf = (given: Partial<SourceDocument> = {}): SourceDocument => ({
  id: 'a',
  key: 1,
  status: 'pending',
  attempts: 0,
  marks: { generation: 1, delivered: 0 },
  rev: 0,
  document: {},
  ...given,
})

describe('the schedule', () => {
  it('is the formula, with n the finished attempts', () => {
    const delays = shippedCollections.map((each) => scheduleOf(defineCollection(each)).map((ms) => ms / MINUTE))
    expect(delays).toEqual([
      [5, 10],
      [5, 10],
      [5, 10, 20, 40],
      [5, 10, 20, 40],
    ])
    expect(scheduleOf(defineCollection({ ...archives, maxAttempts: 7 })).map((ms) => ms / MINUTE)).toEqual([
      5, 10, 20, 40, 60, 60,
    ])
  })

  it('shows the delays that documents get, also of a policy that throws dice', () => {
    const collection = defineCollection({ ...archives, policy: 'daemon' })
    const failure = { at: NOW, kind: 'transient', code: 'x', message: 'x', advice: '', fingerprint: 'f' } as const
    for (const [index, ms] of scheduleOf(collection).entries()) {
      const document = documentOf({ attempts: index + 1, lastAttemptAt: NOW })
      expect(verdictOnFailure(document, collection, { failure, stretch: 1 })).toEqual({ act: 'retry', at: NOW + ms })
    }
  })

  it('gives a told delay its way, within bounds', () => {
    const collection = defineCollection(archives)
    const failure = {
      at: NOW,
      kind: 'rate_limited',
      code: 'http.429',
      message: 'x',
      advice: '',
      fingerprint: 'f',
    } as const
    const document = documentOf({ attempts: 1, lastAttemptAt: NOW })
    const told = { ...failure, retryAfterMs: 2 * HOUR }
    expect(verdictOnFailure(document, collection, { failure: told, stretch: 1 })).toEqual({
      act: 'retry',
      at: NOW + 2 * HOUR,
    })
  })
})

describe('verdictOn', () => {
  const collection = defineCollection(archives)
  const arbitrary = fc.record({
    status: fc.constantFrom('pending', 'processing', 'processed', 'failed_max_retries', 'strange'),
    attempts: fc.integer({ min: 0, max: 5 }),
    lastAttemptAt: fc.option(fc.integer({ min: NOW - 72 * HOUR, max: NOW + HOUR }), { nil: undefined }),
    createdAt: fc.option(fc.integer({ min: NOW - 72 * HOUR, max: NOW }), { nil: undefined }),
    dueAt: fc.option(fc.integer({ min: NOW - HOUR, max: NOW + HOUR }), { nil: undefined }),
    unsent: fc.boolean(),
  })

  it('touches only open documents, never before their time, and never begins past the bound', () => {
    fc.assert(
      fc.property(arbitrary, ({ status, attempts, lastAttemptAt, createdAt, dueAt, unsent }) => {
        const document = documentOf({
          status,
          attempts,
          ...(lastAttemptAt === undefined ? {} : { lastAttemptAt }),
          ...(createdAt === undefined ? {} : { createdAt }),
          marks: {
            generation: 1,
            delivered: 0,
            ...(dueAt === undefined ? {} : { dueAt }),
            ...(unsent ? { outbox: { id: 'o', topic: 't', body: '', until: NOW } } : {}),
          },
        })
        const verdict = verdictOn(document, collection, NOW)
        if (verdict.act === 'leave') return
        expect(['pending', 'processing']).toContain(status)
        expect(unsent).toBe(false)
        const since = lastAttemptAt ?? createdAt
        if (verdict.act === 'see') {
          expect(since ?? dueAt).toBeUndefined()
          return
        }
        expect(dueAt !== undefined ? dueAt <= NOW : since !== undefined && since <= NOW - 24 * HOUR).toBe(true)
        if (verdict.act === 'begin') expect(verdict.attempt).toBe(attempts + 1)
        expect(verdict.act === 'begin').toBe(attempts < 3)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('health', () => {
  it('needs evidence to fall sick, and a probe to be well again', () => {
    const nine = healthAfter(WELL, { processed: 0, troubled: 9 }, NOW)
    expect(nine).toBe(WELL)
    const sick = healthAfter(WELL, { processed: 4, troubled: 6 }, NOW)
    expect(sick).toMatchObject({ state: 'sick', stretch: 2 })
    expect(healthAfter(sick, { processed: 10, troubled: 0 }, NOW)).toBe(sick)
    const probed: Health = { ...sick, probedAt: NOW }
    expect(healthAfter(probed, { processed: 0, troubled: 0 }, NOW)).toBe(probed)
    expect(healthAfter(probed, { processed: 0, troubled: 3 }, NOW)).toMatchObject({ state: 'sick', stretch: 4 })
    expect(healthAfter(probed, { processed: 2, troubled: 1 }, NOW + 1)).toEqual({
      state: 'well',
      since: NOW + 1,
      stretch: 1,
    })
    expect([allowedBy(probed, 1_000), allowedBy(WELL, 1_000)]).toEqual([PROBES, 1_000])
  })
})
