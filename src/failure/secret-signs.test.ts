/**
 * A sign may be wrong, but never missing: what `look` does not see, `maskSecrets` does not mask.
 * The shapes themselves are tested with `maskSecrets`.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KEY_SHAPES, look, SEEN } from './secret-signs.ts'

describe('a key', () => {
  for (const [heads, shape] of KEY_SHAPES) {
    const key = fc.stringMatching(new RegExp(`^${shape.replace(/(\d+),\d{3,}/g, '$1,40')}$`))

    it(`starts with ${heads} and is seen wherever it stands: ${shape.slice(0, 24)}`, () => {
      fc.assert(
        fc.property(key, fc.constantFrom('', ' ', '"', 'x/', 'é', '’', 'a-b.'), (secret, before) => {
          expect(heads.split(' ')).toContain(secret.slice(0, 2))
          expect(look(`${before}${secret}`) & SEEN.keyHead).not.toBe(0)
          expect(look(`${before}${secret} and more`) & SEEN.keyHead).not.toBe(0)
        }),
      )
    })
  }
})

describe('look', () => {
  it('sees the name of a credential through quotes and spaces, in any case', () => {
    for (const name of [
      'password',
      'PASSWD',
      'Pwd',
      'api_key',
      'accessKeyId',
      'key-id',
      'id_token',
      'Cookie',
      'key was',
    ])
      for (const gap of ['', ' ', '"', '\\"', "' ", '\u00a0', '\n'])
        expect([name, gap, look(`${name}${gap}=x`) & SEEN.pair]).toEqual([name, gap, SEEN.pair])
    expect(look('the error: x') & SEEN.pair).toBe(0)
    expect(look('password     : x') & SEEN.pair).toBe(0)
  })

  it('sees a scheme before any kind of space', () => {
    for (const scheme of ['bearer', 'Basic', 'DIGEST', 'Negotiate', 'x.Bearer'])
      for (const gap of [' ', '\t', '\u00a0']) expect(look(`${scheme}${gap}abcdef`) & SEEN.scheme).toBe(SEEN.scheme)
    expect(look('the request number is a state') & SEEN.scheme).toBe(0)
  })

  it('looks at texts longer than its buffer', () => {
    expect(look(`${'word '.repeat(2_000)}sk-abcdefgh1234`) & SEEN.keyHead).toBe(SEEN.keyHead)
  })
})
