/**
 * Told delays, in every form they come in.
 * The choice between several is tested here; where they stand in an error, beside the catalogues.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DELAY_MAX_MS } from './bounds.ts'
import {
  chooseDelay,
  delayInProse,
  parseDuration,
  parseHttpDate,
  parseIsoTime,
  parseReset,
  parseRetryAfter,
  protoDuration,
} from './delay.ts'
import { delaysInHeaders, gatherHeaders } from './headers.ts'

const NOW = 1_700_000_000_000

describe('durations', () => {
  const rows: [string, number | undefined][] = [
    ['26s', 26_000],
    ['1m30s', 90_000],
    ['6ms', 6],
    ['0.5s', 500],
    ['36.429760048s', 36_430],
    ['114h18m0s', 411_480_000],
    ['2 minutes', 120_000],
    ['1 hour 5 minutes', 3_900_000],
    ['1d', 86_400_000],
    ['250 milliseconds', 250],
    ['0s', 0],
    ['', undefined],
    ['soon', undefined],
    ['5 apples', undefined],
    ['99999999999d', undefined],
  ]
  for (const [text, ms] of rows) it(`${JSON.stringify(text)} is ${ms}`, () => expect(parseDuration(text)).toBe(ms))

  it('protobuf seconds and nanos', () => {
    expect(protoDuration('3', 500_000_000)).toBe(3_500)
    expect(protoDuration(7, undefined)).toBe(7_000)
    expect(protoDuration('x', 1)).toBeUndefined()
  })
})

describe('prose', () => {
  const rows: [string, number | undefined][] = [
    ['Please try again in 1m30s.', 90_000],
    ['Please retry in 36.4s', 36_400],
    ['Please retry after 33 seconds.', 33_000],
    ['try again in 114h18m0s', 411_480_000],
    ['Please try again in 20ms. Visit', 20],
    ['Your quota will reset after 5h', 18_000_000],
    ['Limit resets in 2 hours', 7_200_000],
    ['Please wait 30 seconds before trying again', 30_000],
    ['Please wait for 2 minutes and retry', 120_000],
    ['Retry-After: 17', 17_000],
    ['retry_after=1.5', 1_500],
    ['retry-after-ms: 250', 250],
    ['Too Many Requests: retry after 35', 35_000],
    ['Please retry in 5.', undefined],
    ['retry 3 times', undefined],
    ['timeout of 5000ms exceeded', undefined],
    ['try again later', undefined],
    ['it took 30 seconds', undefined],
    ['resets at 2023-11-14T22:13:50Z', 30_000],
    ['You will regain access on 2023-11-15 at 00:00 UTC.', 6_400_000],
  ]
  for (const [text, ms] of rows)
    it(`${JSON.stringify(text)} tells ${ms}`, () => expect(delayInProse(text, NOW)).toBe(ms))

  it('leaves an absolute time out without a now', () => {
    expect(delayInProse('resets at 2023-11-14T22:13:50Z', undefined)).toBeUndefined()
  })
})

describe('dates', () => {
  it('reads HTTP dates and ISO times as the platform does (property)', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date(4_000_000_000_000), noInvalidDate: true }), (date) => {
        expect(parseIsoTime(date.toISOString())).toBe(date.getTime())
        expect(parseHttpDate(date.toUTCString())).toBe(Math.floor(date.getTime() / 1_000) * 1_000)
      }),
    )
  })

  it('reads zones, and refuses nonsense', () => {
    expect(parseIsoTime('2026-01-01T02:00:00+02:00')).toBe(parseIsoTime('2026-01-01T00:00:00Z'))
    expect(parseIsoTime('2026-13-01T00:00:00Z')).toBeUndefined()
    expect(parseHttpDate('Wed, 21 Xyz 2015 07:28:00 GMT')).toBeUndefined()
  })
})

describe('headers', () => {
  const told = (headers: object, now?: number): object => {
    const map = new Map<string, string>()
    gatherHeaders(headers, map)
    return chooseDelay(delaysInHeaders(map, now), true) ?? {}
  }

  it('come as Headers, Map, object, pairs or a flat list', () => {
    for (const headers of [
      new Headers({ 'Retry-After': '3' }),
      new Map([['Retry-After', '3']]),
      { 'RETRY-AFTER': '3' },
      [['retry-after', '3']],
      ['Retry-After', '3'],
      { 'retry-after': ['3'] },
      { 'retry-after': 3 },
    ]) {
      expect(told(headers)).toMatchObject({ ms: 3_000 })
    }
  })

  it('resets as epoch seconds, epoch milliseconds, seconds and words', () => {
    for (const value of ['1700000060', '1700000060000', '60', '1m', '2023-11-14T22:14:20Z'])
      expect(parseReset(value, NOW)).toBe(60_000)
    expect(parseReset('1700000060', undefined)).toBeUndefined()
  })

  it('Retry-After in seconds, fractions and dates; the past is now', () => {
    expect(parseRetryAfter('120', undefined)).toBe(120_000)
    expect(parseRetryAfter('0.5', undefined)).toBe(500)
    expect(parseRetryAfter('Tue, 14 Nov 2023 22:13:50 GMT', NOW)).toBe(30_000)
    expect(parseRetryAfter('Tue, 14 Nov 2000 22:13:50 GMT', NOW)).toBe(0)
    expect(parseRetryAfter('soon', NOW)).toBeUndefined()
    expect(parseRetryAfter('-5', NOW)).toBeUndefined()
  })

  it('a limit with room left is not the one that said no', () => {
    expect(
      told({
        'x-ratelimit-remaining-requests': '5',
        'x-ratelimit-reset-requests': '9s',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '2s',
      }),
    ).toMatchObject({ ms: 2_000 })
  })

  it('are never read beyond those that matter', () => {
    const map = new Map<string, string>()
    gatherHeaders({ authorization: 'Bearer x', cookie: 'a', 'retry-after': '1' }, map)
    expect([...map.keys()]).toEqual(['retry-after'])
  })
})

describe('choosing', () => {
  it('believes the header before the body before a spent bucket before prose before a loose reset', () => {
    const all = [
      { ms: 5, source: 'reset', from: 'e' },
      { ms: 4, source: 'prose', from: 'd' },
      { ms: 3, source: 'bucket', from: 'c' },
      { ms: 2, source: 'body', from: 'b' },
      { ms: 1, source: 'header', from: 'a' },
    ] as const
    for (let from = 0; from < all.length; from++) expect(chooseDelay(all.slice(0, from + 1), true)).toBe(all[from])
  })

  it('ignores limits when nothing was limited, and takes the longest of equals', () => {
    expect(chooseDelay([{ ms: 5, source: 'bucket', from: 'x' }], false)).toBeUndefined()
    expect(
      chooseDelay(
        [
          { ms: 5, source: 'body', from: 'x' },
          { ms: 9, source: 'body', from: 'y' },
        ],
        false,
      )?.ms,
    ).toBe(9)
  })

  it('never tells nonsense (property)', () => {
    fc.assert(
      fc.property(fc.string(), fc.option(fc.integer(), { nil: undefined }), (text, now) => {
        for (const ms of [
          delayInProse(text, now),
          parseReset(text, now),
          parseRetryAfter(text, now),
          parseDuration(text),
        ]) {
          if (ms !== undefined) expect(ms >= 0 && ms <= DELAY_MAX_MS && Number.isInteger(ms)).toBe(true)
        }
      }),
    )
  })
})
