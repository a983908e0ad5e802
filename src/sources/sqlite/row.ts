/**
 * A row of `documents` and the document it stands for.
 * The body is the service's; the columns beside it are what queries look at.
 */
import type { CollectionShape, DocumentFailure, Marks, SourceDocument } from '../../ports/source.ts'

export interface Row {
  readonly seq: number
  readonly id: string
  readonly status: string
  readonly attempts: number
  readonly last_attempt_at: number | null
  readonly created_at: number
  readonly body: string
  readonly rev: number
  readonly marks: string | null
}

export const ROW = 'seq, id, status, attempts, last_attempt_at, created_at, body, rev, marks'

const NEW_MARKS: Marks = Object.freeze({ generation: 1, delivered: 0 })

export function documentOf(row: Row, shape: CollectionShape): SourceDocument {
  const { id, status, attempts, last_attempt_at: last, created_at: createdAt, rev } = row
  return {
    id,
    key: row.seq,
    status,
    attempts,
    ...(last === null ? {} : { lastAttemptAt: last }),
    createdAt,
    marks: row.marks === null ? NEW_MARKS : (JSON.parse(row.marks) as Marks),
    rev,
    document: {
      ...(JSON.parse(row.body) as Record<string, unknown>),
      [shape.idField]: id,
      [shape.statusField]: status,
      [shape.attemptsField]: attempts,
      [shape.lastAttemptField]: last === null ? null : new Date(last).toISOString(),
    },
  }
}

/** The columns that repeat what queries ask of the marks. */
export function columnsOf(marks: Marks): readonly (string | number | null)[] {
  const failure: DocumentFailure | undefined = marks.failure
  return [
    JSON.stringify(marks),
    marks.dueAt ?? null,
    failure?.at ?? null,
    failure?.fingerprint ?? null,
    failure?.code ?? null,
    marks.outbox?.until ?? null,
  ]
}
