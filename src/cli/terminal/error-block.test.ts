import { describe, expect, it } from 'vitest'
import { CliError, usageError } from '../cli-error.ts'
import { fakeConsole } from '../fake-console.fixtures.ts'
import { errorBlock } from './error-block.ts'
import { createTerminal } from './terminal.ts'
import { widthOf } from './text.ts'

const wishes = { json: false, plain: false, quiet: false, colour: true, debug: false }
const screenOf = (env: Record<string, string> = {}) =>
  createTerminal(fakeConsole({ isTTY: true, columns: 60, env }), wishes).err

const unreachable = new CliError({
  code: 'STORE_UNAVAILABLE',
  message: 'The store cannot be opened: postgres://db:5432/reprise',
  cause: new Error('pool closed', { cause: new Error('connect ECONNREFUSED 10.0.3.7:5432') }),
  tryThis: 'Is PostgreSQL up? `reprise verify` checks store, schema and clock.',
  exit: 3,
  touched: 'No run was touched.',
})

describe('error block', () => {
  it('says what, the deepest cause, what to try, then code and exit', () => {
    expect(errorBlock(unreachable, screenOf({ NO_COLOR: '1' }), false)).toEqual([
      'error  The store cannot be opened:',
      '       postgres://db:5432/reprise',
      'cause  connect ECONNREFUSED 10.0.3.7:5432',
      'try    Is PostgreSQL up? `reprise verify` checks store,',
      '       schema and clock.',
      '       STORE_UNAVAILABLE, exit 3. No run was touched.',
    ])
  })

  it('colours the word, dims the rest and sets commands in bold', () => {
    const lines = errorBlock(unreachable, screenOf({ TERM: 'xterm' }), false)
    expect(lines[0]).toBe('\u001b[91merror\u001b[39m  The store cannot be opened:')
    expect(lines[2]).toBe('\u001b[2mcause\u001b[22m  connect ECONNREFUSED 10.0.3.7:5432')
    expect(lines[3]).toBe('\u001b[2mtry\u001b[22m    Is PostgreSQL up? \u001b[1mreprise verify\u001b[22m checks store,')
  })

  it('keeps a bold span that crosses a line break bold on both lines only', () => {
    const error = usageError('No.', `${'long '.repeat(9)}\`reprise verify\` then rest`)
    const text = errorBlock(error, screenOf({ TERM: 'xterm' }), false).join('\n')
    expect(text.split('\u001b[1m').length).toBe(text.split(/\u001b\[1m[^\n]*?\u001b\[22m/).length)
    expect(text).not.toContain('`')
  })

  it('leaves out a cause that says the same, and what was touched when nothing began', () => {
    expect(
      errorBlock(usageError('There is no file x.', undefined, 'no file x'), screenOf({ NO_COLOR: '1' }), false),
    ).toEqual(['error  There is no file x.', '       USAGE, exit 2.'])
  })

  it('tells an error of our own making as such, without a stack', () => {
    const lines = errorBlock(new TypeError('x is undefined'), screenOf({ NO_COLOR: '1' }), false)
    expect(lines.join('\n')).toContain('did not expect')
    expect(lines.at(-1)).toBe('       INTERNAL, exit 1.')
    expect(lines.join('\n')).not.toContain('    at ')
  })

  it('shows the stacks of the whole chain when asked', () => {
    const text = errorBlock(unreachable, screenOf(), true).join('\n')
    expect(text).toContain('Error: pool closed')
    expect(text).toContain('Error: connect ECONNREFUSED')
    expect(text).toContain('    at ')
  })

  it('survives values that are no errors, and chains without end', () => {
    const loop: Error & { cause?: unknown } = new Error('loop')
    loop.cause = loop
    for (const thrown of [undefined, null, 'text', 42, Object.create(null), loop]) {
      expect(() => errorBlock(thrown, screenOf(), true)).not.toThrow()
    }
  })

  it('masks secrets, also in the stack', () => {
    const error = new CliError({
      code: 'STORE_UNAVAILABLE',
      message: 'The store cannot be opened: postgres://app:hunter2secret@db:5432/reprise',
      cause: new Error('Authorization: Bearer abcdefghijklmnopqrstuvwxyz012345'),
      exit: 3,
    })
    const text = errorBlock(error, screenOf(), true).join('')
    expect(text).not.toContain('hunter2secret')
    expect(text).not.toContain('abcdefghijklmnopqrstuvwxyz')
  })

  it('shows no control character of a value, and stays inside the window', () => {
    const error = usageError(
      'There is no command \u001b]0;owned\u0007\u001b[2Jx.',
      'x '.repeat(80),
      `y\u001b[31m${'z'.repeat(200)}`,
    )
    const lines = errorBlock(error, screenOf({ NO_COLOR: '1' }), false)
    expect(lines.join('\n')).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(60)
  })
})
