/**
 * `reprise classify`: errors in, one line each; what went wrong out, one Failure each.
 * It reads and shows line by line, so its input may be endless; judging is the failure room's.
 */
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type ClassifyOptions, classify } from '../../failure/classify.ts'
import type { Kind } from '../../failure/failure.ts'
import { CliError, usageError } from '../cli-error.ts'
import type { Frame, Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { type InputLine, inputLines, LINE_CHARACTERS_MAX } from '../input-lines.ts'
import { parseInstant } from '../instant.ts'
import { jsonLine } from '../json-line.ts'
import { unreadable } from '../read-json-file.ts'
import { rulesFrom } from '../rules-option.ts'
import { explanationLines, failureLines } from '../show-failure.ts'
import { labelled } from '../terminal/error-block.ts'
import { STATE_SIGNS } from '../terminal/palette.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { shown } from '../terminal/text.ts'

interface Options {
  readonly explain?: boolean
  readonly text?: boolean
  readonly now?: number
  readonly rules?: string
}

/** After so many bad lines the reader has understood; the rest is counted. */
const BAD_LINES_SHOWN = 10
/** The parser quotes the line, which may be long. */
const PROBLEM_CHARACTERS_MAX = 140

export const registerClassify: Register = (program, frame) => {
  const command = program
    .command('classify')
    .helpGroup('Understand failures')
    .summary('what went wrong, for each error: JSON lines in, Failures out')
    .description(
      'Reads errors as JSON lines from a file or stdin and tells for each what went wrong: its kind, its code, how long to wait and what helps. Writes one Failure per line as JSON into pipes and with --json, and sentences on a terminal.',
    )
    .argument('[file]', 'JSON lines; stdin when left out or `-`')
    .option('--explain', 'which rule hit, on what evidence, and why others did not')
    .option('--text', 'take lines that are not JSON as the text of an error')
    .option('--now <instant>', 'when the errors were received: epoch milliseconds or ISO 8601', parseInstant)
    .option('--rules <module>', 'a module that exports rules of your own; they are asked first')
    .action((file: string | undefined, options: Options) => classifyAll(file ?? '-', options, frame))
  withNotes(command, [
    'A line that cannot be read is told on stderr with its number; the others are still classified, and the exit code is 1.',
  ])
  withExamples(command, [
    { line: `echo '{"status":503}' | reprise classify`, says: 'one error from a pipe' },
    { line: 'reprise classify errors.jsonl --explain', says: 'a file of errors, each verdict with its reasons' },
    { line: 'tail -f app.log | reprise classify --text', says: 'lines of a log, as they come' },
  ])
}

async function classifyAll(file: string, options: Options, frame: Frame): Promise<void> {
  const terminal = frame.terminal()
  if (file === '-' && terminal.stdin.isTTY) {
    throw usageError('There are no errors to classify: stdin is the keyboard.', '`reprise classify errors.jsonl`')
  }
  const judging: ClassifyOptions = {
    now: options.now ?? frame.clock.now(),
    ...(options.rules === undefined ? {} : { rules: await rulesFrom(options.rules, frame.cwd) }),
  }
  const seen = new Map<Kind, number>()
  let badLines = 0
  for await (const line of inputLines(file === '-' ? terminal.stdin : fileChunks(file, frame.cwd))) {
    if (!line.tooLong && line.text.trim() === '') continue
    const read = thrownIn(line, options.text === true)
    if ('problem' in read) {
      badLines += 1
      if (badLines <= BAD_LINES_SHOWN) tellBadLine(terminal, line, read.problem)
      continue
    }
    const kind = showOne(terminal, read.thrown, judging, options.explain === true, seen.size > 0)
    seen.set(kind, (seen.get(kind) ?? 0) + 1)
    await terminal.out.drained()
  }
  if (badLines > 0) endWithBadLines(terminal, badLines, frame)
  else if (asSentences(terminal) && !terminal.quiet) tellSum(terminal, seen)
}

const asSentences = (terminal: Terminal) => terminal.out.isTTY && !terminal.json

async function* fileChunks(file: string, cwd: string): AsyncGenerator<Uint8Array> {
  try {
    await using handle = await open(resolve(cwd, file))
    yield* handle.createReadStream({ autoClose: false })
  } catch (cause) {
    throw cause instanceof CliError ? cause : unreadable(file, cause)
  }
}

function thrownIn(line: InputLine, isText: boolean): { thrown: unknown } | { problem: string } {
  if (line.tooLong) return { problem: `is longer than ${LINE_CHARACTERS_MAX} characters` }
  try {
    return { thrown: JSON.parse(line.text) }
  } catch (cause) {
    if (isText) return { thrown: line.text }
    return { problem: `is not JSON: ${cause instanceof Error ? cause.message : String(cause)}` }
  }
}

function showOne(
  terminal: Terminal,
  thrown: unknown,
  judging: ClassifyOptions,
  isExplained: boolean,
  isFurther: boolean,
): Kind {
  const { out } = terminal
  if (isExplained) {
    const explanation = classify.explain(thrown, judging)
    const { failure } = explanation
    if (!asSentences(terminal)) out.lines(jsonLine(explanation))
    else out.lines(...(isFurther ? [''] : []), ...failureLines(failure, out), ...explanationLines(explanation, out))
    return failure.kind
  }
  const failure = classify(thrown, judging)
  if (!asSentences(terminal)) out.lines(jsonLine(failure))
  else out.lines(...(isFurther ? [''] : []), ...failureLines(failure, out))
  return failure.kind
}

function tellBadLine({ err }: Terminal, line: InputLine, problem: string): void {
  const label = err.paint.hue(STATE_SIGNS.failed.hue, 'error')
  err.lines(...labelled(err, label, `Line ${line.number} ${shown(problem, PROBLEM_CHARACTERS_MAX)}`))
}

function endWithBadLines({ err }: Terminal, badLines: number, frame: Frame): void {
  const more = badLines - BAD_LINES_SHOWN
  const could = badLines === 1 ? '1 line could not be read' : `${badLines} lines could not be read`
  err.lines(
    ...(more > 0 ? labelled(err, '', `and ${more} more`) : []),
    ...labelled(err, err.paint.dim('try'), 'One JSON value per line; `--text` takes other lines as text.'),
    ...labelled(err, '', `BAD_LINES, exit 1. ${could}; all others were classified.`).map(err.paint.dim),
  )
  frame.fail()
}

function tellSum({ out }: Terminal, seen: ReadonlyMap<Kind, number>): void {
  const total = [...seen.values()].reduce((sum, count) => sum + count, 0)
  if (total < 2) return
  const parts = [...seen].sort((a, b) => b[1] - a[1]).map(([kind, count]) => `${count} ${kind}`)
  out.lines('', out.paint.dim(`${total} errors: ${parts.join(', ')}`))
}
