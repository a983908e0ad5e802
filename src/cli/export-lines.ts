/**
 * The lines of an export that was written to a file, all of them read and checked before anything is done by them.
 */
import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { CliError } from './cli-error.ts'
import { shown } from './terminal/text.ts'

/** Only the needed fields are kept, so that a large export takes little room. A line that is none is told by its number. */
export async function exportLines<Line>(
  name: string,
  cwd: string,
  needed: readonly (keyof Line & string)[],
): Promise<Line[]> {
  const input = createReadStream(resolve(cwd, name), 'utf8')
  const refused = (cause: unknown, number?: number) =>
    new CliError({
      code: 'FILE_UNREADABLE',
      message:
        number === undefined
          ? `The file ${shown(name)} cannot be read.`
          : `Line ${number} of ${shown(name)} is no line of an export.`,
      cause,
      exit: 2,
    })
  const opened = new Promise<void>((done, failed) => input.once('open', () => done()).once('error', failed))
  await opened.catch((cause) => {
    throw refused(cause)
  })
  const lines: Line[] = []
  let number = 0
  for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1
    if (text.trim() === '') continue
    let line: Line
    try {
      line = JSON.parse(text) as Line
    } catch (cause) {
      throw refused(cause, number)
    }
    if (typeof line !== 'object' || line === null || needed.some((field) => line[field] === undefined))
      throw refused(`it lacks one of ${needed.join(', ')}`, number)
    lines.push(Object.fromEntries(needed.map((field) => [field, line[field]])) as Line)
  }
  return lines
}
