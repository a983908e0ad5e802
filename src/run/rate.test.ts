import fc from 'fast-check'
import { expect, test } from 'vitest'
import { afterRate, rateLeft, rateOpensAt } from './rate.ts'

test('no stretch of the interval ever has more than its share, whoever asks when; and nobody waits for ever', () => {
  const asks = fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 80 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 10, max: 20_000 }), asks, (max, perMs, pauses) => {
      const rate = { max, perMs }
      const given: number[] = []
      let paidAt = 0
      let now = 1_000
      for (const pause of pauses) {
        now += pause
        const left = rateLeft(rate, paidAt, now)
        if (left === 0) now = rateOpensAt(rate, paidAt, now)
        const take = left === 0 ? rateLeft(rate, paidAt, now) : left
        expect(take).toBeGreaterThan(0)
        given.push(...Array<number>(take).fill(now))
        paidAt = afterRate(rate, paidAt, take, now)
      }
      for (const from of given) {
        expect(given.filter((at) => at >= from && at < from + perMs - 1).length).toBeLessThanOrEqual(max)
      }
    }),
  )
})

test('a rate is used up to its share', () => {
  const rate = { max: 60, perMs: 60_000 }
  let given = 0
  let paidAt = 0
  for (let now = 0; now < 600_000; now += 100) {
    const left = rateLeft(rate, paidAt, now)
    given += left
    paidAt = left > 0 ? afterRate(rate, paidAt, left, now) : paidAt
  }
  expect(given).toBeGreaterThan(540)
  expect(given).toBeLessThanOrEqual(606)
})
