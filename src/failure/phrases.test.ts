/**
 * Phrases are found as words, in order of appearance, and never by their hash alone.
 */
import { describe, expect, it } from 'vitest'
import { phraseBook, scan } from './phrases.ts'

function found(text: string, ...phrases: string[]): string[] {
  const book = phraseBook(phrases.map((phrase) => [phrase, phrase, /[A-Z]/.test(phrase)] as const))
  const all: string[] = []
  scan(
    text,
    book,
    (phrase) => all.push(phrase),
    () => {},
  )
  return all
}

describe('scan', () => {
  it('finds words in any case, and capital ones as written', () => {
    expect(found('Rate LIMIT hit, ESOMETHING', 'rate limit', 'ESOMETHING')).toEqual(['rate limit', 'ESOMETHING'])
    expect(found('esomething', 'ESOMETHING')).toEqual([])
    expect(found('the rates limited', 'rate limit', 'rate', 'limit')).toEqual([])
  })

  it('finds phrases that begin alike, shorter ones first, wildcards last', () => {
    expect(found('no such file here', 'no such file', 'no .. here', 'no', 'no such', 'such file')).toEqual([
      'no',
      'no .. here',
      'no such',
      'no such file',
      'such file',
    ])
  })

  it('needs the whole phrase, up to the end of the text', () => {
    expect(found('no such', 'no such file')).toEqual([])
    expect(found('a no such file', 'no such file')).toEqual(['no such file'])
  })

  it('spans six words at a gap and one at a star', () => {
    expect(found('a 1 2 3 4 5 6 b', 'a .. b', 'a * b')).toEqual(['a .. b'])
    expect(found('a 1 2 3 4 5 6 7 b', 'a .. b')).toEqual([])
    expect(found('a 1 b', 'a * b')).toEqual(['a * b'])
  })

  it('reads a typographic apostrophe as a plain one', () => {
    expect(found('It couldn’t — ‘really’', "couldn't")).toEqual(["couldn't"])
  })

  // Each pair has the same 32-bit FNV-1a hash.
  it.each([
    ['costarring', 'liquid'],
    ['declinate', 'macallums'],
    ['altarage', 'zinke'],
  ])('tells %s from %s', (one, other) => {
    expect(found(one, other)).toEqual([])
    expect(found(`${one} error`, `${other} error`, `${other} .. error`)).toEqual([])
    expect(found(`${one} error`, `${other} error`, `${one} error`, one)).toEqual([one, `${one} error`])
  })

  it('refuses a phrase that is not plain words, or starts with a wildcard', () => {
    for (const phrase of ['', ' a', 'a  b', 'a-b', '.. a', '* a'])
      expect(() => found('', phrase)).toThrow('plain words')
  })
})
