import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { asciiForm, cut, oneLine, pad, stripControls, widthOf, wrap } from './text.ts'

const ESC = '\u001b'

const dangerous = fc.constantFrom(
  ESC,
  '[',
  ']',
  ';',
  'm',
  '\\',
  '\u0007',
  '\u009b',
  '\u009d',
  '\u009c',
  '\u202e',
  '\r',
  '\n',
)
const anything = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })

describe('oneLine', () => {
  it.each([
    ['a colour', `${ESC}[31mred${ESC}[0m`, 'red'],
    ['a cursor move', `up${ESC}[2Aand over`, 'upand over'],
    ['a window title with its bell', `${ESC}]0;owned\u0007text`, 'text'],
    ['a hyperlink with its string end', `${ESC}]8;;http://x${ESC}\\text${ESC}]8;;${ESC}\\`, 'text'],
    ['a title that never ends, whose text must not vanish', `${ESC}]0;still here`, '0;still here'],
    ['8-bit control sequences', 'a\u009b31mb\u0085c', 'abc'],
    ['a reordering mark', 'abc\u202egpj.exe', 'abcgpj.exe'],
    ['zero-width and tag characters', 'a\u200bb\u{e0041}c', 'abc'],
    ['line breaks and tabs', ' one\r\n\ttwo\u2028three ', 'one two three'],
    ['backspaces and bells', 'pass\u0008\u0008\u0007word', 'password'],
  ])('takes out %s', (_, dirty, clean) => {
    expect(oneLine(dirty)).toBe(clean)
  })

  it('leaves no control character of any text, and letters as they are', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.oneof(dangerous, anything), maxLength: 200 }), (text) => {
        expect(oneLine(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/)
      }),
    )
    expect(oneLine('Prüfung 漢字 ✓')).toBe('Prüfung 漢字 ✓')
  })

  it('takes time in proportion to the text, also for text made to be slow', () => {
    for (const unit of [`${ESC}]`, '\u009d', `${ESC}[`, `${ESC} `, '\r', ' ']) {
      const startedAt = performance.now()
      oneLine(unit.repeat(1_000_000 / unit.length))
      expect(performance.now() - startedAt, JSON.stringify(unit)).toBeLessThan(1_000)
    }
  })

  it('keeps line breaks where a block is wanted', () => {
    expect(stripControls(`one\r\n${ESC}[1mtwo\rthree`)).toBe('one\ntwo\nthree')
  })
})

describe('width', () => {
  it.each([
    ['plain', 5],
    ['漢字', 4],
    ['e\u0301', 1],
    [`${ESC}[38;2;1;2;3mred${ESC}[39m`, 3],
    ['✓ ≠ ‖', 5],
    ['🎉', 2],
  ])('of %j is %i', (text, width) => {
    expect(widthOf(text)).toBe(width)
  })

  it('pads left and right, and never cuts', () => {
    expect([pad('ab', 4), pad('ab', 4, 'right'), pad('abcde', 4)]).toEqual(['ab  ', '  ab', 'abcde'])
  })

  it('cuts with an ellipsis inside the width and closes a colour', () => {
    expect(cut('abcdef', 4)).toBe('abc…')
    expect(cut('漢字漢字', 5)).toBe('漢字…')
    expect(cut(`${ESC}[31mabcdef${ESC}[39m`, 4)).toBe(`${ESC}[31mabc…${ESC}[0m`)
    expect(cut('abcdef', 5, '...')).toBe('ab...')
  })
})

describe('wrap', () => {
  it('never exceeds the width and loses no word', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z漢]{1,30}$/u)), fc.integer({ min: 8, max: 40 }), (words, width) => {
        const lines = wrap(words.join(' '), width)
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width)
        expect(lines.join('').replaceAll(' ', '')).toBe(words.join(''))
      }),
    )
  })

  it('keeps paragraphs', () => {
    expect(wrap('one two three\nfour', 8)).toEqual(['one two', 'three', 'four'])
  })
})

it('has ASCII forms for the signs of our own sentences', () => {
  expect(asciiForm('60 s ×2 → “held” – net ≠ sum…')).toBe('60 s x2 -> "held" - net != sum...')
})
