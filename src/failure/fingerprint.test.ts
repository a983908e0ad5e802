/**
 * Fingerprints group what is the same and part what is not.
 */
import { describe, expect, it } from 'vitest'
import { classify } from './classify.ts'
import { fingerprint } from './fingerprint.ts'

const of = (thrown: unknown): string => fingerprint(classify(thrown))

describe('fingerprint', () => {
  const same: [string, unknown, unknown][] = [
    [
      'numbers',
      'Rate limit reached: Limit 100, Used 99. Please try again in 2s',
      'Rate limit reached: Limit 500, Used 12. Please try again in 17s',
    ],
    [
      'ids',
      { status: 500, message: 'failed for request req_abc123def' },
      { status: 500, message: 'failed for request req_zzz999yyy' },
    ],
    [
      'quoted values',
      { code: '23505', message: 'duplicate key value "a" violates' },
      { code: '23505', message: 'duplicate key value "b" violates' },
    ],
    ['addresses', 'connect ECONNREFUSED 10.0.0.1:5432', 'connect ECONNREFUSED 10.0.0.2:5433'],
    [
      'urls',
      'request to https://a.example/x failed, reason: socket hang up',
      'request to https://b.example/y failed, reason: socket hang up',
    ],
    [
      'uuids',
      'run 5f1c2c1e-1b1b-4c1c-8d1d-111111111111 timed out',
      'run aa1c2c1e-2b2b-4c1c-8d1d-222222222222 timed out',
    ],
  ]
  for (const [title, a, b] of same) it(`is equal when only ${title} differ`, () => expect(of(a)).toBe(of(b)))

  it('differs by code, by sentence and by chosen facts', () => {
    expect(of({ status: 500 })).not.toBe(of({ status: 502 }))
    expect(of({ status: 400, message: 'bad name' })).not.toBe(of({ status: 400, message: 'bad address' }))
    expect(of({ code: '23505', severity: 'ERROR', constraint: 'a' })).not.toBe(
      of({ code: '23505', severity: 'ERROR', constraint: 'b' }),
    )
  })

  it('is short, readable and stable across versions', () => {
    expect(of({ status: 503, message: 'busy' })).toMatch(/^http\.503-[0-9a-z]{11}$/)
    expect(fingerprint({ kind: 'final', code: 'a.b', layer: 'workflow', message: 'm', advice: '', rule: '' })).toBe(
      'a.b-0na8hwramiy',
    )
  })
})
