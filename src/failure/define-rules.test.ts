/**
 * User rules: checked at the door, asked first, in order, on bounded input.
 */
import { describe, expect, it } from 'vitest'
import { classify } from './classify.ts'
import { defineRules, type RuleInput } from './define-rules.ts'

const rule = (when: RuleInput['when'], more: Partial<RuleInput> = {}): RuleInput => ({
  name: 'mine',
  kind: 'final',
  code: 'erp.no',
  when,
  ...more,
})
const kindBy = (when: RuleInput['when'], thrown: unknown): string =>
  classify(thrown, { rules: defineRules([rule(when)]) }).code

describe('user rules', () => {
  it('come before the built-in ones, the first match wins', () => {
    const rules = defineRules([
      rule({ status: 418 }, { name: 'other' }),
      rule(
        { status: [503, 504] },
        {
          name: 'first',
          kind: 'rate_limited',
          code: 'erp.closed',
          retryAfterMs: 60_000,
          advice: 'Come back at eight.',
        },
      ),
      rule({ status: 503 }, { name: 'second' }),
    ])
    expect(classify({ status: 503 }, { rules })).toMatchObject({
      kind: 'rate_limited',
      code: 'erp.closed',
      rule: 'user/first',
      retryAfterMs: 60_000,
      advice: 'Come back at eight.',
    })
    expect(classify({ status: 500 }, { rules }).rule).toBe('http/500')
  })

  it('match by status, code, number, name, part, pattern and test', () => {
    expect(kindBy({ code: 'ECONNRESET' }, { code: 'ECONNRESET' })).toBe('erp.no')
    expect(kindBy({ code: 11000 }, { name: 'MongoServerError', code: 11000 })).toBe('erp.no')
    expect(kindBy({ code: 404 }, { code: 404 })).toBe('erp.no')
    expect(kindBy({ name: 'ErpError' }, { name: 'ErpError' })).toBe('erp.no')
    expect(kindBy({ message: 'Closed For' }, 'shop closed for today')).toBe('erp.no')
    expect(kindBy({ message: /^shop \w+/ }, 'shop closed')).toBe('erp.no')
    expect(kindBy({ test: ({ texts }) => texts.some((text) => text.length > 3) }, 'shop')).toBe('erp.no')
  })

  it('need all their parts, and a test that throws does not match', () => {
    expect(kindBy({ status: 503, message: 'closed' }, { status: 503, message: 'busy' })).toBe('http.503')
    expect(
      kindBy(
        {
          test: () => {
            throw new Error('bug')
          },
        },
        { status: 503 },
      ),
    ).toBe('http.503')
  })

  it('see a bounded text, whatever was thrown', () => {
    let seen = 0
    const rules = defineRules([
      rule({
        test: ({ texts }) => {
          seen = Math.max(...texts.map((text) => text.length))
          return false
        },
      }),
    ])
    classify('x '.repeat(500_000), { rules })
    expect(seen).toBeLessThanOrEqual(4_096)
  })

  it('do not overrule a failure thrown in our own words', () => {
    const own = classify({ status: 503 })
    expect(classify(own, { rules: defineRules([rule({ test: () => true })]) })).toEqual(own)
  })

  it('must come from defineRules', () => {
    expect(() => classify('x', { rules: { rules: [] } as never })).toThrow(
      'options.rules must come from defineRules([...])',
    )
  })

  const refused: [string, unknown, string][] = [
    ['no list', {}, 'defineRules(): rules is a object, allowed: an array of rules'],
    [
      'no name',
      [rule({ status: 400 }, { name: '' })],
      'defineRules(): rules[0].name is "", allowed: letters, digits, "_", "." and "-", at most 64',
    ],
    [
      'same name',
      [rule({ status: 400 }), rule({ status: 401 })],
      'defineRules(): rules[1].name is "mine", allowed: a name that no rule before it has',
    ],
    [
      'bad kind',
      [rule({ status: 400 }, { kind: 'sad' as never })],
      'defineRules(): rules[0].kind is "sad", allowed: transient, rate_limited, syntax, semantic, refused, final, conflict, exhausted, interrupted',
    ],
    [
      'bad code',
      [rule({ status: 400 }, { code: 'a b' })],
      'defineRules(): rules[0].code is "a b", allowed: a name such as "erp.maintenance"',
    ],
    [
      'empty when',
      [rule({})],
      'defineRules(): rules[0].when is "empty", allowed: at least one of status, code, name, message, test',
    ],
    [
      'bad status',
      [rule({ status: 99 })],
      'defineRules(): rules[0].when.status is 99, allowed: an integer from 100 to 599',
    ],
    [
      'unknown field',
      [{ ...rule({ status: 400 }), when: { statuses: 400 } }],
      'defineRules(): rules[0].when.statuses is "set", allowed: only status, code, name, message, test',
    ],
    [
      'sticky pattern',
      [rule({ message: /x/g })],
      'defineRules(): rules[0].when.message is "g", allowed: a RegExp without the flags g and y, which remember their last match',
    ],
    [
      'bad delay',
      [rule({ status: 400 }, { retryAfterMs: Number.NaN })],
      'defineRules(): rules[0].retryAfterMs is NaN, allowed: a finite number of milliseconds, 0 or more',
    ],
  ]
  for (const [title, input, message] of refused) {
    it(`refuses ${title}`, () => expect(() => defineRules(input as RuleInput[])).toThrow(new TypeError(message)))
  }
})

describe('explain', () => {
  it('names the rule, its evidence, and why the others lost', () => {
    const explained = classify.explain({
      status: 429,
      code: 'insufficient_quota',
      message: 'Rate limit: check your plan and billing details',
    })
    expect(explained).toMatchObject({
      rule: 'openai/insufficient_quota',
      on: 'token "insufficient_quota"',
      failure: { kind: 'final' },
    })
    expect(explained.considered[0]).not.toHaveProperty('lost')
    expect(explained.considered.find((one) => one.code === 'http.429')?.lost).toBe(
      'less telling than token "insufficient_quota"',
    )
    expect(explained.evidence).toMatchObject({ statuses: ['429 (field)'], words: ['code=insufficient_quota'] })
  })

  it('tells when a delay overruled a bill, a speaker excluded a rule, and when nothing matched', () => {
    expect(classify.explain('Monthly spend limit reached, resets in 2h').on).toContain('overruled by a told delay')
    const google = classify.explain({ message: 'You exceeded your current quota. See https://ai.google.dev/' })
    expect(google.considered.find((one) => one.code === 'openai.insufficient_quota')?.lost).toBe(
      'does not hold: not from this speaker',
    )
    expect(classify.explain('the moon').on).toBe('nothing: no rule knows this error')
  })

  it('puts a user rule first and says so', () => {
    const explained = classify.explain({ status: 503 }, { rules: defineRules([rule({ status: 503 })]) })
    expect(explained).toMatchObject({ rule: 'user/mine', on: 'status 503' })
    expect(explained.considered[1]?.lost).toBe('a user rule comes first')
  })

  it('agrees with classify', () => {
    for (const thrown of [{ status: 500 }, 'x', undefined, new Error('read ECONNRESET')])
      expect(classify.explain(thrown).failure).toEqual(classify(thrown))
  })
})
