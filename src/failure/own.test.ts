/**
 * `failure(…)`: what user code throws in our vocabulary, checked at the door and understood everywhere.
 */
import { describe, expect, it } from 'vitest'
import { classify } from './classify.ts'
import { failure, failureOf } from './own.ts'

describe('failure()', () => {
  it('is an Error that carries a whole Failure', () => {
    const thrown = failure({ kind: 'rate_limited', code: 'erp.slow', message: 'wait', retryAfterMs: 5_000 })
    expect(thrown).toBeInstanceOf(Error)
    expect(thrown.name).toBe('FailureError')
    expect(thrown.failure).toEqual({
      kind: 'rate_limited',
      code: 'erp.slow',
      layer: 'infrastructure',
      message: 'wait',
      retryAfterMs: 5_000,
      advice: expect.any(String),
      rule: 'own/thrown',
    })
    expect(failureOf(thrown)).toEqual(thrown.failure)
  })

  it('defaults layer by kind, message by code, and keeps the cause', () => {
    const cause = new Error('why')
    const thrown = failure({ kind: 'final', code: 'erp.gone', cause })
    expect(thrown.failure).toMatchObject({ layer: 'workflow', message: 'erp.gone' })
    expect(thrown.cause).toBe(cause)
  })

  it('is understood by another copy of the package', () => {
    const foreign = Object.assign(new Error('x'), {
      [Symbol.for('reprise.failure')]: failure({ kind: 'refused', code: 'a.b' }).failure,
    })
    expect(classify(foreign)).toMatchObject({ kind: 'refused', code: 'a.b' })
  })

  it('masks and bounds what it is given', () => {
    const { failure: record } = failure({
      kind: 'final',
      code: 'a.b',
      message: `password=hunter22 ${'x'.repeat(5_000)}`,
      facts: { url: 'https://u:pass@h', n: 1 },
    })
    expect(record.message).not.toContain('hunter22')
    expect(record.message.length).toBeLessThanOrEqual(1_000)
    expect(record.facts).toEqual({ url: 'https://***@h', n: 1 })
  })

  const refused: [string, unknown, string][] = [
    [
      'kind',
      { kind: 'sad', code: 'a.b' },
      'failure(): kind is "sad", allowed: transient, rate_limited, syntax, semantic, refused, final, conflict, exhausted, interrupted',
    ],
    [
      'code',
      { kind: 'final', code: 'not a code' },
      'failure(): code is "not a code", allowed: a name such as "invoice.total", at most 120 characters',
    ],
    [
      'missing code',
      { kind: 'final' },
      'failure(): code is undefined, allowed: a name such as "invoice.total", at most 120 characters',
    ],
    ['message', { kind: 'final', code: 'a.b', message: 5 }, 'failure(): message is 5, allowed: a string'],
    [
      'layer',
      { kind: 'final', code: 'a.b', layer: 'top' },
      'failure(): layer is "top", allowed: infrastructure, workflow',
    ],
    [
      'retryAfterMs',
      { kind: 'final', code: 'a.b', retryAfterMs: -1 },
      'failure(): retryAfterMs is -1, allowed: a finite number of milliseconds, 0 or more',
    ],
    ['facts', { kind: 'final', code: 'a.b', facts: [] }, 'failure(): facts is an array, allowed: a flat object'],
    ['nothing', undefined, 'failure(): input is undefined, allowed: an object with kind and code'],
  ]
  for (const [title, input, message] of refused) {
    it(`refuses a wrong ${title}`, () =>
      expect(() => failure(input as Parameters<typeof failure>[0])).toThrow(new TypeError(message)))
  }
})
