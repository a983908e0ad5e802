/**
 * `createIn`: new runs inside a transaction of the application's, on the application's own connection.
 * It begins and ends no transaction; whether the runs are ever there is decided by the application's commit.
 */
import { realpathSync } from 'node:fs'
import { RepriseError } from '../../failure/reprise-error.ts'
import type { Created, NewRun } from '../../ports/store.ts'
import type { SteadyTime } from '../../time/steady-time.ts'
import type { Connection, Statement } from './connection.ts'
import { checkAll, createAll } from './create.ts'
import { Lanes } from './lanes.ts'
import { SCHEMA_VERSION } from './schema.ts'
import { prepareLazily, type Statements } from './statements.ts'
import { isUnreachable, unavailable } from './trouble.ts'

/** A better-sqlite3 `Database`, or a `DatabaseSync` of node:sqlite, with a transaction open. */
export interface SqliteTransaction {
  /** better-sqlite3. */
  readonly inTransaction?: boolean
  /** node:sqlite. */
  readonly isTransaction?: boolean
  prepare(sql: string): unknown
  exec(sql: string): unknown
}

interface Joined {
  readonly statements: Statements
  readonly lanes: Lanes
  readonly schema: Statement<{ readonly value: number }>
}

export interface CreateInOptions {
  readonly file: string
  readonly time: SteadyTime
  readonly ageingMs: number
  /** The connection that was handed to the store, if it was. */
  readonly database?: Connection
  /** The SQLite library of the store's own connections; absent while it has none. */
  readonly library: () => unknown
}

export class CreateIn {
  readonly #options: CreateInOptions
  /** Prepared statements live as long as the application's connection. */
  readonly #joined = new WeakMap<object, Joined>()
  #library: unknown

  constructor(options: CreateInOptions) {
    this.#options = options
  }

  /** The library of the application's connections, once it has handed one in. */
  get library(): unknown {
    return this.#library
  }

  create(tx: unknown, runs: readonly NewRun[]): Created {
    const { file, time, ageingMs } = this.#options
    assertTransaction(tx)
    checkAll(runs)
    try {
      const { statements, lanes } = this.#join(tx)
      // What a transaction before this one made may have been rolled back.
      lanes.forget()
      time.atLeast(statements.lastStamp.get()?.at ?? 0)
      return atOnce(tx, () => createAll({ statements, lanes, now: time.now(), ageingMs }, runs))
    } catch (error) {
      throw isUnreachable(error) ? unavailable(file, error) : error
    }
  }

  #join(tx: SqliteTransaction): Joined {
    const connection = tx as Connection
    const known = this.#joined.get(tx)
    if (!known) this.#assertFits(connection)
    const tables = known ?? connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'reprise_meta'").get()
    if (!tables) throw noTables(this.#options.file)
    const joined = known ?? join(connection)
    assertSchema(this.#options.file, joined.schema.get()?.value ?? 0)
    this.#joined.set(tx, joined)
    this.#library = connection.constructor
    return joined
  }

  #assertFits(connection: Connection): void {
    const { file, library } = this.#options
    this.#assertSameFile(connection)
    if (library() !== undefined && library() !== connection.constructor) throw otherLibrary(file)
  }

  /** Runs that go to another file would never be found by this store's workers. */
  #assertSameFile(connection: Connection): void {
    const { file, database } = this.#options
    if (database && connection === database) return
    const rows = connection.prepare('PRAGMA database_list').all() as { name: string; file: string | null }[]
    const main = rows.find(({ name }) => name === 'main')?.file ?? ''
    if (main !== '' && real(main) === real(file)) return
    throw new RepriseError(
      'submit.tx_file',
      `tx is a connection to ${main === '' ? 'a database in memory' : main}, and the store is ${file}. Allowed: a connection to the store’s own file.`,
    )
  }
}

function join(connection: Connection): Joined {
  const statements = prepareLazily(connection)
  const schema = connection.prepare("SELECT value FROM reprise_meta WHERE name = 'schema'") as Joined['schema']
  return { statements, lanes: new Lanes(connection, statements), schema }
}

const noTables = (file: string): RepriseError =>
  new RepriseError(
    'sqlite.tables',
    `${file} has no tables of Reprise yet, and a transaction of yours is no place to make them. Make them once before: \`reprise migrate\`, or any other call of the store, such as \`await reprise.get('r1')\`.`,
  )

function assertSchema(file: string, schema: number): void {
  if (schema === SCHEMA_VERSION) return
  const whatToDo = schema > SCHEMA_VERSION ? 'Update Reprise' : 'Run `reprise migrate`'
  throw new RepriseError(
    'sqlite.schema',
    `${file} has schema ${schema}, this version of Reprise writes ${SCHEMA_VERSION}. ${whatToDo}; nothing was written.`,
  )
}

/** When one library closes a file, the operating system drops the locks that the other holds on it. */
export const otherLibrary = (file: string): RepriseError =>
  new RepriseError(
    'sqlite.libraries',
    `Two SQLite libraries (better-sqlite3 and node:sqlite, or two copies of one) would use ${file} in this process, and drop each other’s locks. Use one: submit with tx on node:sqlite only in a process that asks nothing else of the store.`,
  )

function assertTransaction(tx: unknown): asserts tx is SqliteTransaction {
  const given = tx as Partial<SqliteTransaction> | null | undefined
  const isConnection = typeof given?.prepare === 'function' && typeof given.exec === 'function'
  const open = isConnection ? (given.inTransaction ?? given.isTransaction) : undefined
  if (typeof open !== 'boolean')
    throw new RepriseError(
      'submit.tx',
      `tx is ${tx === null ? 'null' : typeof tx}. Allowed: a better-sqlite3 Database, or a DatabaseSync of node:sqlite, with a transaction open.`,
    )
  if (!open)
    throw new RepriseError(
      'submit.tx_closed',
      'tx has no transaction open, so there is nothing for the run to be part of. Call it inside `db.transaction(() => { … }).immediate()`, or leave tx out.',
    )
}

/** All of the call or nothing of it, also when the application goes on after an error. */
function atOnce<Answer>(tx: SqliteTransaction, body: () => Answer): Answer {
  tx.exec('SAVEPOINT reprise_create')
  try {
    const answer = body()
    tx.exec('RELEASE reprise_create')
    return answer
  } catch (error) {
    // SQLite itself ends the transaction after some errors, and the savepoint with it.
    if (tx.inTransaction ?? tx.isTransaction) tx.exec('ROLLBACK TO reprise_create; RELEASE reprise_create')
    throw error
  }
}

function real(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}
