/**
 * A statement's text with the type of its rows.
 */
export interface Sql<Row> {
  readonly text: string
  /** Never there: carries the type of the statement's rows. */
  readonly row?: Row
}

export const sql = <Row = never>(text: string): Sql<Row> => ({ text })
