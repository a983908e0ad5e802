import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { briefDuration, DURATION_MAX_MS, formatDuration, parseDuration } from './duration.ts'

describe('parseDuration', () => {
  it.each([
    ['30s', 30_000],
    ['1m30s', 90_000],
    ['24h', 86_400_000],
    ['500ms', 500],
    ['7d', 604_800_000],
    ['1.5h', 5_400_000],
    ['1s250ms', 1_250],
    [0, 0],
    [1.4, 1],
    [DURATION_MAX_MS, DURATION_MAX_MS],
  ])('reads %j as %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each([
    '',
    '30',
    '30 s',
    's',
    '-1s',
    '1s1m',
    '1m1m',
    '1e3s',
    'soon',
    Number.NaN,
    -1,
    Infinity,
    null,
    undefined,
    {},
    '9'.repeat(5_000),
  ])('refuses %j', (value) => {
    expect(() => parseDuration(value, 'policy.x')).toThrow(/^policy\.x: .* is not a duration; allowed are milliseconds/)
  })

  it('names field, value and what is allowed', () => {
    expect(() => parseDuration('soon', 'timeoutMs')).toThrow(
      'timeoutMs: "soon" is not a duration; allowed are milliseconds from 0 to 3155760000000 or text such as "500ms", "30s", "1m30s", "24h", "7d"',
    )
  })

  it('is linear in hostile text', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        try {
          expect(parseDuration(text)).toBeGreaterThanOrEqual(0)
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      }),
    )
  })
})

describe('formatDuration', () => {
  it.each([
    [0, '0 ms'],
    [250, '250 ms'],
    [1_000, '1 s'],
    [1_500, '1.5 s'],
    [33_000, '33 s'],
    [59_499, '59 s'],
    [59_600, '1 m 00 s'],
    [184_000, '3 m 04 s'],
    [3_599_600, '1 h 00 m'],
    [14_700_000, '4 h 05 m'],
    [86_399_000, '1 d 00 h'],
    [183_600_000, '2 d 03 h'],
    [-1_000, '-1 s'],
    [Infinity, 'for ever'],
  ])('writes %d as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
  })

  it('keeps figures short in tables', () => {
    expect([500, 1_500, 60_000, 300_000, 3_600_000, 86_400_000, 172_800_000].map(briefDuration)).toEqual([
      '500 ms',
      '1.5 s',
      '60 s',
      '5 min',
      '1 h',
      '24 h',
      '2 d',
    ])
  })
})
