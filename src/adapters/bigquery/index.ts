/**
 * The face of the BigQuery adapter: `reprise/bigquery`.
 */
export { queryFailure } from './query-failure.ts'
export { type BigQueryClient, type BigQueryOptions, withReprise } from './with-reprise.ts'
