/**
 * A little sales data in SQLite's memory: the embedded warehouse itself, and what stands behind the local BigQuery.
 */
import Database from 'better-sqlite3'
import { failure } from 'reprise'
import type { Row, Warehouse } from './warehouse.ts'

export const SCHEMA = `orders(id INTEGER, region TEXT, product TEXT, year INTEGER, total INTEGER)`

const ORDERS: readonly (readonly [region: string, product: string, year: number, total: number])[] = [
  ['north', 'lamp', 2025, 120],
  ['north', 'desk', 2026, 480],
  ['south', 'lamp', 2026, 90],
  ['south', 'chair', 2026, 610],
  ['west', 'desk', 2025, 450],
  ['west', 'chair', 2026, 200],
]

export function salesDatabase(): Database.Database {
  const database = new Database(':memory:')
  database.exec(`CREATE TABLE ${SCHEMA}`)
  const insert = database.prepare('INSERT INTO orders(region, product, year, total) VALUES(?, ?, ?, ?)')
  for (const order of ORDERS) insert.run(...order)
  return database
}

/** The same tables without any server: for trying the agent. */
export function embeddedWarehouse(): Warehouse {
  const database = salesDatabase()
  // A wrong query is a wrong answer of the model: the workflow asks again. Everything else stays what it is.
  const asked = <Answer>(work: () => Answer): Answer => {
    try {
      return work()
    } catch (cause) {
      if ((cause as { code?: unknown }).code !== 'SQLITE_ERROR') throw cause
      const { message } = cause as Error
      throw failure({ kind: 'semantic', code: 'sql.invalid', message, advice: 'Correct the SQL.', cause })
    }
  }
  const prepare = (sql: string) => {
    const statement = asked(() => database.prepare<[], Row>(sql))
    if (statement.reader && statement.readonly) return statement
    throw failure({
      kind: 'semantic',
      code: 'sql.readonly',
      message: 'Only a SELECT is allowed',
      advice: 'Ask a question.',
    })
  }
  return {
    name: 'SQLite',
    schema: SCHEMA,
    check: async (sql) => {
      prepare(sql)
    },
    run: async (sql) => {
      const statement = prepare(sql)
      return asked(() => statement.all())
    },
  }
}
