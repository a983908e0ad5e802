/**
 * Jobs and results in the shape in which BigQuery's REST API gives them.
 * It knows the wire's words and nothing of faults.
 */
import type { IncomingMessage } from 'node:http'

/** Rows by the names of their fields. */
export interface Answer {
  readonly fields: readonly { readonly name: string; readonly type: 'STRING' | 'INTEGER' | 'FLOAT' }[]
  readonly rows: readonly Readonly<Record<string, string | number | null>>[]
}

export interface JobError {
  readonly reason: string
  readonly message: string
  /** Of the answer to whoever asks for its results; 400 unless given. */
  readonly status?: number
}

export interface StoredJob {
  readonly id: string
  readonly dryRun: boolean
  readonly answer?: Answer
  readonly error?: JobError
}

const referenceOf = (jobId: string) => ({ projectId: 'local', jobId, location: 'US' })

export function jobOf({ id, error, dryRun }: StoredJob): object {
  const wrong = error && { reason: error.reason, message: error.message }
  return {
    kind: 'bigquery#job',
    id: `local:US.${id}`,
    jobReference: referenceOf(id),
    configuration: { jobType: 'QUERY', dryRun },
    status: { state: 'DONE', ...(wrong ? { errorResult: wrong, errors: [wrong] } : {}) },
    statistics: { totalBytesProcessed: '1024', query: { totalBytesProcessed: '1024', statementType: 'SELECT' } },
  }
}

export function resultsOf({ id, answer, error }: StoredJob): object {
  const { fields = [], rows = [] } = answer ?? {}
  return {
    kind: 'bigquery#queryResponse',
    jobReference: referenceOf(id),
    jobComplete: !error,
    schema: { fields: fields.map(({ name, type }) => ({ name, type, mode: 'NULLABLE' })) },
    totalRows: String(rows.length),
    rows: rows.map((row) => ({
      f: fields.map(({ name }) => {
        const value = row[name] ?? null
        return { v: value === null ? null : String(value) }
      }),
    })),
  }
}

/** Past this a request is no query. */
const BODY_MAX = 1_000_000

export async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) {
    text += String(chunk)
    if (text.length > BODY_MAX) break
  }
  return text
}
