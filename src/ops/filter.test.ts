import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isRepriseError } from '../failure/reprise-error.ts'
import { NOON } from './bench.fixtures.ts'
import { parseFilter, tokensOf, withoutToken } from './filter.ts'

const options = { now: NOON + 125_000 }

describe('the filter language', () => {
  test('says the same in one text and in words of a shell', () => {
    const text = 'task:invoice.*,embed state:waiting,review kind:semantic code:gate.* category:eu key:INV-1 "two words"'
    const words = [
      'task:invoice.*,embed',
      'state:waiting,review',
      'kind:semantic',
      'code:gate.*',
      'category:eu',
      'key:INV-1',
      'two words',
    ]
    const { tokens: _, ...filter } = parseFilter(text, options)
    expect(filter).toEqual({
      query: {
        ...{ tasks: ['embed'], states: ['waiting', 'review'], kinds: ['semantic'], code: 'gate.*' },
        ...{ categories: ['eu'], key: 'INV-1' },
      },
      taskPrefixes: ['invoice.'],
      texts: ['two words'],
    })
    const { tokens: __, ...fromShell } = parseFilter(words, options)
    expect(fromShell).toEqual(filter)
  })

  test('a whole query in one word of a shell is a query', () => {
    expect(parseFilter(['task:a state:failed'], options).query).toEqual({ tasks: ['a'], states: ['failed'] })
  })

  test('values and texts may be quoted, with anything inside', () => {
    expect(tokensOf('key:"a b:c" "x \\" y" plain').map(({ name, value }) => [name, value])).toEqual([
      ['key', 'a b:c'],
      [undefined, 'x " y'],
      [undefined, 'plain'],
    ])
  })

  test.each([
    ['since:2h', NOON + 125_000 - 7_200_000],
    ['since:12:00', NOON - 7_200_000],
    ['since:14:02:05', NOON + 125_000],
    ['since:15:00', NOON + 3_600_000 - 86_400_000],
    ['since:2026-11-15T14:00:00Z', NOON],
    ['since:2026-11-15', NOON - 50_400_000],
    [`since:${NOON}`, NOON],
  ])('%s', (text, at) => {
    expect(parseFilter(text, options).query.submittedAfter).toBe(at - 1)
  })

  test('clock times are those of the zone', () => {
    const { query } = parseFilter('since:12:00 before:13:00', { ...options, zone: 'Europe/Berlin' })
    expect(query).toEqual({ submittedAfter: NOON - 3 * 3_600_000 - 1, submittedBefore: NOON - 2 * 3_600_000 })
  })

  test.each([
    ['stat:waiting', '"stat:waiting" is not understood. Allowed: the filters task, state, kind'],
    ['state:wating', '"wating" in "state:wating" is not understood. Allowed: blocked, ready, waiting'],
    ['kind:soft', '"soft" in "kind:soft" is not understood. Allowed: transient'],
    ['since:yesterday', '"since:yesterday" is not understood. Allowed: a duration back from now'],
    ['since:', '"since:" is not understood. Allowed: since:<value>'],
    ['state:,', '"state:," is not understood. Allowed: 1 to 100 values'],
    ['code:a,b', '"code:a,b" is not understood. Allowed: one code'],
    ['task:a task:b', '"task:b" is not understood. Allowed: each filter once'],
    ['rung:pro', '"rung:pro" is not understood.'],
    ['x '.repeat(51), '51 tokens is not understood. Allowed: 50 at most'],
  ])('%s is refused by name', (text, message) => {
    expect(() => parseFilter(text, options)).toThrow(message)
  })

  test('is total: every text is a filter or a clear refusal', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        try {
          parseFilter(text, options)
        } catch (error) {
          expect(isRepriseError(error) && error.code).toBe('filter.invalid')
        }
      }),
    )
  })

  test('loses one token at a time', () => {
    const filter = parseFilter('task:a since:2h', options)
    const [, since] = filter.tokens
    expect(withoutToken(filter, since as never, options).query).toEqual({ tasks: ['a'] })
  })
})
