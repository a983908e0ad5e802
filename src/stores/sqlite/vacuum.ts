/**
 * Gives the space of deleted rows back to the disk: what `reprise vacuum` does to a file.
 * It knows no table. A file is rewritten whole, so it is for a quiet hour and never done by itself.
 */
import { statSync } from 'node:fs'
import { assertVersion, openWriter } from './connection.ts'
import { isUnreachable, unavailable } from './trouble.ts'

/** Longer than any honest transaction. It blocks this process, which does nothing else. */
const BUSY_MS = 30_000

export interface Vacuumed {
  /** Of the file and its log. */
  readonly bytesBefore: number
  readonly bytesAfter: number
}

export function vacuum(file: string): Vacuumed {
  try {
    const connection = openWriter(file)
    try {
      assertVersion(connection)
      connection.pragma(`busy_timeout = ${BUSY_MS}`)
      const bytesBefore = bytesOf(file)
      // The log first, so that it is not written twice; and again after, because VACUUM writes the new file into it.
      connection.pragma('wal_checkpoint(TRUNCATE)')
      connection.exec('VACUUM')
      connection.pragma('wal_checkpoint(TRUNCATE)')
      return { bytesBefore, bytesAfter: bytesOf(file) }
    } finally {
      connection.close()
    }
  } catch (error) {
    throw isUnreachable(error) ? unavailable(file, error) : error
  }
}

const bytesOf = (file: string): number =>
  [file, `${file}-wal`].reduce((sum, each) => sum + (statSync(each, { throwIfNoEntry: false })?.size ?? 0), 0)
