import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seededDice } from '../time/dice.ts'
import { backoffLabel, DICE_MAX, delayAfter, delayBounds, exponential, fixed, immediate } from './backoff.ts'
import type { Backoff } from './policy.ts'

const schedule = (backoff: Backoff, dice: number, times = 6) =>
  Array.from({ length: times }, (_, index) => delayAfter(backoff, index + 1, dice))

describe('delayAfter', () => {
  it('doubles up to the cap', () => {
    expect(schedule(exponential({ base: '5m', cap: '1h', jitter: 'none' }), 0)).toEqual(
      [5, 10, 20, 40, 60, 60].map((minutes) => minutes * 60_000),
    )
  })

  it('adds additive jitter on top of the cap', () => {
    const backoff = exponential({ base: '1s', cap: '32s', jitter: 'additive', jitterMs: '2s' })
    expect(schedule(backoff, 0, 7)).toEqual([1, 2, 4, 8, 16, 32, 32].map((seconds) => seconds * 1_000))
    expect(delayBounds(backoff, 50)).toEqual({ minMs: 32_000, maxMs: 34_000 })
  })

  it('draws from [0, delay] with full and from [delay/2, delay] with equal jitter', () => {
    expect(delayBounds(exponential({ base: 1_000, cap: 4_000 }), 2)).toEqual({ minMs: 0, maxMs: 2_000 })
    expect(delayBounds(exponential({ base: 1_001, cap: 4_000, jitter: 'equal' }), 1)).toEqual({
      minMs: 501,
      maxMs: 1_001,
    })
  })

  it('knows fixed and immediate', () => {
    expect(schedule(fixed('2s'), 0.9, 3)).toEqual([2_000, 2_000, 2_000])
    expect(schedule(immediate(), 0.9, 3)).toEqual([0, 0, 0])
    expect([fixed('2s'), immediate(), exponential({ base: '60s', cap: '1h' })].map(backoffLabel)).toEqual([
      '2 s fixed',
      'at once',
      '60 s ×2',
    ])
  })

  it('is a whole number within its bounds for any n up to a million and beyond, and for any dice', () => {
    const backoffs = fc.record({
      shape: fc.constantFrom('exponential' as const, 'fixed' as const, 'immediate' as const),
      baseMs: fc.nat(3_600_000),
      factor: fc.double({ min: 1, max: 100, noNaN: true }),
      capMs: fc.integer({ min: 3_600_000, max: 3_155_760_000_000 }),
      jitter: fc.constantFrom('none' as const, 'full' as const, 'equal' as const, 'additive' as const),
      jitterMs: fc.nat(10_000_000),
    })
    const counts = fc.oneof(fc.nat(20), fc.nat(1_000_000), fc.constant(1_000_000), fc.constant(Number.MAX_SAFE_INTEGER))
    const dice = fc.oneof(fc.double(), fc.constantFrom(0, 0.5, DICE_MAX, 1, -1, Number.NaN))
    fc.assert(
      fc.property(backoffs, counts, dice, (backoff, failed, draw) => {
        const delay = delayAfter(backoff, failed, draw)
        const { minMs, maxMs } = delayBounds(backoff, failed)
        expect(Number.isSafeInteger(delay)).toBe(true)
        expect(delay).toBeGreaterThanOrEqual(Math.max(0, minMs))
        expect(delay).toBeLessThanOrEqual(maxMs)
        expect(maxMs).toBeLessThanOrEqual(backoff.capMs + backoff.jitterMs)
        // The envelope never shrinks as failures add up.
        expect(delayBounds(backoff, failed + 1).maxMs).toBeGreaterThanOrEqual(maxMs)
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    ['full', 0, 1_000],
    ['equal', 500, 1_000],
    ['additive', 1_000, 1_400],
  ] as const)('has unbiased %s jitter', (jitter, low, high) => {
    const backoff: Backoff = { shape: 'fixed', baseMs: 1_000, factor: 1, capMs: 1_000, jitter, jitterMs: 400 }
    const dice = seededDice(20_261_115)
    const draws = 200_000
    const buckets = new Array<number>(10).fill(0)
    let sum = 0
    for (let draw = 0; draw < draws; draw++) {
      const delay = delayAfter(backoff, 1, dice())
      sum += delay
      const bucket = Math.min(9, Math.floor(((delay - low) / (high - low + 1)) * 10))
      buckets[bucket] = (buckets[bucket] ?? 0) + 1
    }
    // Five standard errors of the mean of a uniform draw.
    expect(Math.abs(sum / draws - (low + high) / 2)).toBeLessThan((5 * (high - low)) / Math.sqrt(12 * draws))
    for (const hits of buckets) expect(Math.abs(hits - draws / 10)).toBeLessThan(draws / 10 / 25)
  })
})

describe('constructors', () => {
  it.each([
    [() => exponential({ base: 'soon', cap: '1h' }), 'exponential.baseMs: "soon" is not a duration'],
    [
      () => exponential({ base: '1h', cap: '1m' }),
      'exponential.capMs: 60000 is not allowed; allowed are 3600000 (baseMs) to',
    ],
    [
      () => exponential({ base: '1s', cap: '1m', factor: 0.5 }),
      'exponential.factor: 0.5 is not allowed; allowed are numbers from 1 to 100',
    ],
    [
      () => exponential({ base: '1s', cap: '1m', jitter: 'some' as 'full' }),
      'exponential.jitter: "some" is not allowed; allowed are "none", "full", "equal", "additive"',
    ],
    [() => fixed(-1), 'fixed.baseMs: -1 is not a duration'],
  ])('refuses with an exact message: %s', (make, message) => {
    expect(make).toThrow(message)
  })
})
