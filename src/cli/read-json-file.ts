/**
 * A file or stdin that should hold one JSON value; what is wrong with it is told with its name and place.
 * The size is bounded, because a wrong path may point at anything.
 */
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CliError } from './cli-error.ts'
import { shown } from './terminal/text.ts'

/** One error or one policy; sixteen megabytes of it is a mistake. */
const BYTES_MAX = 16_777_216

export async function readJson(name: string, cwd: string, stdin: AsyncIterable<Uint8Array | string>): Promise<unknown> {
  const text = name === '-' ? await readAll(stdin, 'stdin') : await readFileText(name, cwd)
  const label = name === '-' ? 'stdin' : shown(name)
  if (text.trim() === '') throw notJson(label, 'it is empty')
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw notJson(label, cause)
  }
}

async function readFileText(name: string, cwd: string): Promise<string> {
  let file: Awaited<ReturnType<typeof open>> | undefined
  try {
    file = await open(resolve(cwd, name))
    return await readAll(file.createReadStream({ autoClose: false }), name)
  } catch (cause) {
    throw cause instanceof CliError ? cause : unreadable(name, cause)
  } finally {
    await file?.close()
  }
}

async function readAll(chunks: AsyncIterable<Uint8Array | string>, name: string): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of chunks) {
    text += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
    if (text.length > BYTES_MAX) {
      throw new CliError({
        code: 'FILE_TOO_LARGE',
        message: `${shown(name)} is larger than ${BYTES_MAX} bytes.`,
        exit: 2,
      })
    }
  }
  return text + decoder.decode()
}

export function unreadable(name: string, cause: unknown): CliError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such file',
    EISDIR: 'it is a folder',
    EACCES: 'you may not read it',
  }
  const reason = typeof code === 'string' ? reasons[code] : undefined
  return new CliError({
    code: 'FILE_UNREADABLE',
    message: `The file ${shown(name)} cannot be read.`,
    cause: reason ?? cause,
    exit: 2,
  })
}

function notJson(label: string, cause: unknown): CliError {
  return new CliError({
    code: 'NOT_JSON',
    message: `${label} is not JSON.`,
    cause,
    exit: 2,
  })
}
