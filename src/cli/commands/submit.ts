/**
 * `reprise submit`: one run from the command line, or one per line of JSON from stdin.
 * What a run may be is checked by the engine; here words become its options.
 */
import type { Command } from 'commander'
import type { Reprise } from '../../create-reprise.ts'
import type { RunHandle } from '../../engine/run-handle.ts'
import type { SubmitOptions } from '../../engine/submit.ts'
import { defineTask, type Task } from '../../engine/task.ts'
import { isRepriseError } from '../../failure/reprise-error.ts'
import { CliError, usageError } from '../cli-error.ts'
import { configFrom, withConfigFlags } from '../config-option.ts'
import type { Frame, Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { inputLines } from '../input-lines.ts'
import { jsonLine } from '../json-line.ts'
import { amountOf, durationOf, momentOf, wholeNumberOf } from '../number-option.ts'
import { openApp } from '../open-app.ts'
import { storeTrouble } from '../open-store.ts'
import { failureLines } from '../show-failure.ts'
import { STATE_SIGNS } from '../terminal/palette.ts'
import { cut, shown } from '../terminal/text.ts'
import { oneOf } from '../word-option.ts'

interface Options {
  readonly key?: string
  readonly keyFrom?: string
  readonly onExisting?: 'return' | 'retry'
  readonly priority?: number
  readonly at?: number | string
  readonly category?: string
  readonly deadline?: number | string
  readonly maxCost?: number
  readonly wait?: true | number
}

/** Lines that are submitted together. */
const BATCH = 1_000

export const registerSubmit: Register = (program, frame) => {
  const command = program
    .command('submit')
    .helpGroup('Work')
    .summary('adds a run, or one for each line of stdin')
    .description('Adds a run of a task to the store. Workers that have a handler for the task take it from there.')
    .argument('<task>', 'the name of the task')
    .argument('[input]', 'its input as JSON; `-` reads JSON lines from stdin, one run for each')
    .option('--key <key>', 'submitting twice with one key and the same input gives the same run')
    .option('--key-from <field>', 'the key is this field of the input, for many lines')
    .option(
      '--on-existing <act>',
      'for a key whose run has failed or was cancelled: return, retry',
      oneOf('act', ['return', 'retry']),
    )
    .option('--priority <n>', 'smaller goes first; 0 unless given', wholeNumberOf('--priority', -1_000, 1_000))
    .option('--at <moment>', 'not before then: a duration from now, or an instant', momentOf('--at'))
    .option('--category <name>', 'a label that workers may choose by')
    .option('--deadline <moment>', 'it must be over by then', momentOf('--deadline'))
    .option('--max-cost <usd>', 'its takes may cost this much in all', amountOf('--max-cost'))
    .option('--wait [duration]', 'wait for the end, and show it', durationOf('--wait'))
  withConfigFlags(command, ['config', 'store', 'app']).action(
    (task: string, input: string | undefined, options: Options) => submit(task, input, options, command, frame),
  )
  withNotes(command, [
    'With an app (`--app`, or in the configuration) the input is checked by the task’s own schema before it is stored. With `--wait` a run that fails ends in exit code 1.',
  ])
  withExamples(command, [
    { line: `reprise submit greet '{"name":"Ada"}' --key ada`, says: 'one run, harmless to repeat' },
    { line: 'reprise submit greet - --key-from id < people.jsonl', says: 'one for each line' },
    { line: `reprise submit greet '{"name":"Ada"}' --wait 30s --json`, says: 'and its result' },
  ])
}

async function submit(
  name: string,
  input: string | undefined,
  options: Options,
  command: Command,
  frame: Frame,
): Promise<void> {
  if (options.key !== undefined && (input === '-' || options.keyFrom !== undefined))
    throw usageError('--key is for one run.', '`--key-from <field>` takes each key from its input.')
  const app = await openApp(await configFrom(command, frame), frame)
  try {
    const task = app.tasks.get(name) ?? defineTask({ name })
    const handles: RunHandle[] = []
    let before = 0
    for await (const batch of batches(input, frame)) {
      try {
        const items = batch.map((value) => [task, value, submitOptions(value, options)] as const)
        const submitted = await app.reprise.submitMany(items)
        before += submitted.length
        tell(submitted, task, options.wait !== undefined, frame)
        if (options.wait !== undefined) handles.push(...submitted)
      } catch (error) {
        throw told(error, app.where, touchedBy(error, before, batch.length))
      }
    }
    if (options.wait !== undefined) await waitFor(handles, options.wait, app.reprise, frame)
  } catch (error) {
    throw told(error, app.where)
  } finally {
    await app.reprise.close()
  }
}

/** Inputs in the order in which they were given. */
async function* batches(input: string | undefined, frame: Frame): AsyncGenerator<unknown[]> {
  if (input !== '-') return yield [input === undefined ? null : parse(input, 'The input')]
  const { stdin } = frame.terminal()
  if (stdin.isTTY)
    throw usageError('There is nothing to submit: stdin is the keyboard.', '`reprise submit <task> - < inputs.jsonl`')
  let batch: unknown[] = []
  let before = 0
  for await (const { number, text, tooLong } of inputLines(stdin)) {
    if (text.trim() === '') continue
    const told = before === 0 ? 'Nothing was submitted.' : `The ${before} runs before it were submitted.`
    if (tooLong) throw badLine(`Line ${number} is too long.`, told)
    batch.push(parse(text, `Line ${number}`, told))
    if (batch.length < BATCH) continue
    yield batch
    before += batch.length
    batch = []
  }
  if (batch.length > 0) yield batch
}

function parse(text: string, label: string, touched = 'Nothing was submitted.'): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw badLine(`${label} is not JSON: ${shown(text)}`, touched, cause)
  }
}

function badLine(message: string, touched: string, cause?: unknown): CliError {
  return new CliError({
    code: 'NOT_JSON',
    message,
    ...(cause === undefined ? {} : { cause }),
    tryThis: 'A text is written with its quotes: \'"Ada"\'.',
    exit: 2,
    touched,
  })
}

/** What is in the store although the command failed: batches before, and the neighbours of a key that is taken. */
function touchedBy(error: unknown, before: number, together: number): string {
  const isTaken = isRepriseError(error) && error.code === 'submit.key_conflict' && together > 1
  const others = isTaken ? 'those beside it' : ''
  const earlier = before === 0 ? '' : `the ${before} ${before === 1 ? 'run' : 'runs'} before`
  const all = [earlier, others].filter((part) => part !== '').join(' and ')
  if (all === '') return 'Nothing was submitted.'
  return `${all[0]?.toUpperCase()}${all.slice(1)} were submitted; with keys it is harmless to repeat.`
}

function submitOptions(input: unknown, options: Options): SubmitOptions {
  const { keyFrom, key, onExisting, priority, at, category, deadline, maxCost } = options
  const given = Object.entries({ onExisting, priority, at, category, deadline, maxCost })
  const rest: SubmitOptions = Object.fromEntries(given.filter(([, value]) => value !== undefined))
  if (keyFrom === undefined) return { ...rest, ...(key === undefined ? {} : { key }) }
  const value: unknown =
    typeof input === 'object' && input !== null && Object.hasOwn(input, keyFrom) ? input[keyFrom as never] : undefined
  if (typeof value === 'string' || typeof value === 'number') return { ...rest, key: String(value) }
  throw usageError(
    `An input has no field ${shown(keyFrom)} to take its key from: ${shown(JSON.stringify(input))}`,
    'The field must be a text or a number.',
  )
}

function tell(handles: readonly RunHandle[], task: Task, isWaiting: boolean, frame: Frame): void {
  const { json, out, human, quiet } = frame.terminal()
  if (json) {
    if (!isWaiting) out.lines(...handles.map(({ id, created }) => jsonLine({ id, task: task.name, created })))
    return
  }
  const words = handles.map(({ id, created }) => `${out.text(id)}  ${created ? 'submitted' : 'is there already'}`)
  if (!isWaiting || !quiet) out.lines(...words)
  const [only, second] = handles
  if (!quiet && !isWaiting && out.isTTY && only && !second)
    human.lines(human.paint.dim(`reprise show ${only.id} tells its story.`))
}

async function waitFor(
  handles: readonly RunHandle[],
  limit: true | number,
  reprise: Reprise,
  frame: Frame,
): Promise<void> {
  const { json, out } = frame.terminal()
  const endsAt = limit === true ? undefined : frame.clock.monotonic() + limit
  for (const handle of handles) {
    const left = endsAt === undefined ? {} : { timeoutMs: Math.max(0, endsAt - frame.clock.monotonic()) }
    const result = await handle.result(left)
    if (!result.ok) frame.fail()
    if (json) {
      const run = await reprise.get(handle.id)
      out.lines(jsonLine({ id: handle.id, state: run?.state, ...result }))
    } else if (result.ok) {
      const value = cut(out.text(JSON.stringify(result.value) ?? ''), VALUE_COLUMNS, out.ellipsis)
      out.lines(`${out.sign(STATE_SIGNS.succeeded)} ${out.text(handle.id)}  ${value}`.trimEnd())
    } else out.lines(`${out.sign(STATE_SIGNS.failed)} ${out.text(handle.id)}`, ...failureLines(result.failure, out))
  }
}

/** A longer value is for `--json`. */
const VALUE_COLUMNS = 2_000

/** The engine's complaints about what was submitted, and about time, in the command line's form. */
function told(error: unknown, where: string, touched = 'Nothing was submitted.'): unknown {
  if (!isRepriseError(error) || error instanceof CliError) return error
  if (error.code === 'result.timeout')
    return new CliError({ code: 'NOT_YET', message: error.message, exit: 1, touched: 'It was submitted and goes on.' })
  if (/^(submit|name|json)\./.test(error.code))
    return new CliError({
      code: 'SUBMIT_REFUSED',
      message: error.message.replace(/ Nothing was submitted\.$/, ''),
      exit: 2,
      touched,
    })
  return storeTrouble(error, where, 'Whether it was submitted is not sure; with a key it is harmless to repeat.')
}
