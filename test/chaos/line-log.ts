/**
 * Append-only logs of one JSON text per line, written so that a line is there as soon as it was written, whoever is killed next.
 * It knows nothing of what the lines say.
 */
import { existsSync, openSync, readFileSync, writeSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

/** In the page cache when `write` returns: outlives its process, not the machine. */
export class LineLog<Line extends object> {
  readonly #descriptor: number

  constructor(file: string) {
    this.#descriptor = openSync(file, 'a')
  }

  write(line: Line): void {
    writeSync(this.#descriptor, `${JSON.stringify(line)}\n`)
  }
}

/** On the disk when `write` resolves, without holding up the event loop. Several processes may append to one file. */
export class SyncedLog<Line extends object> {
  readonly #file: Promise<FileHandle>

  constructor(file: string) {
    this.#file = open(file, 'a')
  }

  async write(line: Line): Promise<void> {
    const file = await this.#file
    await file.write(`${JSON.stringify(line)}\n`)
    await file.datasync()
  }
}

/** All whole lines; a last one without its end was cut off by a kill. */
export function readLines<Line>(file: string): Line[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n')
  lines.pop()
  return lines.map((line) => JSON.parse(line) as Line)
}
