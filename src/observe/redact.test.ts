import fc from 'fast-check'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import type { RepriseEvent } from '../run/event.ts'
import { SAMPLES } from '../run/event-samples.fixtures.ts'
import { createEmitter } from './emitter.ts'
import { logEvents } from './log-events.ts'
import { redactor } from './redact.ts'

describe('redact', () => {
  test('masks the values of telling variables, wherever they turn up', () => {
    const redact = redactor({ env: { GEMINI_API_KEY: 'canary-one', APP_PASSWORD: 'canary two', HOME: '/srv/app' } })
    expect(redact('key canary-one, password canary two or canary%20two, home /srv/app')).toBe(
      'key ***, password *** or ***, home /srv/app',
    )
  })

  test('of a URL only the password is secret', () => {
    const redact = redactor({ env: { DATABASE_URL: 'postgres://app:p%40ss-canary@db.local/app' } })
    expect(redact('db.local said no to p@ss-canary and p%40ss-canary')).toBe('db.local said no to *** and ***')
    expect(redact(new URL('postgres://app:other-canary@db.local/app'))).toBe('postgres://***@db.local/app')
  })

  test('knows more as it goes, and masks the longer of two whole', () => {
    const redact = redactor({ values: ['canary'] })
    redact.know('canary-long')
    expect(redact('canary-long, canary')).toBe('***, ***')
  })

  test('short values are words and stay', () => {
    expect(redactor({ env: { DB_PASSWORD: 'admin' } })('ask the admin')).toBe('ask the admin')
  })

  const names = [
    'authorization',
    'Proxy-Authorization',
    'cookie',
    'set-cookie',
    'password',
    'dbPassword',
    'client_secret',
    'x-api-key',
    'apiKey',
    'accessToken',
    'private_key',
    'x-goog-signature',
  ]
  test.each(names)('masks the field %s', (name) => {
    expect(redactor()({ headers: { [name]: ['canary'] } })).toEqual({ headers: { [name]: '***' } })
  })

  test.each(['key', 'tokens', 'inputTokens', 'keyboard', 'task', 'author'])('leaves the field %s', (name) => {
    expect(redactor()({ [name]: 'plain' })).toEqual({ [name]: 'plain' })
  })

  test('a lease’s token is no secret', () => {
    expect(redactor()({ token: 7 })).toEqual({ token: 7 })
    expect(redactor()({ token: 'canary' })).toEqual({ token: '***' })
  })

  test('tells errors, headers, maps and bytes in plain data', () => {
    const cause = Object.assign(new TypeError('no'), { code: 'E1', headers: new Headers({ Cookie: 'canary' }) })
    const plain = redactor()({
      error: new Error('outer', { cause }),
      map: new Map([['a', 1]]),
      set: new Set(['x']),
      bytes: new Uint8Array(3),
      when: new Date(0),
      never: new Date(Number.NaN),
      big: 10n,
      run: () => 1,
    })
    expect(plain).toEqual({
      error: {
        name: 'Error',
        message: 'outer',
        cause: { name: 'TypeError', message: 'no', code: 'E1', headers: { cookie: '***' } },
      },
      map: { a: 1 },
      set: { 0: 'x' },
      bytes: { bytes: 3 },
      when: '1970-01-01T00:00:00.000Z',
      never: 'no known time',
      big: '10',
      run: '[function]',
    })
  })

  test('is bounded in depth, breadth and length, and survives circles', () => {
    const circle: Record<string, unknown> = { many: Array.from({ length: 200 }, (_, index) => index) }
    circle['self'] = circle
    let deep: unknown = 'end'
    for (let level = 0; level < 50; level += 1) deep = { deep }
    const plain = redactor()({ ...circle, text: 'x '.repeat(10_000), deep }) as unknown as Record<string, unknown>
    expect((plain['many'] as unknown[]).at(-1)).toBe('[100 more]')
    expect(plain['self']).toMatchObject({ self: '[circular]' })
    expect((plain['text'] as string).length).toBeLessThan(8_200)
    expect(JSON.stringify(plain['deep'])).toContain('[deeper]')
  })

  test('a graph that unfolds into billions is cut', () => {
    let node: unknown = 'leaf'
    for (let level = 0; level < 5; level += 1) node = Array.from({ length: 100 }, () => node)
    const text = JSON.stringify(redactor()({ node }))
    expect(text).toContain('[more]')
    expect(text.length).toBeLessThan(100_000)
  })

  test('a cut leaves no half of a secret', () => {
    const redact = redactor({ env: {}, values: ['canary-0123456789'] })
    for (const shift of [0, 3, 8, 12]) {
      const text = `${'x '.repeat(4_090)}${'y'.repeat(shift)}canary-0123456789 ${'canary-0123456789 '.repeat(2_000)}`
      expect(redact(text)).not.toContain('canary')
      expect(redact(text).length).toBeLessThanOrEqual(8_193)
    }
  })

  test('what is learnt later holds for texts that were seen before', () => {
    const redact = redactor({ env: {} })
    expect(redact('canary-late')).toBe('canary-late')
    redact.know('canary-late')
    expect(redact('canary-late')).toBe('***')
  })

  test('what cannot be read is not told, and nothing is polluted', () => {
    const hostile = {
      get inside(): string {
        throw new Error('canary')
      },
    }
    expect(redactor()(hostile)).toBe('[unreadable]')
    const plain = redactor()(JSON.parse('{"__proto__":{"polluted":true}}')) as object
    expect(Object.hasOwn(plain, '__proto__')).toBe(true)
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  test('changes nothing in place, and a clean value comes out equal', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        const before = JSON.stringify(value)
        const once = redactor()(value)
        expect(JSON.stringify(value)).toBe(before)
        expect(redactor()(once)).toEqual(once)
      }),
    )
  })
})

describe('no canary leaves', () => {
  const env = {
    REPRISE_TOKEN: 'canary-token-4d1f',
    DATABASE_URL: 'postgres://app:canary-db-77aa@db.local:5432/app',
    PROVIDER_SECRET: 'canary-env-0b9e',
  }
  const canaries = [
    'canary-token-4d1f',
    'canary-db-77aa',
    'canary-env-0b9e',
    'canary-header-1c2d',
    'canary-shape-000000000000',
  ]
  const leak = `no: ${env.REPRISE_TOKEN} ${env.DATABASE_URL} ${env.PROVIDER_SECRET} Authorization: Bearer canary-header-1c2d sk-canary-shape-000000000000`
  const provider = Object.assign(new Error(leak), {
    config: { headers: { Authorization: 'Bearer canary-header-1c2d', Cookie: 'sid=canary-header-1c2d' } },
    cause: new Error(leak),
  })

  /** Every text of the event says it, and so do the handler's data. */
  const spoil = (value: unknown): unknown => {
    if (typeof value === 'string') return `${value} ${leak}`
    if (Array.isArray(value)) return value.map(spoil)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, spoil(member)]))
  }
  const events = Object.values(SAMPLES).map((event) => {
    const { name, ...rest } = event
    const data = name === 'log' ? { data: { provider, env } } : {}
    const spoiled = { ...(spoil(rest) as object), ...data }
    const level = name === 'log' ? { level: 'error' } : {}
    const ledger = name === 'attempts.spent' ? { ledger: 'errors' } : {}
    return { ...spoiled, ...level, ...ledger, name } as RepriseEvent
  })

  test('by events or log lines', () => {
    const out: string[] = []
    const emitter = createEmitter({ redact: redactor({ env }), report: (message) => out.push(message) })
    emitter.on('*', (event) => void out.push(JSON.stringify(event)))
    emitter.on('*', logEvents(pino({ level: 'debug' }, { write: (line: string) => void out.push(line) })))
    emitter.on('*', () => {
      throw provider
    })
    for (const event of events) emitter.emit(event)
    expect(out).toHaveLength(events.length * 2 + 1)
    const all = out.join('\n')
    expect(canaries.filter((canary) => all.includes(canary))).toEqual([])
    expect(all).toContain('***')
  })
})
