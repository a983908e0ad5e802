/**
 * An answer written in the person's own editor: the draft as a file, what is wrong with it as comments at its top.
 * It knows nothing of reviews; whether an answer is good is asked of the caller.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Issue } from '../run/question.ts'
import { CliError } from './cli-error.ts'
import type { Environment } from './terminal/paint.ts'
import { oneLine } from './terminal/text.ts'

/** Whoever saved this often without getting anywhere is better served by a file and time. */
const EDITS_MAX = 20

export interface EditOptions {
  readonly name: string
  /** One line each. */
  readonly heading: readonly string[]
  readonly draft: unknown
  readonly issues: readonly Issue[]
  readonly env: Environment
  readonly cwd: string
  /** Issues that keep the value from being taken; none: it was taken. `stop`: no value can be taken any more. */
  readonly offer: (value: unknown) => Promise<readonly Issue[] | 'stop'>
}

export type Edited =
  | { readonly edited: 'taken' }
  /** Nothing was left in the file, or what is wrong was saved unchanged. The file is kept if it holds anything. */
  | { readonly edited: 'left'; readonly file?: string; readonly issues: readonly Issue[] }

export async function editAnswer(options: EditOptions): Promise<Edited> {
  const { name, heading, draft, env, cwd, offer } = options
  const folder = await mkdtemp(join(tmpdir(), 'reprise-review-'))
  const file = join(folder, `${name.replace(/[^\w.-]/g, '_')}.json`)
  let body = draft === undefined ? '' : JSON.stringify(draft, null, 2)
  let issues = options.issues
  for (let edits = 0; edits < EDITS_MAX; edits += 1) {
    const before = body
    // Readable by its owner alone: documents are nobody else's business.
    await writeFile(file, `${commentsOf(heading, issues)}\n${body}\n`, { mode: 0o600 })
    await openEditor(file, env, cwd)
    body = withoutComments(await readFile(file, 'utf8'))
    if (body === '') return left(folder, undefined, issues)
    if (edits > 0 && body === before) return left(folder, file, issues)
    const read = readJson(body)
    const answer = 'issue' in read ? [read.issue] : await offer(read.value)
    if (answer === 'stop') return left(folder, file, issues)
    issues = answer
    if (issues.length === 0) {
      await rm(folder, { recursive: true, force: true })
      return { edited: 'taken' }
    }
  }
  return left(folder, file, issues)
}

async function left(folder: string, file: string | undefined, issues: readonly Issue[]): Promise<Edited> {
  if (file === undefined) await rm(folder, { recursive: true, force: true })
  return { edited: 'left', ...(file === undefined ? {} : { file }), issues }
}

function commentsOf(heading: readonly string[], issues: readonly Issue[]): string {
  const told = issues.map(({ path, code, message }) => `${path === '' ? 'all of it' : path}: ${message} (${code})`)
  const how = 'Save to answer. An empty file gives it back. Lines that begin with // are left out.'
  return [...heading, ...told, how].map((line) => `// ${oneLine(line)}`).join('\n')
}

/** No line of JSON begins so, because its texts do not span lines. */
const withoutComments = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !/^\s*\/\//.test(line))
    .join('\n')
    .trim()

function readJson(text: string): { readonly value: unknown } | { readonly issue: Issue } {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { issue: { path: '', code: 'json', message: `is not JSON: ${(error as Error).message}` } }
  }
}

/** As git does it: the variable may hold words, and the file is one argument whatever its name. */
function openEditor(file: string, env: Environment, cwd: string): Promise<void> {
  const editor = env['VISUAL'] || env['EDITOR'] || 'vi'
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', `${editor} "$@"`, editor, file], { stdio: 'inherit', cwd })
    const failed = (cause: unknown) =>
      reject(
        new CliError({
          code: 'EDITOR',
          message: `The editor ${oneLine(editor)} did not end well.`,
          cause,
          tryThis: 'Set EDITOR, or write the answer to a file and name it with `--file`.',
          exit: 1,
          touched: 'Nothing was changed.',
        }),
      )
    child.on('error', failed)
    child.on('exit', (code) => (code === 0 ? resolve() : failed(`it ended with exit code ${code ?? 'none'}`)))
  })
}
