/**
 * The text of a statement with the type of its rows.
 * It knows no table.
 */
export interface Sql<Row> {
  readonly text: string
  /** Rows come as arrays. */
  readonly raw?: true
  /** Never there: carries the type of the statement's rows. */
  readonly row?: Row
}

export const sql = <Row = never>(text: string): Sql<Row> => ({ text })

export const rawSql = <Row extends readonly unknown[]>(text: string): Sql<Row> => ({ text, raw: true })
