/**
 * Every screen of the command line at 80 columns, as a person sees it: in colour, in a pipe, without colours, in ASCII.
 * The pictures are files beside this test; a change of looks shows as a change of text.
 */
import { describe, expect, test } from 'vitest'
import type { FakeOptions } from '../../src/cli/fake-console.fixtures.ts'
import { runLine } from '../../src/cli/run-line.fixtures.ts'
import { widthOf } from '../../src/cli/terminal/text.ts'

const TTY = { isTTY: true, columns: 80, env: { TERM: 'xterm-256color', COLORTERM: 'truecolor' } } as const

const MODES: readonly (readonly [name: string, words: string, console: FakeOptions])[] = [
  ['terminal', '', TTY],
  ['pipe', '', {}],
  ['NO_COLOR', '', { ...TTY, env: { ...TTY.env, NO_COLOR: '1' } }],
  ['--plain', ' --plain', TTY],
]

/** Failures come back as they are, so these pictures show the screen and not the state of the catalogue. */
const ERRORS = [
  {
    kind: 'transient',
    code: 'http.503',
    message: 'The model is overloaded. Please try again later.',
    advice: 'Wait a little and try again; if it lasts, look at the status page of the service.',
  },
  {
    kind: 'rate_limited',
    code: 'http.429',
    message: 'Too many requests',
    retryAfterMs: 26_000,
    advice: 'Wait as long as told, send fewer requests, or ask for a higher limit.',
    facts: { toldBy: 'retry-after' },
  },
  { kind: 'syntax', code: 'output.parse', message: 'Unexpected end of JSON input', advice: 'Ask again.' },
  { kind: 'refused', code: 'gemini.blocked', message: 'The prompt was blocked: SAFETY', advice: 'Ask a person.' },
]
  .map((error) => JSON.stringify({ layer: 'workflow', rule: 'http/sample', ...error }))
  .join('\n')

const SCREENS: readonly (readonly [name: string, line: string, stdin?: string | undefined])[] = [
  ['help', '--help'],
  ['help-start', 'help start'],
  ['help-extract', 'help extract'],
  ['help-classify', 'classify --help'],
  ['help-codes', 'codes --help'],
  ['help-plan', 'plan --help'],
  ['help-sim', 'sim --help'],
  ['classify', 'classify', ERRORS],
  ['classify-bad-line', 'classify', `${ERRORS.split('\n')[0]}\nnot json\n${ERRORS.split('\n')[1]}\n`],
  ['plan-transient', 'plan --kind transient --policy daemon --now 2026-11-15T14:00:00Z'],
  ['plan-semantic', 'plan --kind semantic --policy extraction --now 2026-11-15T14:00:00Z'],
  ['plan-told', 'plan - --policy daemon --now 2026-11-15T14:00:00Z', ERRORS.split('\n')[1]],
  ['plan-conflict', 'plan --kind conflict --now 2026-11-15T14:00:00Z'],
  ['error-command', 'retyr INV-20431'],
  ['error-option', 'codes --famly http'],
  ['error-policy', 'plan --kind transient --policy deamon'],
  ['error-file', 'plan no-such-file.json'],
]

/** Their words are those of the catalogue, which has tests of its own; here they only have to fit. */
const OTHERS: typeof SCREENS = [
  ['codes', 'codes'],
  ['codes-one', 'codes http.503'],
  ['classify-explain', 'classify --explain', '{"status":429,"message":"Quota exceeded, try again in 1m30s"}'],
]

describe('screens', () => {
  test.each(SCREENS)('%s', async (name, line, stdin) => {
    const pictures: string[] = []
    for (const [mode, words, console] of MODES) {
      const { out, err, exit } = await runLine(line + words, { ...console, ...(stdin === undefined ? {} : { stdin }) })
      for (const text of (out + err).split('\n')) {
        // JSON lines are for machines and are as long as they are.
        if (!text.startsWith('{')) expect(widthOf(text), text).toBeLessThanOrEqual(80)
      }
      if (mode !== 'terminal') expect(out + err).not.toContain('\u001b')
      if (mode === '--plain') expect(out + err).toMatch(/^[\n -~]*$/)
      pictures.push(`──── ${mode}, exit ${exit}\n${out}${err === '' ? '' : `──── stderr\n${err}`}`)
    }
    const picture = pictures.join('\n').replaceAll('\u001b', '␛')
    await expect(picture).toMatchFileSnapshot(`cli-screens/${name}.txt`)
  })

  test.each([60, 80, 200])('no line is wider than a window of %i columns', async (columns) => {
    for (const [, line, stdin] of [...SCREENS, ...OTHERS]) {
      const options = { ...TTY, columns, ...(stdin === undefined ? {} : { stdin }) }
      const { out, err } = await runLine(line, options)
      for (const text of (out + err).split('\n')) expect(widthOf(text), `${line}: ${text}`).toBeLessThanOrEqual(columns)
    }
  })
})
