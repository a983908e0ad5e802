import { describe, expect, it } from 'vitest'
import { fakeConsole } from '../fake-console.fixtures.ts'
import { createTerminal, type Wishes } from './terminal.ts'

const NO_WISHES: Wishes = { json: false, plain: false, quiet: false, colour: true, debug: false }
const terminalOf = (env: Record<string, string>, wishes: Partial<Wishes> = {}, columns?: number) =>
  createTerminal(fakeConsole({ isTTY: true, env, ...(columns === undefined ? {} : { columns }) }), {
    ...NO_WISHES,
    ...wishes,
  })

describe('terminal', () => {
  it.each([
    ['an unset locale', {}, false],
    ['UTF-8', { LANG: 'en_US.UTF-8' }, false],
    ['a language without a character set', { LANG: 'de_DE' }, false],
    ['C with UTF-8', { LANG: 'C.UTF-8' }, false],
    ['C', { LANG: 'C' }, true],
    ['another character set', { LC_ALL: 'de_DE.ISO-8859-1', LANG: 'de_DE.UTF-8' }, true],
    ['a dumb terminal', { TERM: 'dumb' }, true],
  ])('shows ASCII signs where glyphs cannot be shown: %s', (_, env, ascii) => {
    expect(terminalOf(env).out.ascii).toBe(ascii)
  })

  it.each([
    ['a terminal', {}, {}, true],
    ['a build server', { CI: 'true' }, {}, false],
    ['CI=false', { CI: 'false' }, {}, true],
    ['--plain', {}, { plain: true }, false],
    ['TERM=dumb', { TERM: 'dumb' }, {}, false],
  ])('repaints on %s or not', (_, env, wishes, cursor) => {
    expect(terminalOf(env, wishes).out.cursor).toBe(cursor)
  })

  it.each([
    ['--no-color', { colour: false }],
    ['--plain', { plain: true }],
  ])('%s takes the colours away, also forced ones', (_, wishes) => {
    expect(terminalOf({ FORCE_COLOR: '3' }, wishes).out.colour).toBe(0)
  })

  it('lays out prose between 40 and 120 columns, and knows the real width', () => {
    expect([20, 80, 300].map((columns) => terminalOf({}, {}, columns).out.columns)).toEqual([40, 80, 120])
    expect([20, 80, 300].map((columns) => terminalOf({}, {}, columns).out.window)).toEqual([20, 80, 300])
  })

  it('speaks to people on stderr while stdout carries JSON', () => {
    const plain = terminalOf({})
    const json = terminalOf({}, { json: true })
    expect([plain.human === plain.out, json.human === json.err]).toEqual([true, true])
  })

  it('lines up words beside signs of any width', () => {
    for (const wishes of [{}, { plain: true }]) {
      const { out } = terminalOf({ NO_COLOR: '1' }, wishes)
      expect(
        new Set((['transient', 'syntax', 'refused', 'final'] as const).map((kind) => out.kind(kind).length)).size,
      ).toBe(1)
    }
  })
})
