import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classify } from '../failure/classify.ts'
import { classifyAgain } from './recall.ts'

const words = fc.constantFrom(
  'connect ECONNREFUSED 127.0.0.1:5432',
  'HTTP 503',
  'rate limit, try again at 2026-01-01T00:00:00Z',
  'try again at 14:02',
  'retry after 7 seconds',
  'rate limit, resets at 1767225600',
  'Sun, 15 Nov 2026 13:00:00 GMT',
  'fetch failed',
  'nope',
)
const fields = fc.dictionary(
  fc.constantFrom('code', 'status', 'errno', 'name', 'cause', 'headers', 'type', 'resetAt'),
  fc.oneof(
    fc.constantFrom('ECONNRESET', '429', 'rate_limit_error', '2026-01-01T00:00:00Z'),
    fc.constantFrom(429, 503, 401),
    fc.constant({ 'retry-after': '3' }),
  ),
)
const errors = fc
  .tuple(fc.constantFrom(Error, TypeError, RangeError), words, fields)
  .map(([Class, message, own]) => Object.assign(new Class(message), own))
const thrown = fc.oneof(errors, fc.string(), fc.constantFrom(undefined, null, 5), fc.object())

describe('classifyAgain', () => {
  it('answers as classify does, at any time and however often', () => {
    fc.assert(
      fc.property(
        thrown,
        fc.array(fc.integer({ min: 1_700_000_000_000, max: 1_800_000_000_000 }), { minLength: 2, maxLength: 3 }),
        (one, times) => {
          for (const now of times) expect(classifyAgain(one, now)).toEqual(classify(one, { now }))
        },
      ),
      { numRuns: 500 },
    )
  })

  it('remembers plain errors, and reads no fields that bite', () => {
    const make = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', port: 5432 })
    expect(classifyAgain(make(), 1)).toBe(classifyAgain(make(), 2))
    const biting = Object.defineProperty(new Error('x'), 'code', {
      get() {
        throw new Error('bitten')
      },
    })
    expect(classifyAgain(biting, 1)).toEqual(classify(biting, { now: 1 }))
  })

  it('keeps apart what only looks alike', () => {
    const one = Object.assign(new Error('x'), { code: 'ECONNRESET' })
    const other = new Error('x\n4 code string 10 ECONNRESET')
    expect(classifyAgain(one, 1)).toEqual(classify(one, { now: 1 }))
    expect(classifyAgain(other, 1)).toEqual(classify(other, { now: 1 }))
    expect(classifyAgain(Object.assign(new Error('x'), { status: '503' }), 1)).not.toBe(
      classifyAgain(Object.assign(new Error('x'), { status: 503 }), 1),
    )
  })

  it('forgets rather than grows', () => {
    for (let index = 0; index < 2_000; index++) classifyAgain(new Error(`number ${index}`), 1)
    expect(classifyAgain(new Error('number 0'), 1).message).toBe('number 0')
  })
})
