import { describe, expect, test } from 'vitest'
import { say } from '../policy/say.ts'
import type { Why } from '../policy/why.ts'
import { EVENT_NAMES, levelOf, type RepriseEvent, sentenceOf } from './event.ts'
import { EVENTS } from './event-catalogue.ts'
import type { Fields } from './event-entry.ts'
import { SAMPLES, unavailable } from './event-samples.fixtures.ts'

const samples = Object.values(SAMPLES) as readonly RepriseEvent[]

describe('the catalogue', () => {
  test.each(EVENT_NAMES)('%s is described in full', (name) => {
    const { when, fields } = EVENTS[name]
    expect(when).toMatch(/\.$/)
    for (const { says, type } of Object.values<Fields[string]>(fields)) {
      expect(says).toMatch(/\.$/)
      expect(type).not.toBe('')
    }
  })

  test.each(samples)('$name has exactly the fields that are described', (event) => {
    const fields: Fields = EVENTS[event.name].fields
    const { name: _name, at: _at, ...given } = event
    expect(Object.keys(given).filter((field) => !(field in fields))).toEqual([])
    const needed = Object.entries(fields).flatMap(([field, { optional }]) => (optional ? [] : [field]))
    expect(needed.filter((field) => !(field in given))).toEqual([])
  })

  test('an event of a run says which run, of which task and generation', () => {
    const strays = samples.filter(
      (event) => !/^(worker|store|runs|hold|sweep|incident)\.|^budget\.warned$/.test(event.name),
    )
    for (const event of strays) expect(event).toMatchObject({ run: 'r-42', task: 'summarize', key: 'invoice-7' })
    expect(strays.length).toBeGreaterThan(20)
  })

  test('only an end that failed is an error, and what a person owes an answer to', () => {
    expect(EVENT_NAMES.filter((name) => EVENTS[name].level === 'error')).toEqual([
      'run.failed',
      'sweep.ended',
      'incident.opened',
      'incident.overdue',
    ])
  })

  test('a handler’s own words keep the level that it chose', () => {
    expect(levelOf({ ...SAMPLES.log, level: 'error' })).toBe('error')
    expect(levelOf(SAMPLES['run.succeeded'])).toBe('info')
  })
})

describe('sentences', () => {
  test.each(samples)('$name reads as a sentence', (event) => {
    const sentence = sentenceOf(event)
    expect(sentence).not.toMatch(/undefined|NaN|\[object|null| {2}|\.\.|please|oops|!/i)
    if (event.name !== 'progress') expect(sentence).toMatch(/\.$/)
  })

  const at = SAMPLES['run.submitted'].at
  const told: Why = { code: 'wait.told', params: { until: at + 33_000, used: 1, max: 20, toldBy: 'Retry-After' } }
  const cases: Array<[RepriseEvent, string]> = [
    [
      { ...SAMPLES['run.submitted'], dueAt: at + 3_600_000 },
      'Run r-42 of summarize is submitted and waits until 15:00.',
    ],
    [{ ...SAMPLES['attempt.started'], attempt: 1, retry: 0 }, 'Attempt 1 begins on w-7f.'],
    [{ ...SAMPLES['attempt.started'], retry: 0 }, 'Attempt 3 begins on w-7f; no error so far.'],
    [{ ...SAMPLES['run.succeeded'], attempt: 1, retries: 0, sinceSubmitMs: 900 }, 'Succeeded, 900 ms after submit.'],
    [
      { ...SAMPLES['run.succeeded'], retries: 0, sinceSubmitMs: 900 },
      'Succeeded at attempt 3 without an error, 900 ms after submit.',
    ],
    [
      {
        ...SAMPLES['attempt.retried'],
        why: told,
        decision: { ...SAMPLES['attempt.retried'].decision, counted: false, entry: 'rateWaits' },
        failure: { ...unavailable, kind: 'rate_limited', code: 'http.429', message: 'Too many requests.' },
      },
      `Attempt 3 failed (http.429): Too many requests. ${say(told, { now: at })}`,
    ],
    [
      { ...SAMPLES['run.failed'], attempts: 1, attempt: 1 },
      `Failed after 1 attempt, at 13:59:00 (http.503). ${say(SAMPLES['run.failed'].why)}`,
    ],
    [
      { ...SAMPLES['attempts.spent'], ledger: 'rateWaits', used: 20, max: 20 },
      'No more told waits: 20 of 20 used, the last one http.503.',
    ],
    [
      { ...SAMPLES['run.interrupted'], counted: true },
      'Worker w-7f gave the run back (deploy); counted, because its interruptions are used up.',
    ],
    [
      { ...SAMPLES['run.lapsed'], counted: false },
      'No sign of life from w-7f; claimed by w-02. Not counted: it was not alone on its worker.',
    ],
    [
      { ...SAMPLES['call.ambiguous'], recourse: 'person' },
      'summary: sent at 13:59:00, and nobody knows whether it arrived. A person decides.',
    ],
    [{ ...SAMPLES['call.repeated'], delayMs: 0 }, 'summary: http.503; repeat 1 of 2 at once.'],
    [
      { ...SAMPLES['run.review'], queue: 'ledger', dueAt: at },
      `Waits for a person at ledger, due by 14:00. ${say(SAMPLES['run.review'].why)}`,
    ],
    [{ ...SAMPLES['worker.stopping'], running: 0 }, 'Worker w-7f stops; nothing is under way.'],
    [{ ...SAMPLES['worker.stopped'], released: 0 }, 'Worker w-7f stopped.'],
  ]
  test.each(cases)('variant %#: $name', (event, sentence) => {
    expect(sentenceOf(event)).toBe(sentence)
  })

  test('instants are read in the zone that is asked for', () => {
    expect(sentenceOf(SAMPLES['run.suspended'], 'Europe/Berlin')).toContain('until 15:30:00.')
  })

  test('a run that failed without a known first attempt tells when it was submitted', () => {
    const { firstAt: _firstAt, ...event } = SAMPLES['run.failed']
    expect(sentenceOf(event)).toContain('Failed after 8 attempts, submitted at 11:50:00, the last at 13:59:00')
  })
})
