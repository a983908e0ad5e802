/**
 * The text of a statement with the type of its rows.
 * It knows no table.
 */
export interface Sql<Row> {
  readonly text: string
  /** Never there: carries the type of the statement's rows. */
  readonly row?: Row
}

export const sql = <Row = never>(text: string): Sql<Row> => ({ text })
