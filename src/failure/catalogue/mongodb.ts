/**
 * MongoDB: server errors by number and name, the driver's classes, and the labels that say what may be retried.
 * A write conflict is contention and passes; a duplicate key means someone was first. Names such as `Unauthorized` count only when MongoDB speaks.
 */
import { type Family, phrases, RANK, rows, words } from '../rule.ts'

const AGAIN = 'Try again; the driver finds the new primary or a fresh connection.'
const TRANSACTION = 'Run the whole transaction again.'
const FIX = 'Correct the command, index or document; the same one is rejected again.'
const ACCESS = 'Check user, password, authSource and roles.'

export const mongodb: Family = {
  name: 'mongodb',
  marks: { mongodb: ['Mongo*', 'mongo:*', 'mongodb', 'mongo', 'mongoose', 'mongos', 'replica set'] },
  cases: [
    {
      code: 'mongodb.TransientTransactionError',
      kind: 'transient',
      advice: TRANSACTION,
      tokens: ['TransientTransactionError'],
      rank: RANK.code - 2,
    },
    {
      code: 'mongodb.UnknownTransactionCommitResult',
      kind: 'transient',
      advice: 'Send the commit again: it is safe to repeat.',
      tokens: ['UnknownTransactionCommitResult'],
      rank: RANK.code - 2,
    },
    {
      code: 'mongodb.RetryableWriteError',
      kind: 'transient',
      advice: 'Send the write once more with the same transaction number.',
      tokens: words(`
        RetryableWriteError RetryableError ResumableChangeStreamError NoWritesPerformed
      `),
      rank: RANK.code - 3,
    },
    {
      code: 'mongodb.SystemOverloadedError',
      kind: 'rate_limited',
      advice: 'The server sheds load: wait with growing delays.',
      tokens: words(`
        SystemOverloadedError IngressRequestRateLimitExceeded mongo:462 AdmissionQueueOverflow mongo:433 mongo:449
        PooledConnectionAcquisitionRejected mongo:450
      `),
      rank: RANK.code - 1,
    },
    {
      code: 'mongodb.DuplicateKey',
      kind: 'conflict',
      advice: 'Nothing: a document with this key exists already.',
      tokens: words(`
        DuplicateKey mongo:11000 mongo:11001 mongo:12582 E11000 number:11000
      `),
      says: ['E11000 duplicate key', 'e11000', 'duplicate key error collection'],
      rank: RANK.code + 2,
    },
    ...rows(
      'mongodb',
      { kind: 'transient', advice: TRANSACTION, only: ['mongodb'] },
      [
        'WriteConflict 112',
        'NoSuchTransaction 251',
        'LockTimeout 24',
        'SnapshotUnavailable 246',
        'SnapshotTooOld 239',
        'LockBusy 46',
        'LockFailed 107',
        'PreparedTransactionInProgress 267',
        'TransactionCoordinatorSteppingDown 281',
        'TransactionCoordinatorReachedAbortDecision 282',
        'TransactionExceededLifetimeLimitSeconds 290',
        'TemporarilyUnavailable 365',
        'ConflictingOperationInProgress 117',
      ],
      'mongo',
    ),
    ...rows(
      'mongodb',
      { kind: 'transient', advice: AGAIN, only: ['mongodb'] },
      [
        'HostUnreachable 6',
        'HostNotFound 7',
        'NetworkTimeout 89',
        'ShutdownInProgress 91',
        'PrimarySteppedDown 189',
        'ExceededTimeLimit 262',
        'SocketException 9001',
        'NotWritablePrimary 10107',
        'InterruptedAtShutdown 11600',
        'InterruptedDueToReplStateChange 11602',
        'NotPrimaryNoSecondaryOk 13435',
        'NotPrimaryOrSecondary 13436',
        'NotMaster',
        'NotMasterNoSlaveOk',
        'NotMasterOrSecondary',
        'LegacyNotPrimary 10058',
        'StaleShardVersion 63',
        'StaleEpoch 150',
        'StaleConfig 13388',
        'StaleDbVersion 249',
        'RetryChangeStream 234',
        'FailedToSatisfyReadPreference 133',
        'ReadConcernMajorityNotAvailableYet 134',
        'ElectionInProgress 216',
        'Interrupted 11601',
        'CursorNotFound 43',
        'CursorKilled 237',
        'CappedPositionLost 136',
        'NotYetInitialized 94',
        'NetworkInterfaceExceededTimeLimit 202',
        'PooledConnectionsDropped 145',
        'PooledConnectionAcquisitionExceededTimeLimit 407',
        'WriteConcernTimeout 64',
        'WriteConcernFailed',
        'BalancerInterrupted 194',
        'InterruptedDueToStorageChange 355',
        'InterruptedDueToReshardingCriticalSection 453',
        'ResourceExhausted 402',
        'MigrationConflict 272',
        'StaleChunkHistory 250',
        'RetriableRemoteCommandFailure 91331',
        'ConnectionPoolExpired 317',
        'ShardNotFound 70',
        'ClientDisconnect 279',
        'QueryPlanKilled 175',
        'ConfigurationInProgress 109',
        'InternalError 1',
        'UnknownError 8',
        'OperationFailed 96',
      ],
      'mongo',
    ),
    ...rows(
      'mongodb',
      {
        kind: 'transient',
        advice: 'Add an index or raise maxTimeMS; it may pass when the load does.',
        only: ['mongodb'],
      },
      ['MaxTimeMSExpired 50'],
      'mongo',
    ),
    ...rows(
      'mongodb',
      { kind: 'final', layer: 'infrastructure', advice: ACCESS, only: ['mongodb'], rank: RANK.code + 1 },
      [
        'AuthenticationFailed 18',
        'Unauthorized 13',
        'UserNotFound 11',
        'RoleNotFound 31',
        'UnauthorizedServerless 8000',
        'AuthenticationRestrictionUnmet 214',
        'ReauthenticationRequired 391',
        'AtlasError 8000',
      ],
      'mongo',
    ),
    ...rows(
      'mongodb',
      { kind: 'final', advice: FIX, only: ['mongodb'] },
      [
        'BadValue 2',
        'NoSuchKey 4',
        'FailedToParse 9',
        'UnsupportedFormat 12',
        'TypeMismatch 14',
        'Overflow 15',
        'InvalidLength 16',
        'IllegalOperation 20',
        'EmptyArrayOperation 21',
        'InvalidBSON 22',
        'AlreadyInitialized 23',
        'NamespaceNotFound 26',
        'IndexNotFound 27',
        'PathNotViable 28',
        'ConflictingUpdateOperators 40',
        'DollarPrefixedFieldName 52',
        'InvalidIdField 53',
        'InvalidDBRef 55',
        'EmptyFieldName 56',
        'DottedFieldName 57',
        'CommandNotFound 59',
        'ImmutableField 66',
        'CannotCreateIndex 67',
        'InvalidOptions 72',
        'InvalidNamespace 73',
        'UnknownReplWriteConcern 79',
        'IndexOptionsConflict 85',
        'IndexKeySpecsConflict 86',
        'UnsatisfiableWriteConcern 100',
        'OutOfDiskSpace 14031',
        'CannotImplicitlyCreateCollection 227',
        'DocumentValidationFailure 121',
        'NotAReplicaSet 123',
        'CommandNotSupported 115',
        'CommandFailed 125',
        'ReadConcernMajorityNotEnabled 148',
        'CommandNotSupportedOnView 166',
        'InvalidPipelineOperator 168',
        'InvalidViewDefinition 182',
        'InvalidIndexSpecificationOption 197',
        'InvalidUUID 207',
        'QueryFeatureNotAllowed 224',
        'TransactionTooOld 225',
        'OperationNotSupportedInTransaction 263',
        'TransactionTooLarge 257',
        'QueryExceededMemoryLimitNoDiskUseAllowed 292',
        'NotExactValueField 111',
        'BSONObjectTooLarge 10334',
        'KeyTooLong 17280',
        'IDLFailedToParse 40414',
        'IDLUnknownField 40415',
        'IncompleteTransactionHistory 217',
        'UnsupportedOpQueryCommand 352',
        'APIVersionError 322',
        'APIStrictError 323',
        'ProtocolError 17',
        'CannotBackfillArray 34',
        'ConversionFailure 241',
        'Location40324 40324',
        'Location16872 16872',
        'Location51108 51108',
      ],
      'mongo',
    ),
    ...rows(
      'mongodb',
      { kind: 'conflict', advice: 'Nothing: it exists already or was changed by another.', only: ['mongodb'] },
      ['NamespaceExists 48', 'IndexAlreadyExists 68'],
      'mongo',
    ),
    {
      code: 'mongodb.authentication',
      kind: 'final',
      layer: 'infrastructure',
      advice: ACCESS,
      says: phrases(`
        authentication failed, bad auth, auth failed, not authorized on, command .. requires authentication, auth
        required, sasl authentication, mechanism .. authentication, user is not allowed to do action
      `),
      only: ['mongodb'],
      rank: RANK.code + 3,
    },
    {
      code: 'mongodb.network',
      kind: 'transient',
      advice: AGAIN,
      names: words(`
        MongoNetworkError MongoNetworkTimeoutError MongoServerSelectionError MongooseServerSelectionError
        MongoPoolClearedError PoolClearedError MongoPoolClosedError MongoTopologyClosedError
        MongoWaitQueueTimeoutError WaitQueueTimeoutError MongoTimeoutError MongoNotConnectedError
        MongoCursorExhaustedError PoolClosedError MongoOperationTimeoutError MongoServerClosedError
        MongoStalePrimaryError PoolClearedOnNetworkError MongoClientClosedError MongoUnexpectedServerResponseError
        DisconnectedError MongooseTimeoutError
      `),
      says: phrases(`
        server selection timed out, connection pool .. cleared, topology was destroyed, topology is closed, pool
        destroyed, no primary found, not primary, not master, node is recovering, interrupted at shutdown,
        buffering timed out, replicasetnoprimary, no primary available, wait queue, could not connect to any
        servers, connection .. to .. timed out, connection .. closed, client must be connected, pool was cleared
      `),
      rank: RANK.name + 6,
    },
    {
      code: 'mongodb.write-conflict',
      kind: 'transient',
      advice: TRANSACTION,
      says: phrases(`
        write conflict, writeconflict, unable to acquire .. lock, please retry your operation or multi document
        transaction, has been aborted, transaction .. has been aborted, lock timeout
      `),
      only: ['mongodb'],
      rank: RANK.says,
    },
    {
      code: 'mongodb.validation',
      kind: 'final',
      advice: 'Correct the document: it does not fit its model.',
      names: ['ValidatorError'],
      says: ['path .. is required', 'not a valid enum value for path', 'cast to .. failed for value'],
      rank: RANK.says + 1,
    },
    {
      code: 'mongodb.memory',
      kind: 'final',
      advice: 'Add an index for the sort, select less, or allow disk use.',
      says: ['exceeded memory limit', 'used more than the maximum', 'ram limit'],
      only: ['mongodb'],
      rank: RANK.code + 3,
    },
    {
      code: 'mongodb.version',
      kind: 'conflict',
      advice: 'Nothing: another writer changed the document; load it again.',
      names: ['VersionError'],
      says: ['no matching document found for id'],
      rank: RANK.code,
    },
    {
      code: 'mongodb.request',
      kind: 'final',
      advice: FIX,
      names: words(`
        MongoParseError MongoInvalidArgumentError MongoMissingDependencyError MongoCompatibilityError
        MongoAPIError MongoTransactionError MongoDriverError BSONError BSONTypeError CastError StrictModeError
        OverwriteModelError MissingSchemaError DivergentArrayError ParallelSaveError MongoBatchReExecutionError
        DocumentNotFoundError MongoMissingCredentialsError MongoRuntimeError MongoExpiredSessionError
      `),
      says: phrases(`
        document failed validation, cast to objectid failed, unknown operator, object to insert too large,
        transaction numbers are only allowed, invalid connection string, invalid scheme expected connection
        string, unrecognized pipeline stage, cannot create index, over your space quota, bson document .. too
        large, bsonobj size
      `),
      rank: RANK.name,
    },
    {
      code: 'mongodb.write-concern',
      kind: 'transient',
      advice: 'The write may have happened; read before writing again.',
      names: words(`
        MongoWriteConcernError WriteConcernError MongoBulkWriteError BulkWriteError
      `),
      rank: RANK.vague,
    },
    {
      code: 'mongodb.server',
      kind: 'transient',
      advice: 'Look at the code and message of the server.',
      names: ['MongoServerError', 'MongoError'],
      rank: RANK.guess,
    },
    {
      code: 'mongodb.request',
      name: 'mongoose',
      kind: 'final',
      advice: FIX,
      names: ['MongooseError'],
      rank: RANK.guess,
    },
    {
      code: 'mongodb.dns',
      kind: 'transient',
      advice: 'Check the SRV name and the resolver.',
      says: ['querysrv'],
      rank: RANK.hint,
    },
  ],
}
