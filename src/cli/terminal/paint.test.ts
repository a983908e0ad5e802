import { describe, expect, it } from 'vitest'
import { KINDS } from '../../failure/failure.ts'
import { colourDepth, createPaint } from './paint.ts'
import { KIND_SIGNS, STATE_SIGNS } from './palette.ts'

describe('colour depth', () => {
  it.each([
    ['a pipe', {}, false, 0],
    ['a plain terminal', { TERM: 'xterm' }, true, 4],
    ['256 colours', { TERM: 'xterm-256color' }, true, 8],
    ['24 bit', { TERM: 'xterm-256color', COLORTERM: 'truecolor' }, true, 24],
    ['NO_COLOR', { TERM: 'xterm-256color', NO_COLOR: '1' }, true, 0],
    ['an empty NO_COLOR, which asks for nothing', { TERM: 'xterm-256color', NO_COLOR: '' }, true, 8],
    ['TERM=dumb', { TERM: 'dumb' }, true, 0],
    ['FORCE_COLOR into a pipe', { FORCE_COLOR: '1' }, false, 4],
    ['FORCE_COLOR=3 into a pipe', { FORCE_COLOR: '3' }, false, 24],
    ['FORCE_COLOR=0 on a terminal', { FORCE_COLOR: '0', TERM: 'xterm' }, true, 0],
    ['FORCE_COLOR over NO_COLOR, as Node reads them', { FORCE_COLOR: '1', NO_COLOR: '1' }, true, 4],
  ] as const)('of %s', (_, env, isTTY, depth) => {
    expect(colourDepth(env, isTTY)).toBe(depth)
  })
})

describe('paint', () => {
  const { hue } = KIND_SIGNS.rate_limited

  it('writes the colour in the form the terminal understands', () => {
    expect(createPaint(24).hue(hue, 'x')).toBe('\u001b[38;2;242;201;79mx\u001b[39m')
    expect(createPaint(24, 'light').hue(hue, 'x')).toBe('\u001b[38;2;148;100;0mx\u001b[39m')
    expect(createPaint(8).hue(hue, 'x')).toBe('\u001b[38;5;221mx\u001b[39m')
    expect(createPaint(4).hue(hue, 'x')).toBe('\u001b[33mx\u001b[39m')
    expect(createPaint(0).hue(hue, 'x')).toBe('x')
  })

  it('writes nothing around nothing', () => {
    expect(createPaint(4).bold('') + createPaint(4).dim('') + createPaint(4).hue(hue, '')).toBe('')
  })
})

describe('palette', () => {
  it('tells every kind and every state by its shape alone, with glyphs and in ASCII', () => {
    expect(Object.keys(KIND_SIGNS)).toEqual([...KINDS])
    for (const signs of [KIND_SIGNS, STATE_SIGNS]) {
      const list = Object.values(signs)
      expect(new Set(list.map((sign) => sign.glyph)).size).toBe(list.length)
      expect(new Set(list.map((sign) => sign.ascii)).size).toBe(list.length)
      for (const sign of list) expect(sign.ascii).toMatch(/^[!-~]+$/)
    }
  })
})
