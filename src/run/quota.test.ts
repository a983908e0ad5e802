import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { holdByQuotas, type Quota } from './quota.ts'

const NOW = 1_000_000
const quota = (given: Partial<Quota> = {}): Quota => ({
  resource: 'gpt',
  by: 'x-ratelimit-remaining-requests',
  unit: 'requests',
  remaining: 0,
  limit: 500,
  resetAt: NOW + 10_000,
  ...given,
})
const untilOf = (given: Partial<Quota>, out: number) => holdByQuotas([quota(given)], out, NOW)?.until

describe('what little is left means', () => {
  test('nothing, or no more than those use that are out: until the reset', () => {
    expect(holdByQuotas([quota()], 1, NOW)).toEqual({
      what: 'resource:gpt',
      until: NOW + 10_000,
      why: '0 of 500 requests are left',
      by: 'x-ratelimit-remaining-requests',
      probe: false,
    })
    expect(untilOf({ remaining: 15 }, 16)).toBe(NOW + 10_000)
  })

  test('hardly more: what is left is spread over the time to the reset', () => {
    expect(untilOf({ remaining: 24 }, 16)).toBe(NOW + 1_000)
    expect(untilOf({ remaining: 1 }, 1)).toBe(NOW + 5_000)
  })

  test('enough: nothing', () => {
    expect(untilOf({ remaining: 100 }, 16)).toBeUndefined()
    expect(untilOf({ remaining: 260 }, 400)).toBeUndefined()
  })

  test('of tokens: none is until the reset, hardly any is a pause', () => {
    const tokens = { unit: 'tokens', limit: 30_000 } as const
    expect(untilOf({ ...tokens, remaining: 0 }, 1)).toBe(NOW + 10_000)
    expect(untilOf({ ...tokens, remaining: 300 }, 1)).toBe(NOW + 1_000)
    expect(untilOf({ ...tokens, remaining: 3_000 }, 1)).toBeUndefined()
  })

  test('of several the longest; a reset of days is asked again after an hour', () => {
    const both = [quota({ remaining: 24 }), quota({ by: 'day', resetAt: NOW + 86_400_000 })]
    expect(holdByQuotas(both, 16, NOW)).toMatchObject({ until: NOW + 3_600_000, by: 'day' })
  })

  test('never past the reset, and the less is left the longer', () => {
    fc.assert(
      fc.property(fc.nat(600), fc.nat(600), fc.integer({ min: 1, max: 200 }), (a, b, out) => {
        const [less, more] = [Math.min(a, b), Math.max(a, b)].map((remaining) => untilOf({ remaining }, out) ?? NOW)
        expect(less ?? 0).toBeLessThanOrEqual(NOW + 10_000)
        expect(less ?? 0).toBeGreaterThanOrEqual(more ?? 0)
      }),
    )
  })
})
