/**
 * `reprise codes`: the catalogue of failure codes, as a list, or one code in full.
 * It only shows; the catalogue itself is the failure room's.
 */

import { nearest } from '../../config/nearest.ts'
import { codes } from '../../failure/built-in.ts'
import { KINDS, type Kind } from '../../failure/failure.ts'
import type { CodeEntry } from '../../failure/rule.ts'
import { CliError } from '../cli-error.ts'
import type { Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { definition } from '../terminal/definition.ts'
import { table } from '../terminal/table.ts'
import type { Screen } from '../terminal/terminal.ts'
import { shown } from '../terminal/text.ts'
import { oneOf } from '../word-option.ts'

interface CodesOptions {
  readonly kind?: Kind
  readonly family?: string
}

/** Nine codes of ten are shorter; the others push the advice aside. */
const CODE_COLUMNS = 30

export const registerCodes: Register = (program, frame) => {
  // The catalogue is made when it is asked for, not whenever any command starts.
  const families = () => [...new Set(codes().map((entry) => entry.family))]
  const command = program
    .command('codes')
    .helpGroup('Understand failures')
    .summary('the catalogue of failure codes')
    .description('Lists the failure codes that the classifier knows: their kind, and what a person can do about them.')
    .argument('[pattern]', 'a code (`http.503`), or a part of codes; `*` stands for anything')
    .option('--kind <kind>', 'only codes of this kind', oneOf('kind', KINDS))
    .option('--family <family>', 'only codes of this catalogue: http, gemini, postgres, …', oneOf('family', families))
    .action((pattern: string | undefined, options: CodesOptions) => {
      const terminal = frame.terminal()
      const found = codes().filter(
        (entry) =>
          (options.kind === undefined || entry.kind === options.kind) &&
          (options.family === undefined || entry.family === options.family) &&
          (pattern === undefined || matches(entry.code, pattern)),
      )
      if (found.length === 0) throw nothingFound(pattern, options)
      const exact = found.find((entry) => entry.code === pattern)
      const listed = exact ? [exact] : found
      if (terminal.json) return terminal.out.lines(...listed.map(jsonLine))
      if (listed.length === 1 && listed[0]) return terminal.out.lines(...inFull(listed[0], terminal.out))
      terminal.out.lines(...asTable(listed, terminal.out))
      if (!terminal.quiet && terminal.out.isTTY) {
        terminal.out.lines(
          '',
          terminal.out.paint.dim(`${listed.length} codes. reprise codes <code> shows one in full.`),
        )
      }
    })
  withNotes(command, [`The kinds: ${KINDS.join(', ')}.`])
  withExamples(command, [
    { line: 'reprise codes --family gemini', says: 'what Gemini and Vertex AI can answer' },
    { line: "reprise codes 'pg.40*'", says: 'PostgreSQL, class 40: transaction rollback' },
    { line: 'reprise codes --kind refused --json', says: 'for a script: one object per line' },
  ])
}

/** Without a star the pattern is a part of the code; with one it is the whole of it. Letters match in either case. */
function matches(code: string, pattern: string): boolean {
  const whole = code.toLowerCase()
  const parts = pattern.toLowerCase().split('*')
  if (parts.length === 1) return whole.includes(pattern.toLowerCase())
  const [first = '', ...rest] = parts
  const last = rest.pop() ?? ''
  if (!whole.startsWith(first)) return false
  let from = first.length
  for (const part of rest) {
    const at = whole.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return whole.length - last.length >= from && whole.endsWith(last)
}

function nothingFound(pattern: string | undefined, options: CodesOptions): CliError {
  const limits = [options.kind && `kind ${options.kind}`, options.family && `family ${options.family}`].filter(Boolean)
  const inLimits = limits.length > 0 ? ` of ${limits.join(' and ')}` : ''
  const meant =
    pattern === undefined
      ? undefined
      : nearest(
          pattern,
          codes().map((entry) => entry.code),
        )
  const message =
    pattern === undefined ? `There is no code${inLimits}.` : `There is no code ${shown(pattern)}${inLimits}.`
  return new CliError({
    code: 'CODE_UNKNOWN',
    message: meant === undefined ? message : `${message} Did you mean \`${meant}\`?`,
    tryThis: '`reprise codes` lists them all; rules of your own may add others.',
    exit: 1,
    touched: '',
  })
}

function asTable(entries: readonly CodeEntry[], screen: Screen): string[] {
  return table(
    screen,
    [{ header: 'kind' }, { header: 'code', usual: CODE_COLUMNS }, { header: 'what helps', flexible: true }],
    entries.map((entry) => [
      `${screen.kind(entry.kind)} ${entry.kind}`,
      screen.text(entry.code),
      screen.paint.dim(screen.text(entry.advice)),
    ]),
  )
}

function inFull(entry: CodeEntry, screen: Screen): string[] {
  return [
    `${screen.kind(entry.kind)} ${screen.paint.bold(screen.text(entry.code))}`,
    '',
    ...definition(screen, [
      ['kind', entry.kind],
      ['layer', entry.layer],
      ['family', entry.family],
      ['stored', entry.storable ? 'yes' : 'never: a benign race is not an error'],
      ['advice', entry.advice],
    ]),
  ]
}
