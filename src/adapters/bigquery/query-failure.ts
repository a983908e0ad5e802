/**
 * What a failed query means to whoever wrote it. To a client an invalid query is final; to an agent whose model wrote the SQL it is a
 * wrong answer, to be asked for again with the error.
 */
import { type ClassifyOptions, classify } from '../../failure/classify.ts'
import type { Failure } from '../../failure/failure.ts'
import { adviseOn } from './advice.ts'

/** Codes that another query can cure. Permissions, quotas and missing projects are not among them. */
const CURED_BY_ANOTHER_QUERY: ReadonlySet<string> = new Set([
  'bigquery.invalidQuery',
  'bigquery.invalid',
  'bigquery.resourcesExceeded',
  'bigquery.responseTooLarge',
  'bigquery.timeout',
  'bigquery.bytesBilledLimitExceeded',
  'bigquery.billingTierLimitExceeded',
])

/** A name that the model made up: the table is missing, while the dataset around it is not. */
const MADE_UP = /not found: table|no such (?:table|column)/i

/**
 * Classifies a failed query for an agent that writes its SQL: what another query can cure is `semantic`, everything else stays as it is.
 * @example withReprise(execute, { name: 'execute', classify: queryFailure })
 */
export function queryFailure(thrown: unknown, options: ClassifyOptions = {}): Failure {
  const found = adviseOn(classify(thrown, options))
  if (found.layer === 'infrastructure') return found
  const isMadeUp = found.kind === 'final' && MADE_UP.test(found.message)
  if (!CURED_BY_ANOTHER_QUERY.has(found.code) && !isMadeUp) return found
  return { ...found, kind: 'semantic', layer: 'workflow' }
}
