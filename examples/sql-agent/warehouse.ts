/**
 * What the agent asks of a place with tables: its schema, whether a query would run, and its rows.
 */
export type Row = Readonly<Record<string, string | number | null>>

export interface Warehouse {
  readonly name: string
  /** For the prompt. */
  readonly schema: string
  /** A dry run: throws when the query cannot run, and costs nothing. */
  check(sql: string): Promise<void>
  run(sql: string): Promise<readonly Row[]>
}
