import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { idRangeOf } from './id-range.ts'

describe('idRangeOf', () => {
  test('is there exactly when the ids are all of those between, each once, in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 }), (ids) => {
        const first = Math.min(...ids)
        const last = Math.max(...ids)
        const between = Array.from({ length: last - first + 1 }, (_, index) => first + index)
        const isWhole = JSON.stringify([...ids].sort((a, b) => a - b)) === JSON.stringify(between)
        expect(idRangeOf(ids)).toEqual(isWhole ? { first, last } : undefined)
      }),
    )
  })

  test('there is none of no ids', () => {
    expect(idRangeOf([])).toBeUndefined()
  })
})
