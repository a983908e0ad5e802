/**
 * An open file: its connections, its prepared statements, the lanes known by heart.
 * Made at the first verb and made anew after the connection was lost; it runs no verb itself.
 */
import {
  assertVersion,
  type Connection,
  configure,
  type Durability,
  openReader,
  openWriter,
  type Statement,
} from './connection.ts'
import { Lanes } from './lanes.ts'
import { migrate } from './schema.ts'
import { prepareAll, type Statements } from './statements.ts'

export interface Session {
  readonly writer: Connection
  readonly reader: Connection
  readonly statements: Statements
  readonly lanes: Lanes
  readonly begin: Statement
  readonly commit: Statement
  readonly rollback: Statement
  close(): void
}

/** What a verb works with inside a transaction. */
export interface Tx {
  readonly statements: Statements
  readonly lanes: Lanes
  /** Store time, the same for the whole transaction. */
  readonly now: number
  /** What a step of priority is worth. */
  readonly ageingMs: number
  /** Whether any run needs another; looked up at the first end, because most files have no needs at all. */
  anyNeeds?: boolean
}

export interface SessionOptions {
  readonly file: string
  /** Handed in by the application: never closed here. */
  readonly database?: Connection
  readonly durability: Durability
}

/** Throws SQLite's own error when the file cannot be had now; the caller tries again. */
export function openSession({ file, database, durability }: SessionOptions): Session {
  const writer = database ?? openWriter(file)
  let reader: Connection | undefined
  const close = () => {
    if (reader && reader !== writer) reader.close()
    if (!database) writer.close()
  }
  try {
    assertVersion(writer)
    configure(writer, durability)
    migrate(writer, file)
    reader = openReader(writer)
    const statements = prepareAll(writer)
    return {
      writer,
      reader,
      statements,
      lanes: new Lanes(writer, statements),
      // IMMEDIATE: a transaction that reads first and then cannot get the lock fails at once, whatever the timeout.
      begin: writer.prepare('BEGIN IMMEDIATE'),
      commit: writer.prepare('COMMIT'),
      rollback: writer.prepare('ROLLBACK'),
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}
