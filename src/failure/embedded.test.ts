/**
 * JSON in strings: strict, cut, escaped twice, in Python's spelling, and not JSON at all.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findEmbedded } from './embedded.ts'

describe('findEmbedded', () => {
  const rows: [string, string, unknown][] = [
    ['strict', '{"a":1}', { a: 1 }],
    ['after a prefix', '429 {"a":{"b":"c"}} tail', { a: { b: 'c' } }],
    ['an array', 'errors: [{"a":1}]', [{ a: 1 }]],
    ['cut off', 'x {"a":{"b":"c","d":"e', { a: { b: 'c', d: 'e' } }],
    ['raw newlines in strings', '{"a":"one\ntwo","b":2}', { a: 'one\ntwo', b: 2 }],
    ['Python', "{'a': 'b', 'c': None, 'd': True, 'e': 5}", { a: 'b', d: true, e: 5 }],
    ['escaped once more', '{\\"a\\":{\\"b\\":429}}', { a: { b: 429 } }],
    ['unescaped inner quotes', '{"a":"say "no" to","b":1}', { a: 'say "no" to', b: 1 }],
    ['trailing comma', '{"a":1,}', { a: 1 }],
    ['unicode escapes', '{"a":"\\u0041', { a: 'A' }],
  ]
  for (const [title, text, value] of rows) {
    it(`reads ${title}`, () => expect(JSON.parse(JSON.stringify(findEmbedded(text)?.value))).toEqual(value))
  }

  for (const text of ['no json', 'Unexpected token \'{\', "{" is', 'a {b} c', '{}', '[]', '{ 5 }']) {
    it(`finds nothing in ${JSON.stringify(text)}`, () => expect(findEmbedded(text)).toBeUndefined())
  }

  it('reads what JSON.stringify wrote, wherever it stands (property)', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.stringMatching(/^[a-z]{1,8}$/),
          fc.oneof(fc.string({ maxLength: 20 }), fc.integer(), fc.boolean()),
          { minKeys: 1, maxKeys: 5 },
        ),
        (value) => {
          const text = `got ${JSON.stringify(value)}`
          expect({ ...findEmbedded(text)?.value }).toEqual({ ...value })
        },
      ),
    )
  })

  it('never throws and never loops (property)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('{', '}', '[', ']', '"', "'", ':', ',', '\\', 'a', '{"a', ' ', '\n', '1'), {
          maxLength: 200,
        }),
        (pieces) => {
          findEmbedded(pieces.join(''))
        },
      ),
    )
  })
})
