/**
 * The laws of `classify`: total, pure, bounded, idempotent, and silent about secrets.
 * Verdicts on real errors are tested beside their catalogues.
 */
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CHARS_MAX, FACT_MAX, MESSAGE_MAX } from './bounds.ts'
import { codes } from './built-in.ts'
import { classify } from './classify.ts'
import { type Failure, KINDS, UNKNOWN_CODE } from './failure.ts'
import { gather } from './gather.ts'
import { failure } from './own.ts'
import { layerOf } from './rule.ts'

function expectSound(result: Failure): void {
  expect(KINDS).toContain(result.kind)
  expect(result.code).toMatch(/^[A-Za-z]/)
  expect(['infrastructure', 'workflow']).toContain(result.layer)
  expect(result.message.length).toBeLessThanOrEqual(MESSAGE_MAX)
  expect(result.message.length).toBeGreaterThan(0)
  expect(result.rule).toMatch(/^[\w-]+\/.+/)
  expect(result.advice.length).toBeGreaterThan(10)
  if (result.retryAfterMs !== undefined) expect(Number.isSafeInteger(result.retryAfterMs)).toBe(true)
  for (const value of Object.values(result.facts ?? {}))
    if (typeof value === 'string') expect(value.length).toBeLessThanOrEqual(FACT_MAX)
}

const throwing = (): never => {
  throw new Error('trap')
}
const hostileProxy = new Proxy(
  {},
  { get: throwing, ownKeys: throwing, has: throwing, getPrototypeOf: throwing, getOwnPropertyDescriptor: throwing },
)
const cyclic: { cause?: unknown; message: string; errors?: unknown[] } = { message: 'round' }
cyclic.cause = cyclic
cyclic.errors = [cyclic, { cause: cyclic }]
const deep = Array.from({ length: 10_000 }).reduce<object>((cause) => ({ cause }), { code: 'ECONNRESET' })

describe('classify is total', () => {
  const odd: [string, unknown][] = [
    ['undefined', undefined],
    ['null', null],
    ['an empty label', { errorLabels: [''] }],
    ['nothing but control characters', new Error('\u0001\u0002')],
    ['an empty string', ''],
    ['NaN', Number.NaN],
    ['a bigint', 10n],
    ['a symbol', Symbol('s')],
    ['a function', () => 1],
    ['a proxy that throws', hostileProxy],
    ['a throwing getter', Object.defineProperty(new Error('x'), 'code', { get: throwing, enumerable: true })],
    ['a throwing message', Object.defineProperty({}, 'message', { get: throwing, enumerable: true })],
    ['a cycle', cyclic],
    ['ten thousand causes', deep],
    ['a foreign realm error', runInNewContext('new TypeError("fetch failed")')],
    ['an object without prototype', Object.assign(Object.create(null), { status: 503 })],
    ['headers that throw', { status: 429, headers: new Proxy({}, { ownKeys: throwing }) }],
    [
      'a revoked proxy',
      (() => {
        const { proxy, revoke } = Proxy.revocable({}, {})
        revoke()
        return proxy
      })(),
    ],
    ['an error inside a proxy', { message: 'x', cause: hostileProxy }],
    ['an array', [new Error('read ECONNRESET')]],
    ['toString that throws', { toString: throwing, message: { toString: throwing } }],
    [
      'wrong types everywhere',
      { message: 1, code: {}, status: [], cause: 5, errors: 'no', headers: 3, response: true },
    ],
  ]
  for (const [title, thrown] of odd) it(`on ${title}`, () => expectSound(classify(thrown)))

  it('on anything (property)', () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withSet: true,
          withNullPrototype: true,
          withObjectString: true,
        }),
        (thrown) => expectSound(classify(thrown)),
      ),
    )
  })

  it('on error-like objects with any field values (property)', () => {
    const field = fc.constantFrom(
      'message',
      'name',
      'code',
      'status',
      'statusCode',
      'cause',
      'errors',
      'error',
      'response',
      'data',
      'details',
      'headers',
      'reason',
      'retryDelay',
      'retry_after',
      'errorLabels',
      'body',
      'errno',
    )
    fc.assert(fc.property(fc.dictionary(field, fc.anything()), (thrown) => expectSound(classify(thrown))))
  })

  it('sees through a foreign realm', () => {
    expect(classify(runInNewContext('new TypeError("fetch failed")')).code).toBe('network.fetch')
  })

  it('reads causes only so deep, and says unknown past that', () => {
    expect(classify(deep).code).toBe(UNKNOWN_CODE)
  })
})

describe('unknown', () => {
  it('is transient, with its own code and rule', () => {
    expect(classify(new Error('the moon is in the wrong house'))).toMatchObject({
      kind: 'transient',
      code: UNKNOWN_CODE,
      rule: 'unknown/none',
    })
  })
})

describe('classify is pure', () => {
  it('gives equal answers and leaves the value alone (property)', () => {
    fc.assert(
      fc.property(fc.object(), (thrown) => {
        const before = JSON.stringify(thrown)
        expect(classify(thrown)).toEqual(classify(thrown))
        expect(JSON.stringify(thrown)).toBe(before)
      }),
    )
  })

  it('keeps its evidence apart when a getter classifies inside', () => {
    const inner = { status: 429 }
    const outer = {
      message: 'x',
      get code() {
        return classify(inner).kind === 'rate_limited' ? 'ECONNRESET' : 'EPIPE'
      },
    }
    expect(classify(outer).code).toBe('network.reset')
  })
})

describe('classify is idempotent', () => {
  it('on its own output, and on a JSON copy of it (property)', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ maxLength: 3_000 }), fc.anything()), (thrown) => {
        const once = classify(thrown)
        expect(classify(once)).toEqual(once)
        expect(classify(JSON.parse(JSON.stringify(once)))).toEqual(once)
      }),
    )
  })

  it('on long and secret texts, where cutting and masking meet (property)', () => {
    const piece = fc.constantFrom(
      'password=',
      'sk-abcdefgh12345678',
      ' ',
      'Bearer ',
      'key: ',
      'abcdefghijkl',
      '://u:p@h',
      '…',
      '\n',
      'eyJhbGciOi.eyJzdWIi.c2ln',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 400 }), (pieces) => {
        const once = classify(pieces.join(''))
        expect(classify(once)).toEqual(once)
      }),
    )
  })

  it('on a thrown failure, wrapped or not, live or as JSON', () => {
    const thrown = failure({
      kind: 'semantic',
      code: 'invoice.total',
      message: 'total ≠ sum',
      facts: { path: 'lines.total' },
    })
    const record = thrown.failure
    expect(classify(thrown)).toEqual(record)
    expect(classify(new Error('outer', { cause: thrown }))).toEqual(record)
    expect(classify(JSON.parse(JSON.stringify(thrown)))).toEqual(record)
    expect(classify({ lastError: thrown })).toEqual(record)
  })

  it('but not on something that only resembles a Failure', () => {
    expect(classify({ kind: 'transient', message: 'status code 404' }).code).toBe('http.404')
  })
})

describe('classify is bounded', () => {
  const million = (unit: string): string => unit.repeat(Math.ceil(1_000_000 / unit.length))
  const hostile = [
    'a',
    ' ',
    '{',
    '{"a":',
    '[{',
    '"',
    '\\',
    'retry after ',
    'try again in ',
    'wait at at at ',
    '1m',
    '9'.repeat(7),
    'status 429 ',
    'password=',
    'sk-',
    'eyJa.',
    '://a:',
    'Bearer ',
    '-----BEGIN PRIVATE KEY-----',
    "{'a': '",
    'rate limit ',
    'no such ',
    'x@',
    '<html>',
    '…',
    '\u0000',
    '😀',
  ]
  for (const unit of hostile) {
    it(`gathers at most its bound from a megabyte of ${JSON.stringify(unit.slice(0, 30))}`, () => {
      const thrown = {
        message: million(unit),
        body: million(unit),
        error: { message: million(unit), details: [million(unit)] },
      }
      expect(gather(thrown, undefined).chars).toBeLessThanOrEqual(CHARS_MAX + 8_192)
      expectSound(classify(thrown))
    })
  }

  it('looks into a bounded number of objects', () => {
    let read = 0
    const node = (): object => ({
      get message() {
        read++
        return 'x'
      },
      get errors() {
        return Array.from({ length: 1_000 }, node)
      },
    })
    expectSound(classify(node()))
    expect(read).toBeLessThanOrEqual(100)
  })
})

describe('classify keeps secrets to itself', () => {
  const canaries = [
    'sk-proj-CANARY0123456789abcdef',
    'sk-ant-api03-CANARY0123456789',
    'AIzaSyCANARY0123456789abcdefghijklmnop',
    'ghp_CANARY0123456789abcdefghijklmn',
    'AKIACANARY0123456789',
    'xoxb-CANARY-0123456789-abc',
    'eyJhbGciOiJIUzI1NiJ9.eyJDQU5BUlkiOjF9.CANARYsignature0',
  ]
  const homes: ((secret: string) => unknown)[] = [
    (secret) => `Incorrect API key provided: ${secret}.`,
    (secret) => new Error(`request to https://x/?key=${secret}&a=1 failed with status code 401`),
    (secret) => ({ name: secret, message: 'x', code: secret }),
    (secret) => ({
      message: 'x',
      response: { status: 401, data: { error: { message: `Authorization: Bearer ${secret}`, code: secret } } },
    }),
    (secret) => ({ message: `{"error":{"message":"bad ${secret}","code":401}}` }),
    (secret) => ({ constraint: secret, code: '23505', severity: 'ERROR' }),
    (secret) => ({ status: 401, headers: { 'x-ratelimit-reset': secret, 'retry-after': secret } }),
    (secret) => ({ message: 'x', config: { headers: { authorization: secret } }, request: { body: secret } }),
  ]
  for (const secret of canaries) {
    it(`masks ${secret.slice(0, 6)}… wherever it stands`, () => {
      for (const home of homes) {
        const thrown = home(secret)
        expect(JSON.stringify(classify(thrown))).not.toContain('CANARY')
        expect(JSON.stringify(classify.explain(thrown))).not.toContain('CANARY')
      }
    })
  }
})

describe('the catalogue', () => {
  it('has unique, well-formed codes with an advice each', () => {
    const all = codes()
    expect(new Set(all.map((entry) => entry.code)).size).toBe(all.length)
    expect(all.length).toBeGreaterThan(400)
    for (const entry of all) {
      expect(entry.code).toMatch(/^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$/)
      expect(entry.advice).toMatch(/^[A-Z‘“].{10,}[.!]$/)
      expect(entry.storable).toBe(entry.kind !== 'conflict')
      if (entry.kind === 'transient' || entry.kind === 'rate_limited') expect(entry.layer).toBe(layerOf(entry.kind))
    }
  })
})
