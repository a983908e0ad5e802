/**
 * BigQuery: the complete documented error table, by `reason`, and the sentences of jobs that are too big.
 * A short-term quota is a rate limit; a query that is too heavy fails again as it stands, so it belongs to the workflow.
 */
import { type Case, type Family, phrases, RANK } from '../rule.ts'

const reason = (name: string, kind: Case['kind'], advice: string, more: Partial<Case> = {}): Case => ({
  code: `bigquery.${name}`,
  kind,
  advice,
  tokens: [name],
  ...more,
})
const WAIT = 'Wait a little and try again with growing delays.'
const QUERY = 'Correct the query or the job’s settings.'
const HEAVY =
  'Make the query smaller: less data, fewer joins and subqueries, no global ORDER BY, or stage the result in tables.'

export const bigquery: Family = {
  name: 'bigquery',
  marks: {
    bigquery: [
      'bigquery',
      'bq',
      '=invalidQuery',
      '=jobBackendError',
      '=resourcesExceeded',
      'job exceeded',
      'query exceeded',
      'dataset',
      '=bigquery.googleapis.com',
      '=PartialFailureError',
      '=global',
    ],
  },
  cases: [
    reason('accessDenied', 'final', 'Grant the account access to the dataset, table, view or job.', {
      says: phrases(`
        access denied table, access denied project, access denied dataset, access denied bigquery, does not have
        bigquery
      `),
    }),
    reason('attributeError', 'final', 'Correct the user code: an attribute does not exist.'),
    reason('backendError', 'transient', WAIT),
    reason('badRequest', 'final', QUERY, { rank: RANK.vague + 3 }),
    reason('billingNotEnabled', 'final', 'Enable billing for the project.', { says: ['billing has not been enabled'] }),
    reason('billingTierLimitExceeded', 'final', 'Raise the maximum billing tier or make the query cheaper.'),
    reason('blocked', 'final', 'BigQuery has put this project or operation on its deny list; contact support.', {
      only: ['bigquery'],
    }),
    reason('duplicate', 'conflict', 'Nothing: the job, dataset or table exists already; use it.', {
      says: ['already exists job', 'already exists table', 'already exists dataset'],
      rank: RANK.code,
    }),
    reason('internalError', 'transient', WAIT),
    reason('invalid', 'final', QUERY, { rank: RANK.vague + 4 }),
    reason('invalidQuery', 'final', 'Correct the SQL; the message names the place.', {
      says: phrases(`
        syntax error expected, syntax error unexpected, unrecognized name, no matching signature for, not found
        inside, cannot query over table, duplicate column, aggregate function .. not allowed, group by, must be
        aggregated, query error, syntax error missing whitespace
      `),
    }),
    reason('invalidUser', 'final', 'Correct the user or service account of the job.'),
    reason('jobBackendError', 'transient', 'The job failed on the server: start it again with a new job id.'),
    reason('jobInternalError', 'transient', 'The job failed on the server: start it again with a new job id.'),
    reason('jobRateLimitExceeded', 'rate_limited', 'Wait and start the job again; fewer jobs at once help.'),
    reason('notFound', 'final', 'Check project, dataset, table, job and location: nothing is there.', {
      says: phrases(`
        not found table, not found dataset, not found job, not found project, was not found in location
      `),
    }),
    reason('notImplemented', 'final', 'BigQuery does not offer this.'),
    reason('proxyAuthenticationRequired', 'final', 'Give the proxy its credentials.', { layer: 'infrastructure' }),
    reason(
      'quotaExceeded',
      'rate_limited',
      'Look which quota it names: wait for its window, lower the pace, or ask for more.',
      {
        told: 'bigquery.quotaExceeded',
        says: phrases(`
          exceeded quota for, quota exceeded your, your project exceeded quota, your table exceeded quota, your
          user exceeded quota, exceeded its quota
        `),
        rank: RANK.code - 1,
      },
    ),
    reason(
      'rateLimitExceeded',
      'rate_limited',
      'Wait with growing delays; fewer requests, table updates or jobs at once help.',
      {
        says: phrases(`
          exceeded rate limits, job exceeded rate limits, too many table update operations, too many api requests
          per user, too many concurrent queries, exceeded rate limits too many
        `),
      },
    ),
    reason('userRateLimitExceeded', 'rate_limited', 'Wait with growing delays; this user or key sends too fast.'),
    reason('dailyLimitExceeded', 'rate_limited', 'The day’s limit is used up; wait for the reset or ask for more.'),
    reason('concurrentLimitExceeded', 'rate_limited', 'Run fewer at once.'),
    reason('resourceInUse', 'transient', 'Another job uses the resource; try again when it is done.'),
    reason('resourcesExceeded', 'final', HEAVY, {
      says: phrases(`
        resources exceeded during query execution, not enough resources for query planning, query is too complex,
        resources exceeded, query exceeded resource limits, too many subqueries, could not be executed in the
        allotted memory, shuffle .. exceeded, exceeded limit for memory, query too large, query is too large,
        request payload size exceeds, exceeded the maximum .. query length, query exceeds, query string .. too
        long, limit for bytes billed
      `),
      rank: RANK.code + 2,
    }),
    reason('responseTooLarge', 'final', 'Write the result to a destination table, or select less.', {
      says: ['response too large to return', 'results too large', 'response too large'],
      rank: RANK.code + 1,
    }),
    reason('stopped', 'interrupted', 'The job was cancelled; start it again if it was not meant.', {
      // Beside rows that were invalid it says only that the others were not written because of them.
      rank: RANK.vague + 3,
      says: ['job execution was cancelled', 'stopped by user'],
      only: ['bigquery'],
    }),
    reason('tableUnavailable', 'transient', 'A table is being worked on; try again.'),
    reason('timeout', 'final', 'The job ran into its time limit: make it smaller or raise jobTimeoutMs.', {
      only: ['bigquery'],
      says: ['operation timed out after', 'job timed out after', 'query job timed out'],
      tokens: ['timeout', 'timeoutExceeded'],
    }),
    reason('bytesBilledLimitExceeded', 'final', 'Raise maximumBytesBilled or scan less.'),
    reason('required', 'final', QUERY, { rank: RANK.name }),
    reason('invalidParameter', 'final', QUERY),
    reason('parseError', 'final', QUERY, { only: ['google'] }),
    reason('authError', 'final', 'Renew the credential.'),
    reason('insufficientPermissions', 'final', 'Grant the scope or role that the message names.'),
    reason('accessNotConfigured', 'final', 'Enable the API in the project.'),
    {
      // A quota of a day or a month: seconds of waiting free nothing, so a call ends at once and a stored run looks again later.
      code: 'bigquery.quota.day',
      kind: 'rate_limited',
      advice:
        'A quota of the day or month is used up: wait for its window, scan less, or have it raised by whoever set it.',
      says: phrases(`
        exceeded the custom quota for queryusageperday, exceeded the custom quota for queryusageperuserperday, custom
        quota exceeded, exceeded quota for free query bytes scanned, free query bytes scanned
      `),
      rank: RANK.code + 1,
    },
    {
      code: 'bigquery.streamingBuffer',
      kind: 'transient',
      advice:
        'Rows just streamed in cannot be changed yet; try again when the streaming buffer is flushed (up to 90 minutes).',
      says: ['rows in the streaming buffer', 'streaming buffer'],
      rank: RANK.code + 1,
    },
    {
      code: 'bigquery.serialize',
      kind: 'transient',
      advice: 'Two statements changed the table at once; run it again.',
      says: phrases(`
        could not serialize access to table, transaction is aborted due to concurrent update, concurrent update
      `),
      rank: RANK.code + 1,
    },
    {
      code: 'bigquery.transient',
      kind: 'transient',
      advice: WAIT,
      says: phrases(`
        retrying the job may solve the problem, retrying may solve the problem, the job encountered an error
        during execution, encountered an error during execution
      `),
      rank: RANK.code,
    },
    {
      code: 'bigquery.rows',
      kind: 'final',
      advice: 'Correct the rows that the errors name; the rest may have been written.',
      names: ['PartialFailureError'],
      says: phrases(`
        failure occurred during this request, no such field, invalid project id, could not convert value, invalid
        schema update, provided schema does not match, error while reading data, cannot add required fields, too
        many errors encountered, could not parse .. as
      `),
      rank: RANK.says - 2,
    },
  ],
}
