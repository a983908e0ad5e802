/**
 * MongoDB, RabbitMQ and Redis, in the shapes their drivers give their errors.
 * Each row is one thrown value and the verdict it must get.
 */
import { checkCases, type Row } from './check-cases.ts'

const infrastructure = { layer: 'infrastructure' } as const

const MONGODB: Row[] = [
  [
    'duplicate key',
    {
      name: 'MongoServerError',
      code: 11000,
      message: 'E11000 duplicate key error collection: a.b index: _id_ dup key: { _id: 1 }',
    },
    'conflict',
    { code: 'mongodb.DuplicateKey' },
  ],
  [
    'duplicate in bulk',
    {
      name: 'MongoBulkWriteError',
      code: 11000,
      writeErrors: [{ err: { code: 11000, errmsg: 'E11000 duplicate key error' } }],
      message: 'E11000 duplicate key error',
    },
    'conflict',
  ],
  [
    'write conflict',
    {
      name: 'MongoServerError',
      code: 112,
      codeName: 'WriteConflict',
      errorLabels: ['TransientTransactionError'],
      message: 'WriteConflict error: this operation conflicted with another operation.',
    },
    'transient',
    { code: 'mongodb.WriteConflict' },
  ],
  [
    'label only',
    { name: 'MongoServerError', code: 99999, errorLabels: ['TransientTransactionError'], message: 'odd' },
    'transient',
  ],
  [
    'unknown commit',
    { name: 'MongoServerError', errorLabels: ['UnknownTransactionCommitResult'], message: 'odd' },
    'transient',
  ],
  [
    'labels in a set',
    Object.assign(new Error('odd'), { name: 'MongoNetworkError', errorLabelSet: new Set(['RetryableWriteError']) }),
    'transient',
  ],
  [
    'selection',
    {
      name: 'MongoServerSelectionError',
      message: 'Server selection timed out after 30000 ms',
      reason: { type: 'ReplicaSetNoPrimary' },
    },
    'transient',
  ],
  [
    'pool cleared',
    {
      name: 'MongoPoolClearedError',
      message: 'Connection pool for host:27017 was cleared because another operation failed',
    },
    'transient',
  ],
  ['network', { name: 'MongoNetworkError', message: 'connection 5 to 10.0.0.1:27017 closed' }, 'transient'],
  [
    'not primary',
    { name: 'MongoServerError', code: 10107, codeName: 'NotWritablePrimary', message: 'not primary' },
    'transient',
  ],
  [
    'stepped down',
    { code: 189, codeName: 'PrimarySteppedDown', ok: 0, errmsg: 'Not primary so we cannot begin' },
    'transient',
  ],
  [
    'bad auth',
    { name: 'MongoServerError', code: 8000, codeName: 'AtlasError', message: 'bad auth : Authentication failed.' },
    'final',
    infrastructure,
  ],
  [
    'auth 18',
    { name: 'MongoServerError', code: 18, codeName: 'AuthenticationFailed', message: 'Authentication failed.' },
    'final',
    infrastructure,
  ],
  [
    'unauthorized',
    {
      name: 'MongoServerError',
      code: 13,
      codeName: 'Unauthorized',
      message: 'not authorized on admin to execute command',
    },
    'final',
  ],
  [
    'validation',
    {
      name: 'MongoServerError',
      code: 121,
      codeName: 'DocumentValidationFailure',
      message: 'Document failed validation',
    },
    'final',
  ],
  [
    'bad value',
    { name: 'MongoServerError', code: 2, codeName: 'BadValue', message: 'unknown operator: $foo' },
    'final',
  ],
  [
    'time limit',
    { name: 'MongoServerError', code: 50, codeName: 'MaxTimeMSExpired', message: 'operation exceeded time limit' },
    'transient',
  ],
  [
    'cursor gone',
    { name: 'MongoServerError', code: 43, codeName: 'CursorNotFound', message: 'cursor id 123 not found' },
    'transient',
  ],
  [
    'mongoose buffer',
    { name: 'MongooseError', message: 'Operation `users.findOne()` buffering timed out after 10000ms' },
    'transient',
  ],
  [
    'mongoose cast',
    { name: 'CastError', message: 'Cast to ObjectId failed for value "x" (type string) at path "_id"' },
    'final',
  ],
  [
    'mongoose version',
    { name: 'VersionError', message: 'No matching document found for id "1" version 3 modifiedPaths "a"' },
    'conflict',
  ],
  [
    'SRV',
    { code: 'ENOTFOUND', syscall: 'querySrv', message: 'querySrv ENOTFOUND _mongodb._tcp.cluster0.mongodb.net' },
    'transient',
  ],
]

const AMQP: Row[] = [
  [
    'inequivalent',
    {
      code: 406,
      classId: 50,
      methodId: 10,
      message:
        "Channel closed by server: 406 (PRECONDITION-FAILED) with message \"PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'q' in vhost '/': received 'true' but current is 'false'\"",
    },
    'final',
    infrastructure,
  ],
  [
    'no queue',
    {
      code: 404,
      message: "Operation failed: QueueDeclare; 404 (NOT-FOUND) with message \"NOT_FOUND - no queue 'q' in vhost '/'\"",
    },
    'final',
    infrastructure,
  ],
  [
    'no exchange, words only',
    "Channel closed by server: 404 (NOT-FOUND) with message \"NOT_FOUND - no exchange 'x' in vhost '/'\"",
    'final',
    infrastructure,
  ],
  [
    'forced',
    {
      code: 320,
      message:
        'Connection closed: 320 (CONNECTION-FORCED) with message "CONNECTION_FORCED - broker forced connection closure with reason \'shutdown\'"',
    },
    'transient',
  ],
  [
    'access refused',
    'Handshake terminated by server: 403 (ACCESS-REFUSED) with message "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN."',
    'final',
    infrastructure,
  ],
  [
    'locked',
    {
      code: 405,
      message:
        'Operation failed: QueueDeclare; 405 (RESOURCE-LOCKED) with message "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue \'q\'"',
    },
    'transient',
  ],
  ['heartbeat', { message: 'Heartbeat timeout' }, 'transient'],
  ['channel closed', { name: 'IllegalOperationError', message: 'Channel closed' }, 'transient'],
  [
    'ack timeout',
    {
      code: 406,
      message:
        'Channel closed by server: 406 (PRECONDITION-FAILED) with message "PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: 1800000 ms."',
    },
    'transient',
  ],
  ['opening handshake', { message: 'Socket closed abruptly during opening handshake' }, 'transient'],
  ['vhost', 'Connection closed: 530 (NOT-ALLOWED) with message "NOT_ALLOWED - vhost foo not found"', 'final'],
  [
    'unknown tag',
    {
      code: 406,
      message:
        'Channel closed by server: 406 (PRECONDITION-FAILED) with message "PRECONDITION_FAILED - unknown delivery tag 1"',
    },
    'final',
  ],
  ['refused port', { code: 'ECONNREFUSED', message: 'connect ECONNREFUSED 127.0.0.1:5672', port: 5672 }, 'transient'],
  ['internal', 'Connection closed: 541 (INTERNAL-ERROR) with message "INTERNAL_ERROR"', 'transient'],
]

const REDIS: Row[] = [
  ['loading', { name: 'ReplyError', message: 'LOADING Redis is loading the dataset in memory' }, 'transient'],
  [
    'read-only replica',
    { name: 'ReplyError', message: "READONLY You can't write against a read only replica." },
    'transient',
  ],
  ['cluster down', { name: 'ReplyError', message: 'CLUSTERDOWN Hash slot not served' }, 'transient'],
  [
    'try again',
    { name: 'ReplyError', message: 'TRYAGAIN Multiple keys request during rehashing of slot' },
    'transient',
  ],
  [
    'script busy',
    {
      name: 'ReplyError',
      message: 'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.',
    },
    'transient',
  ],
  [
    'wrong type',
    { name: 'ReplyError', message: 'WRONGTYPE Operation against a key holding the wrong kind of value' },
    'final',
  ],
  ['no auth', { name: 'ReplyError', message: 'NOAUTH Authentication required.' }, 'final', infrastructure],
  [
    'wrong password',
    { name: 'ReplyError', message: 'WRONGPASS invalid username-password pair or user is disabled.' },
    'final',
    infrastructure,
  ],
  ['unknown command', { name: 'ReplyError', message: "ERR unknown command 'FOO'" }, 'final'],
  ['cross slot', { name: 'ReplyError', message: "CROSSSLOT Keys in request don't hash to the same slot" }, 'final'],
  [
    'max retries',
    {
      name: 'MaxRetriesPerRequestError',
      message:
        'Reached the max retries per request limit (which is 20). Refer to "maxRetriesPerRequest" option for details.',
    },
    'transient',
  ],
  ['closed', { message: 'Connection is closed.' }, 'transient'],
  ['no script', { name: 'ReplyError', message: 'NOSCRIPT No matching script. Please use EVAL.' }, 'transient'],
  ['stream', { message: "Stream isn't writeable and enableOfflineQueue options is false" }, 'transient'],
  ['group exists', { name: 'ReplyError', message: 'BUSYGROUP Consumer Group name already exists' }, 'conflict'],
  ['slots cache', { name: 'ClusterAllFailedError', message: 'Failed to refresh slots cache.' }, 'transient'],
  ['clients', { name: 'ReplyError', message: 'ERR max number of clients reached' }, 'transient'],
  ['memory', { name: 'ReplyError', message: "OOM command not allowed when used memory > 'maxmemory'." }, 'transient'],
]

/** MongoDB's names are common words; from anyone else they mean what that speaker means. */
const NOT_MONGODB: Row[] = [
  ['Unauthorized', { statusCode: 401, error: 'Unauthorized', message: 'Unauthorized' }, 'final', { layer: 'workflow' }],
  ['ResourceExhausted', { name: 'ResourceExhausted', message: '429 Quota exceeded' }, 'rate_limited'],
  ['BadValue', { code: 'BadValue', message: 'x' }, 'transient', { code: 'unknown' }],
]

checkCases({ mongodb: MONGODB, amqp: AMQP, redis: REDIS, 'not mongodb': NOT_MONGODB })
