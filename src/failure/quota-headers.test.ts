import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { quotasIn } from './quota-headers.ts'

const NOW = Date.parse('2026-11-15T12:00:00Z')

describe('what an answer says about how much is left', () => {
  test.each([
    [
      'OpenAI',
      {
        'x-ratelimit-limit-requests': '500',
        'x-ratelimit-remaining-requests': '3',
        'x-ratelimit-reset-requests': '1m30s',
        'x-ratelimit-limit-tokens': '30000',
        'x-ratelimit-remaining-tokens': '29000',
        'x-ratelimit-reset-tokens': '2s',
      },
      [
        { by: 'x-ratelimit-remaining-requests', unit: 'requests', remaining: 3, limit: 500, resetMs: 90_000 },
        { by: 'x-ratelimit-remaining-tokens', unit: 'tokens', remaining: 29_000, limit: 30_000, resetMs: 2_000 },
      ],
    ],
    [
      'Anthropic',
      {
        'anthropic-ratelimit-requests-limit': '50',
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': '2026-11-15T12:00:40Z',
      },
      [{ by: 'anthropic-ratelimit-requests-remaining', unit: 'requests', remaining: 0, limit: 50, resetMs: 40_000 }],
    ],
    [
      'GitHub',
      { 'X-RateLimit-Remaining': '12', 'X-RateLimit-Reset': String(NOW / 1_000 + 600), 'X-RateLimit-Limit': '5000' },
      [{ by: 'x-ratelimit-remaining', unit: 'requests', remaining: 12, limit: 5_000, resetMs: 600_000 }],
    ],
    [
      'the draft of the IETF',
      { RateLimit: 'limit=100, remaining=5, reset=30' },
      [{ by: 'ratelimit', unit: 'requests', remaining: 5, limit: 100, resetMs: 30_000 }],
    ],
    [
      'its later form',
      { RateLimit: '"default";r=50;t=30' },
      [{ by: 'ratelimit', unit: 'requests', remaining: 50, resetMs: 30_000 }],
    ],
    ['no reset', { 'x-ratelimit-remaining': '3' }, []],
    ['no number', { 'x-ratelimit-remaining': 'many', 'x-ratelimit-reset': '3' }, []],
  ])('%s', (_name, headers, expected) => {
    expect(quotasIn(headers, NOW)).toEqual(expected)
    expect(quotasIn(new Headers(headers as Record<string, string>), NOW)).toEqual(expected)
    expect(quotasIn(new Response('', { headers: headers as Record<string, string> }), NOW)).toEqual(expected)
    expect(quotasIn({ response: { headers } }, NOW)).toEqual(expected)
  })

  test('the answer’s own date is the time that its reset counts from', () => {
    const late = { date: new Date(NOW + 60_000).toUTCString() }
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW / 1_000 + 90) }
    expect(quotasIn({ ...headers, ...late }, NOW)).toMatchObject([{ resetMs: 30_000 }])
  })

  test('anything at all tells a number of sane quotas and never throws', () => {
    const names = fc.constantFrom('x-ratelimit-remaining', 'x-ratelimit-reset', 'ratelimit', 'date', 'x')
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.dictionary(names, fc.string())), (source) => {
        for (const { remaining, resetMs } of quotasIn(source, NOW)) {
          expect(Number.isSafeInteger(remaining) && remaining >= 0).toBe(true)
          expect(Number.isFinite(resetMs) && resetMs >= 0).toBe(true)
        }
      }),
    )
  })
})
