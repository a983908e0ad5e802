/**
 * `reprise extract`: documents in, answers that passed the gate out; durable, resumable, with the story at its end.
 * It reads what was typed; the work is the session's.
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Settings } from '../../config/config.ts'
import { type Account, ENDINGS, EXTRACT_PROMPT, findDocuments } from '../../extract/index.ts'
import { isRepriseError } from '../../failure/reprise-error.ts'
import type { Gate } from '../../gate/gate.ts'
import type { Rule } from '../../gate/rule.ts'
import type { JsonSchema } from '../../gate/schema.ts'
import { CHEAP, type Ladder, ladder, STRONG, STRONG_BUDGET } from '../../ladder/ladder.ts'
import { person, rung } from '../../ladder/rung.ts'
import { CliError, usageError } from '../cli-error.ts'
import { configFrom, withConfigFlags } from '../config-option.ts'
import { extractSession } from '../extract-session.ts'
import type { Frame, Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { wholeNumberOf } from '../number-option.ts'
import { readJson, unreadable } from '../read-json-file.ts'
import type { Screen } from '../terminal/terminal.ts'
import { shown } from '../terminal/text.ts'

interface Options {
  readonly schema: string
  readonly gate?: string
  readonly models?: string
  readonly out?: string
  readonly concurrency: number
  readonly prompt?: string
  readonly desk: string
  readonly retryFailed?: boolean
}

const CONCURRENCY = 8
const CONCURRENCY_MAX = 256
const DESK = 'review'

export const registerExtract: Register = (program, frame) => {
  const command = program
    .command('extract')
    .helpGroup('Work')
    .summary('data out of documents, right or with a person')
    .description(
      'Reads documents, asks a cheap model about each, repairs and corrects its answers, asks a stronger one where that did not help, and a person where no model did. Only an answer that passes the schema and the gate is a result. Everything is stored: stopped or killed, the same command goes on and buys nothing twice.',
    )
    .argument('<files...>', `files (${ENDINGS.join(' ')}) and folders of them`)
    .requiredOption('--schema <file>', 'JSON Schema of an answer')
    .option('--gate <module>', 'rules beyond the schema: a module whose default export is a list of them')
    .option('--models <ids>', 'from cheap to strong, joined by commas', `${CHEAP},${STRONG}`)
    .option('--prompt <file>', 'instructions of your own, as text')
    .option('--out <file>', 'one JSON line per document: its value, or the reason why it has none')
    .option('--desk <name>', 'where people find what no model could answer', DESK)
    .option('--retry-failed', 'begin documents anew that failed before')
    .option('--concurrency <n>', 'documents at a time', wholeNumberOf('--concurrency', 1, CONCURRENCY_MAX), CONCURRENCY)
  withConfigFlags(command, ['config', 'store'])
  command.action((files: readonly string[], options: Options) => extract(files, options, frame, command))
  withNotes(command, [
    'A document is known by its bytes, the schema, the prompt and the ladder: the same question is never bought twice, whatever the file is called. A text and a picture of one name are one document.',
    'Exits with 1 when a document failed or the work was stopped; documents with a person are no failure. The last of --models draws from the budget `pro` (50 calls a day, 1,000 a month) unless the configuration defines it.',
  ])
  withExamples(command, [
    { line: 'reprise extract docs --schema s.json --out r.jsonl', says: 'a folder, and the results in a file' },
    { line: 'reprise extract docs --schema s.json --gate rules.ts', says: 'with rules of your own' },
    { line: 'reprise extract a.md --schema s.json --models openai/gpt-5', says: 'by another model' },
  ])
}

async function extract(
  files: readonly string[],
  options: Options,
  frame: Frame,
  command: Parameters<typeof configFrom>[0],
): Promise<void> {
  const config = await configFrom(command, frame)
  const { human, stdin } = frame.terminal()
  const schema = await readJson(options.schema, frame.cwd, stdin)
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw usageError(`${shown(options.schema)} is not a JSON Schema.`, 'A file with one JSON object.')
  const rules = options.gate === undefined ? undefined : await loadGate(options.gate, frame.cwd)
  const prompt = options.prompt === undefined ? EXTRACT_PROMPT : await readPrompt(options.prompt, frame.cwd)
  const documents = await asked(() => findDocuments(files, { cwd: frame.cwd }))
  if (documents.length === 0)
    throw usageError('There is no document to read.', `Files that end in ${ENDINGS.join(' ')}, or a folder of them.`)
  const rungs = asked(() => ladderOf((options.models ?? '').split(','), options.desk, config.settings))
  const { accounts, isStopped } = await extractSession(config, frame, {
    documents,
    question: {
      schema: schema as JsonSchema,
      prompt,
      ladder: rungs,
      ...(rules === undefined ? {} : { gate: rules }),
    },
    noun: documents.length === 1 ? 'document' : 'documents',
    concurrency: options.concurrency,
    ...(options.out === undefined ? {} : { out: options.out }),
    retryFailed: options.retryFailed === true,
    greet: ({ store, out }) => [greeting(documents.length, store, out, human)],
    next: (ended) => nextOf(ended, 'reprise'),
  })
  if (isStopped || accounts.some(({ outcome }) => outcome === 'failed')) frame.fail()
}

function greeting(count: number, store: string, out: string | undefined, screen: Screen): string {
  const words = count === 1 ? 'document' : 'documents'
  const to = out === undefined ? '' : `${screen.ascii ? ' -> ' : ' → '}${screen.text(out)}`
  return `${count} ${words}${to}  ${screen.paint.dim('store')} ${screen.text(store)}`
}

/** What to do now: the story of a document that took something, what waits for a person, what failed. */
export function nextOf(accounts: readonly Account[], program: string): readonly (readonly [string, string])[] {
  const told =
    accounts.find(({ recourse }) => recourse === 'stronger') ??
    accounts.find(({ outcome, recourse }) => outcome === 'person' || recourse === 'asked') ??
    accounts[0]
  const waiting = accounts.filter(({ outcome }) => outcome === 'person')
  const failed = accounts.filter(({ outcome }) => outcome === 'failed')
  // One with a draft shows best what answering is like.
  const first = waiting.find(({ kinds }) => kinds.includes('semantic')) ?? waiting[0]
  return [
    ...(told ? [[`${program} show ${quoted(told.name)}`, 'the story of one document'] as const] : []),
    ...(first
      ? [
          [
            `${program} review`,
            `${waiting.length === 1 ? '1 document waits' : `${waiting.length} documents wait`} for a person`,
          ] as const,
          [`${program} review answer ${quoted(first.name)} --edit`, 'answers it; the same command goes on'] as const,
        ]
      : []),
    ...(failed.length > 0 && !first
      ? [[`${program} runs state:failed`, `${failed.length} failed, and why`] as const]
      : []),
  ]
}

const quoted = (name: string): string => (/^[\w./:-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`)

/** From cheap to strong: the first with two corrections, the last within a budget, then a person. */
export function ladderOf(ids: readonly string[], desk: string, { budgets }: Pick<Settings, 'budgets'>): Ladder {
  const models = ids.map((id) => id.trim()).filter((id) => id !== '')
  if (models.length === 0) throw usageError('--models names no model.', `Such as ${CHEAP},${STRONG}.`)
  const budget = Object.hasOwn(budgets, STRONG_BUDGET.name) ? STRONG_BUDGET.name : STRONG_BUDGET
  return ladder([
    ...models.map((id, index) => {
      const isLast = models.length > 1 && index === models.length - 1
      return rung(id, { attempts: index === 0 ? 3 : 1, ...(isLast ? { budget } : {}) })
    }),
    person({ queue: desk }),
  ])
}

export async function loadGate(path: string, cwd: string): Promise<Gate | readonly Rule[]> {
  let module: Readonly<Record<string, unknown>>
  try {
    module = await import(/* @vite-ignore */ pathToFileURL(resolve(cwd, path)).href)
  } catch (cause) {
    throw gateRefused(`The gate ${shown(path)} cannot be loaded.`, cause)
  }
  const found = module['default'] ?? module['rules'] ?? module['gate']
  if (Array.isArray(found) || typeof (found as { judge?: unknown } | undefined)?.judge === 'function')
    return found as Gate | readonly Rule[]
  throw gateRefused(`The gate ${shown(path)} exports no rules.`, undefined)
}

const gateRefused = (message: string, cause: unknown) =>
  new CliError({
    code: 'GATE_INVALID',
    message,
    ...(cause === undefined ? {} : { cause }),
    tryThis: "Export a list as default: `export default [{ name: 'sum', path: '/total', check: (value) => … }]`.",
    exit: 2,
  })

async function readPrompt(path: string, cwd: string): Promise<string> {
  const text = await readFile(resolve(cwd, path), 'utf8').catch((cause: unknown) => {
    throw unreadable(path, cause)
  })
  if (text.trim() === '') throw usageError(`--prompt ${shown(path)} is empty.`, 'Instructions as text.')
  return text.trim()
}

/** What was typed wrongly is told as such, with exit 2. */
function asked<Value>(act: () => Value): Value {
  try {
    const value = act()
    if (!(value instanceof Promise)) return value
    return value.catch((error: unknown) => {
      throw asUsage(error)
    }) as Value
  } catch (error) {
    throw asUsage(error)
  }
}

const asUsage = (error: unknown): unknown =>
  isRepriseError(error) && /^(extract|ladder|model|gate|ask)\./.test(error.code) ? usageError(error.message) : error
