/**
 * BigQuery, Firestore and Cloud Storage, in the shapes their documentation and clients give their errors.
 * Each row is one thrown value and the verdict it must get.
 */
import { checkCases, type Row } from './check-cases.ts'

const apiError = (code: number, reason: string, message: string): object => ({
  name: 'ApiError',
  code,
  message,
  errors: [{ domain: 'global', reason, message }],
  response: { statusCode: code },
})

const BIGQUERY_TABLE = `accessDenied 403 final, attributeError 400 final, backendError 503 transient, badRequest 400 final, billingNotEnabled 403 final,
  billingTierLimitExceeded 400 final, blocked 403 final, duplicate 409 conflict, internalError 500 transient, invalid 400 final, invalidQuery 400 final,
  invalidUser 400 final, jobBackendError 400 transient, jobInternalError 400 transient, jobRateLimitExceeded 400 rate_limited, notFound 404 final,
  notImplemented 501 final, proxyAuthenticationRequired 407 final, quotaExceeded 403 rate_limited, rateLimitExceeded 403 rate_limited,
  resourceInUse 400 transient, resourcesExceeded 400 final, responseTooLarge 403 final, stopped 200 interrupted, tableUnavailable 400 transient, timeout 400 final`

const BIGQUERY: Row[] = [
  ...BIGQUERY_TABLE.split(',').map((line): Row => {
    const [reason = '', code = '', kind = ''] = line.trim().split(' ')
    return [
      `reason ${reason}`,
      apiError(Number(code), reason, 'BigQuery says no'),
      kind as Row[2],
      { code: `bigquery.${reason}` },
    ]
  }),
  [
    'rate limit in words',
    {
      name: 'ApiError',
      message:
        'Exceeded rate limits: too many table update operations for this table. For more information, see https://cloud.google.com/bigquery/troubleshooting-errors',
    },
    'rate_limited',
  ],
  [
    'quota in words',
    { name: 'Error', message: 'Quota exceeded: Your project exceeded quota for free query bytes scanned.' },
    'rate_limited',
    { code: 'bigquery.quota.day' },
  ],
  [
    'a quota of the day, which no wait within a call frees',
    apiError(403, 'quotaExceeded', 'Custom quota exceeded: Your usage exceeded the custom quota for QueryUsagePerDay'),
    'rate_limited',
    { code: 'bigquery.quota.day' },
  ],
  [
    'resources in words',
    {
      name: 'ApiError',
      message: 'Resources exceeded during query execution: The query could not be executed in the allotted memory.',
    },
    'final',
  ],
  [
    'bad SQL in words',
    { name: 'ApiError', message: 'Syntax error: Expected end of input but got keyword SELECT at [3:1]' },
    'final',
  ],
  ['unknown column', { name: 'ApiError', message: 'Unrecognized name: foo at [1:8]' }, 'final'],
  [
    'missing table',
    { name: 'ApiError', code: 404, message: 'Not found: Table proj:ds.t was not found in location EU' },
    'final',
  ],
  [
    'access in words',
    {
      name: 'ApiError',
      code: 403,
      message: 'Access Denied: Project p: User does not have bigquery.jobs.create permission in project p.',
    },
    'final',
  ],
  [
    'serialization',
    { name: 'ApiError', message: 'Could not serialize access to table p:d.t due to concurrent update' },
    'transient',
  ],
  [
    'job failed inside',
    { name: 'ApiError', code: 400, message: 'Error encountered during execution. Retrying may solve the problem.' },
    'transient',
  ],
  [
    'retry may help',
    { message: 'The job encountered an error during execution. Retrying the job may solve the problem.' },
    'transient',
  ],
  ['job exists', { code: 409, message: 'Already Exists: Job p:US.abc' }, 'conflict'],
  [
    'streaming buffer',
    {
      code: 400,
      message:
        'UPDATE or DELETE statement over table d.t would affect rows in the streaming buffer, which is not supported',
    },
    'transient',
  ],
  [
    'partial failure',
    {
      name: 'PartialFailureError',
      errors: [{ errors: [{ message: 'no such field: x.', reason: 'invalid' }], row: {} }],
      message: 'A failure occurred during this request.',
    },
    'final',
  ],
]

const FIRESTORE: Row[] = [
  [
    'contention',
    {
      code: 10,
      details: 'Too much contention on these documents. Please try again.',
      message: '10 ABORTED: Too much contention on these documents. Please try again.',
    },
    'transient',
  ],
  [
    'lock timeout',
    { code: 10, details: 'Transaction lock timeout.', message: '10 ABORTED: Transaction lock timeout.' },
    'transient',
  ],
  [
    'unavailable',
    {
      code: 14,
      details: 'The service is temporarily unavailable. Please retry with exponential backoff.',
      message: '14 UNAVAILABLE: The service is temporarily unavailable.',
    },
    'transient',
  ],
  [
    'no connection',
    {
      code: 14,
      details: 'No connection established',
      metadata: {},
      message: '14 UNAVAILABLE: No connection established',
    },
    'transient',
  ],
  [
    'deadline',
    { code: 4, message: '4 DEADLINE_EXCEEDED: Deadline exceeded', details: 'Deadline exceeded' },
    'transient',
  ],
  [
    'internal stream',
    { code: 13, details: 'Received RST_STREAM with code 2', message: '13 INTERNAL: Received RST_STREAM with code 2' },
    'transient',
  ],
  [
    'precondition',
    {
      code: 9,
      details: 'the stored version (1700000000) does not match the required base version (1600000000)',
      message:
        '9 FAILED_PRECONDITION: the stored version (1700000000) does not match the required base version (1600000000)',
    },
    'conflict',
  ],
  [
    'create exists',
    {
      code: 6,
      details: 'Document already exists: projects/p/databases/(default)/documents/a/b',
      message: '6 ALREADY_EXISTS: Document already exists',
    },
    'conflict',
  ],
  [
    'update missing',
    {
      code: 5,
      details: 'No document to update: projects/p/databases/(default)/documents/a/b',
      message: '5 NOT_FOUND: No document to update',
    },
    'final',
  ],
  [
    'index',
    {
      code: 9,
      details: 'The query requires an index. You can create it here: https://console.firebase.google.com/x',
      message: '9 FAILED_PRECONDITION: The query requires an index.',
    },
    'final',
  ],
  [
    'rules',
    { name: 'FirebaseError', code: 'permission-denied', message: 'Missing or insufficient permissions.' },
    'final',
  ],
  ['quota', { code: 8, details: 'Quota exceeded.', message: '8 RESOURCE_EXHAUSTED: Quota exceeded.' }, 'rate_limited'],
  [
    'unauthenticated',
    { code: 16, message: '16 UNAUTHENTICATED: Request had invalid authentication credentials.', details: 'x' },
    'final',
  ],
  [
    'offline',
    { name: 'FirebaseError', code: 'unavailable', message: 'Failed to get document because the client is offline.' },
    'transient',
  ],
  [
    'undefined value',
    {
      message:
        'Value for argument "data" is not a valid Firestore document. Cannot use "undefined" as a Firestore value.',
    },
    'final',
  ],
  [
    'Python aborted',
    'google.api_core.exceptions.Aborted: 409 Too much contention on these documents. Please try again.',
    'transient',
  ],
  [
    'expired transaction',
    {
      code: 3,
      details: 'The referenced transaction has expired or is no longer valid.',
      message: '3 INVALID_ARGUMENT: The referenced transaction has expired or is no longer valid.',
    },
    'transient',
  ],
]

const GCS: Row[] = [
  [
    'object mutation',
    {
      name: 'ApiError',
      code: 429,
      message:
        'The object b/o exceeded the rate limit for object mutation operations (create, update, and delete). Please reduce your request rate.',
    },
    'rate_limited',
  ],
  [
    'a reset whose url names the precondition',
    {
      name: 'FetchError',
      code: 'ECONNRESET',
      message: 'request to http://h/upload/storage/v1/b/b/o?name=a&ifGenerationMatch=0 failed, reason: socket hang up',
    },
    'transient',
  ],
  [
    'precondition',
    apiError(412, 'conditionNotMet', 'At least one of the pre-conditions you specified did not hold.'),
    'conflict',
  ],
  ['backend', apiError(503, 'backendError', 'We encountered an internal error. Please try again.'), 'transient'],
  ['no object', { name: 'ApiError', code: 404, message: 'No such object: bucket/key' }, 'final'],
  [
    'no access',
    {
      name: 'ApiError',
      code: 403,
      message:
        'x@y.iam.gserviceaccount.com does not have storage.objects.create access to the Google Cloud Storage object.',
    },
    'final',
  ],
  [
    'bucket taken',
    { code: 409, message: 'Your previous request to create the named bucket succeeded and you already own it.' },
    'conflict',
  ],
  [
    'token revoked',
    {
      name: 'GaxiosError',
      message: 'invalid_grant',
      response: {
        status: 400,
        data: { error: 'invalid_grant', error_description: 'Token has been expired or revoked.' },
      },
    },
    'final',
  ],
  [
    'no credentials',
    {
      message:
        'Could not load the default credentials. Browse to https://cloud.google.com/docs/authentication/getting-started for more information.',
    },
    'final',
  ],
  [
    'upload cut',
    {
      name: 'FetchError',
      message: 'request to https://storage.googleapis.com/upload/storage/v1/b/x/o failed, reason: socket hang up',
      code: 'ECONNRESET',
    },
    'transient',
  ],
  ['retry limit', { message: 'Retry limit exceeded - Bad Gateway' }, 'transient'],
  ['resumable 410', { code: 410, errors: [{ reason: 'backendError', message: 'x' }], message: 'Gone' }, 'transient'],
  [
    'billing',
    apiError(403, 'accountDisabled', 'The billing account for the owning project is disabled in state absent'),
    'final',
  ],
  ['user rate', apiError(403, 'userRateLimitExceeded', 'User Rate Limit Exceeded'), 'rate_limited'],
  [
    'premature close',
    {
      name: 'FetchError',
      type: 'system',
      code: 'ERR_STREAM_PREMATURE_CLOSE',
      message:
        'Invalid response body while trying to fetch https://www.googleapis.com/oauth2/v4/token: Premature close',
    },
    'transient',
  ],
]

checkCases({ bigquery: BIGQUERY, firestore: FIRESTORE, gcs: GCS })
