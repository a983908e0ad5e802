/**
 * The lines of an export that was written to a file: each checked as it is read, and one that is none told by its number.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { CliError } from './cli-error.ts'
import { shown } from './terminal/text.ts'

export class ExportFile<Line> {
  readonly #name: string
  readonly #path: string
  readonly #needed: readonly (keyof Line & string)[]
  readonly #isLine: (line: Line) => boolean
  #sha256: string | undefined

  constructor(name: string, cwd: string, needed: readonly (keyof Line & string)[], isLine = (_: Line) => true) {
    this.#name = name
    this.#path = resolve(cwd, name)
    this.#needed = needed
    this.#isLine = isLine
  }

  /** Of all its bytes, once they have been read. */
  get sha256(): string | undefined {
    return this.#sha256
  }

  async *lines(): AsyncGenerator<Line> {
    const input = createReadStream(this.#path)
    const opened = new Promise<void>((done, failed) => input.once('open', () => done()).once('error', failed))
    await opened.catch((cause) => {
      throw this.#refused(cause)
    })
    const hash = createHash('sha256')
    input.on('data', (chunk) => hash.update(chunk))
    let number = 0
    for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1
      if (text.trim() !== '') yield this.#lineOf(text, number)
    }
    this.#sha256 = hash.digest('hex')
  }

  #lineOf(text: string, number: number): Line {
    let line: Line
    try {
      line = JSON.parse(text) as Line
    } catch (cause) {
      throw this.#refused(cause, number)
    }
    if (typeof line !== 'object' || line === null || this.#needed.some((field) => line[field] === undefined))
      throw this.#refused(`it lacks one of ${this.#needed.join(', ')}`, number)
    if (!this.#isLine(line)) throw this.#refused('it is of another kind of export', number)
    return line
  }

  #refused(cause: unknown, number?: number): CliError {
    const name = shown(this.#name)
    return new CliError({
      code: 'FILE_UNREADABLE',
      message:
        number === undefined
          ? `The file ${name} cannot be read.`
          : `Line ${number} of ${name} is no line of an export.`,
      cause,
      exit: 2,
    })
  }
}

/** All of them, before anything is done by them. Only the needed fields are kept, so that a large export takes little room. */
export async function exportLines<Line>(
  name: string,
  cwd: string,
  needed: readonly (keyof Line & string)[],
): Promise<Line[]> {
  const lines: Line[] = []
  for await (const line of new ExportFile<Line>(name, cwd, needed).lines())
    lines.push(Object.fromEntries(needed.map((field) => [field, line[field]])) as Line)
  return lines
}
