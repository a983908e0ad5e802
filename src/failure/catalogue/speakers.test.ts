/**
 * Words of one vendor in another's mouth: a rule must not answer for somebody who only happens to use its words.
 * And the other way round: shapes in which a vendor speaks without naming itself.
 */
import { checkCases, type Row } from './check-cases.ts'

const infrastructure = { layer: 'infrastructure' } as const
const workflow = { layer: 'workflow' } as const

const LOOKALIKES: Row[] = [
  [
    'a column that Firestore also has',
    {
      name: 'ApiError',
      code: 400,
      message: 'Unrecognized name: update_time at [3:12]',
      errors: [{ reason: 'invalidQuery' }],
    },
    'final',
    { code: 'bigquery.invalidQuery' },
  ],
  [
    'a column that TLS also complains about',
    { code: 400, message: 'Unrecognized name: total at [1:8]', errors: [{ reason: 'invalidQuery' }] },
    'final',
    workflow,
  ],
  [
    'a table that exists, on a server in Amazon’s cloud',
    {
      name: 'error',
      severity: 'ERROR',
      code: '42P07',
      message: 'relation "orders" already exists',
      detail: 'at db.eu.rds.amazonaws.com',
    },
    'final',
    { code: 'pg.42P07' },
  ],
  ['a login that is no Redis', { status: 401, message: 'Authentication required' }, 'final', workflow],
  ['a web server that shouts like a broker', { message: '404 NOT FOUND' }, 'final', workflow],
  ['a chat channel', { status: 404, message: 'Channel was not found' }, 'final', workflow],
  [
    'five digits that are no SQLSTATE',
    { status: 400, code: '40001', message: 'parameter "page" is invalid' },
    'final',
    workflow,
  ],
  ['five digits alone are taken for one', { code: '40001' }, 'transient', { code: 'pg.40001' }],
  [
    'a broker’s precondition is no etag',
    {
      message:
        'Operation failed: BasicConsume; 406 (PRECONDITION-FAILED) with message "PRECONDITION_FAILED - consumer already set"',
    },
    'final',
    { code: 'amqp.406' },
  ],
  [
    'an answer nobody named, with a status',
    { name: 'UnknownError', message: 'UnknownError', $fault: 'client', $metadata: { httpStatusCode: 403 } },
    'final',
    workflow,
  ],
  [
    'an answer nobody named, without one',
    { name: 'UnknownError', message: 'UnknownError' },
    'transient',
    infrastructure,
  ],
  [
    'an address that is none',
    { name: 'TypeError', code: 'ERR_INVALID_URL', message: 'Failed to parse URL from undefined/v1' },
    'final',
    workflow,
  ],
]

const SHAPES: Row[] = [
  [
    'an index made before',
    { name: 'LibsqlError', code: 'SQLITE_UNKNOWN', message: 'SQLite error: index a_idx already exists' },
    'final',
    workflow,
  ],
  [
    'a key taken, told by its detail alone',
    { name: 'QueryFailedError', detail: 'Key (email)=(x) already exists.' },
    'conflict',
  ],
  [
    'a caller’s mistake with Mongoose',
    { name: 'MongooseError', message: 'Query was already executed: find()' },
    'final',
    workflow,
  ],
  [
    'Mongoose waits for a connection',
    { name: 'MongooseError', message: 'Operation `a.find()` buffering timed out after 10000ms' },
    'transient',
  ],
  [
    'the pause the second AWS SDK would make is not told',
    {
      code: 'Throttling',
      message: 'Rate exceeded',
      statusCode: 400,
      retryable: true,
      retryDelay: 63.2,
      requestId: 'r',
      time: '2024-05-06T07:08:09Z',
    },
    'rate_limited',
  ],
  [
    'a model that calls its error retryable',
    { name: 'BusyException', message: 'busy', $metadata: { httpStatusCode: 400 }, $retryable: { throttling: true } },
    'rate_limited',
  ],
  [
    'Cosmos DB as MongoDB, delay in words',
    {
      name: 'MongoServerError',
      code: 16500,
      message: "Error=16500, RetryAfterMs=350, Details='TooManyRequests (429)'",
    },
    'rate_limited',
    { delay: 350 },
  ],
  [
    'rows BigQuery did not take',
    {
      kind: 'bigquery#tableDataInsertAllResponse',
      insertErrors: [
        { index: 0, errors: [{ reason: 'stopped', message: '' }] },
        { index: 1, errors: [{ reason: 'invalid', message: 'no such field: a.' }] },
      ],
    },
    'final',
    workflow,
  ],
  [
    'Firebase puts its product before the status',
    { name: 'FirebaseError', code: 'functions/resource-exhausted', message: 'slow' },
    'rate_limited',
  ],
  ['Firebase, callable', { name: 'FirebaseError', code: 'functions/unavailable', message: 'gone' }, 'transient'],
  ['Firebase, wrong name', { name: 'FirebaseError', code: 'functions/not-found', message: 'none' }, 'final', workflow],
  [
    'a device that left',
    { errorInfo: { code: 'messaging/registration-token-not-registered', message: 'none' }, codePrefix: 'messaging' },
    'final',
    workflow,
  ],
  [
    'Bun’s PostgreSQL keeps the SQLSTATE in errno',
    { name: 'PostgresError', code: 'ERR_POSTGRES_SERVER_ERROR', errno: '23505', message: 'taken' },
    'conflict',
    { code: 'pg.23505' },
  ],
  [
    'Bun’s PostgreSQL, connection',
    { name: 'PostgresError', code: 'ERR_POSTGRES_CONNECTION_CLOSED', message: 'Connection closed' },
    'transient',
  ],
  ['Neon', { name: 'NeonDbError', code: '40P01', message: 'deadlock' }, 'transient'],
  [
    'a Prisma driver adapter',
    {
      name: 'DriverAdapterError',
      message: 'UniqueConstraintViolation',
      cause: { originalCode: '23505', originalMessage: 'taken' },
    },
    'conflict',
  ],
  [
    'Prisma, raw query',
    {
      name: 'PrismaClientKnownRequestError',
      code: 'P2010',
      message: 'Raw query failed. Code: `40001`.',
      meta: { code: '40001', message: 'try again' },
    },
    'transient',
    { code: 'pg.40001' },
  ],
  [
    'Prisma, environment',
    { name: 'PrismaClientInitializationError', message: 'error: Environment variable not found: DATABASE_URL.' },
    'final',
    infrastructure,
  ],
  [
    'PostgREST, no row',
    { code: 'PGRST116', details: 'The result contains 0 rows', hint: null, message: 'Cannot coerce the result' },
    'final',
    workflow,
  ],
  [
    'PostgREST, database away',
    { code: 'PGRST002', details: null, hint: null, message: 'no schema cache' },
    'transient',
  ],
  ['PostgREST, old token', { code: 'PGRST301', details: null, hint: null, message: 'JWT expired' }, 'final', workflow],
  [
    'SQL Server, a number that is not listed',
    { name: 'RequestError', code: 'EREQUEST', number: 8999, message: 'odd' },
    'final',
    workflow,
  ],
  [
    'libSQL, extended number',
    { name: 'LibsqlError', code: 'SQLITE_CONSTRAINT', rawCode: 2067, message: 'constraint failed' },
    'conflict',
  ],
  [
    'a foreign server away',
    { name: 'error', severity: 'ERROR', code: 'HV00N', message: 'could not connect to server "far"' },
    'transient',
  ],
  ['a region nobody set', new Error('Region is missing'), 'final', workflow],
]

checkCases({ lookalikes: LOOKALIKES, shapes: SHAPES })
