/**
 * BigQuery as the agent's warehouse, by Google's own client, and a local server to try it on.
 */
import { BigQuery, type BigQueryOptions } from '@google-cloud/bigquery'
import { type BigQueryServer, bigqueryServer } from 'reprise/testing'
import { SCHEMA, salesDatabase } from './sales.ts'
import type { Row, Warehouse } from './warehouse.ts'

/** Give it a client of `withReprise`: nothing here retries. */
export function bigqueryWarehouse(bigquery: BigQuery): Warehouse {
  return {
    name: 'BigQuery',
    schema: SCHEMA,
    check: async (query) => {
      await bigquery.createQueryJob({ query, dryRun: true })
    },
    run: async (query) => {
      const [rows] = await bigquery.query({ query })
      return rows as Row[]
    },
  }
}

/** The sales data behind BigQuery's REST API, with BigQuery's words for what is wrong. */
export async function localBigQuery(): Promise<BigQueryServer> {
  const database = salesDatabase()
  return bigqueryServer({
    run: (sql, { dryRun }) => {
      // A dataset that this account may not read.
      if (/\bfinance\b/.test(sql)) throw NO_PERMISSION
      try {
        const statement = database.prepare<[], Row>(sql)
        const rows = dryRun ? [] : statement.all()
        const fields = statement.columns().map(({ name }) => ({ name, type: typeOf(rows[0]?.[name]) }))
        return { fields, rows }
      } catch (error) {
        throw inBigQuerysWords((error as Error).message)
      }
    },
  })
}

const NO_PERMISSION = {
  reason: 'accessDenied',
  status: 403,
  message: 'Access Denied: Table sales-prod:finance.ledger: User does not have permission to query table ledger.',
}

/** Google's own client on the local server, for which any credentials will do. */
export function localClient({ url }: BigQueryServer): BigQuery {
  const authClient = { getRequestHeaders: async () => new Headers({ authorization: 'Bearer local' }) }
  return new BigQuery({
    projectId: 'local',
    apiEndpoint: url,
    authClient: authClient as unknown as NonNullable<BigQueryOptions['authClient']>,
  })
}

const typeOf = (value: unknown): 'INTEGER' | 'STRING' => (typeof value === 'number' ? 'INTEGER' : 'STRING')

function inBigQuerysWords(message: string): { reason: string; message: string; status?: number } {
  const column = /^no such column: (\S+)/.exec(message)?.[1]
  if (column !== undefined) return { reason: 'invalidQuery', message: `Unrecognized name: ${column} at [1:8]` }
  const table = /^no such table: (\S+)/.exec(message)?.[1]
  if (table !== undefined)
    return {
      reason: 'notFound',
      status: 404,
      message: `Not found: Table local:sales.${table} was not found in location US`,
    }
  return { reason: 'invalidQuery', message: `Syntax error: ${message} at [1:1]` }
}
