/**
 * SQL databases: PostgreSQL's SQLSTATEs complete by class with the codes that differ from their class, and the
 * duplicates, deadlocks and connection faults of MySQL, SQL Server, Prisma, Sequelize and the PostgreSQL pools.
 */
import { type Case, type Family, phrases, RANK, words } from '../rule.ts'

const AGAIN = 'Run the whole transaction again.'
const RECONNECT = 'Try again on a fresh connection; if it lasts, look at the server.'
const STATEMENT = 'Correct the statement or the schema; the same one fails again.'
const ACCESS = 'Check user, password, database name and the server’s access rules.'
const TAKEN = 'Nothing: a row with this key exists already.'

/** Five digits are a SQLSTATE for sure only where a SQL database speaks: other vendors number their errors too. */
const state = (sqlstate: string, kind: Case['kind'], advice: string, more: Partial<Case> = {}): Case[] => {
  const sure: Case = { code: `pg.${sqlstate}`, kind, advice, tokens: [sqlstate], rank: RANK.code + 1, ...more }
  if (!/^\d{5}$/.test(sqlstate)) return [sure]
  return [
    { ...sure, only: ['postgres', 'mysql', 'mssql'] },
    { ...sure, name: `${sqlstate}?`, rank: RANK.vague - 1 },
  ]
}
/** A class speaks for every code in it that is not listed alone. */
const sqlClass = (prefix: string, kind: Case['kind'], advice: string, more: Partial<Case> = {}): Case => ({
  code: `pg.${prefix}`,
  kind,
  advice,
  tokens: [`pg:${prefix}`],
  rank: RANK.code - 1,
  ...more,
})
const plumbing = { layer: 'infrastructure' } as const
const each = (states: string, kind: Case['kind'], advice: string, more: Partial<Case> = {}): Case[] =>
  states.split(' ').flatMap((one) => state(one, kind, advice, more))
const eachClass = (classes: string, kind: Case['kind'], advice: string, more: Partial<Case> = {}): Case[] =>
  classes.split(' ').map((one) => sqlClass(one, kind, advice, more))

export const postgres: Family = {
  name: 'pg',
  marks: {
    postgres: [
      'postgres',
      'postgresql',
      'pg',
      '=PostgresError',
      '=DatabaseError',
      '=NeonDbError',
      'PGRST*',
      'ERR_POSTGRES*',
      '=DriverAdapterError',
      '=DrizzleQueryError',
      '=QueryFailedError',
      'Prisma*',
      'Sequelize*',
      'sqlstate',
      '=error',
      'relation',
      'pgbouncer',
      'psycopg2',
    ],
    mysql: ['ER_*', 'mysql', 'mariadb'],
    mssql: ['mssql', 'sql server', '=EREQUEST'],
  },
  cases: [
    // Class 40 and 55: contention passes.
    ...each('40001 40P01 40003 40000 55P03 55006 72000', 'transient', AGAIN),
    ...state('40002', 'final', STATEMENT),
    ...eachClass('40 72', 'transient', AGAIN),
    ...each('55000 55P02 55P04', 'final', STATEMENT),
    sqlClass('55', 'final', STATEMENT),
    // Class 23: a key that is taken is a lost race, other constraints are wrong data.
    ...each('23505 23P01', 'conflict', TAKEN),
    ...each('23000 23001 23502 23503 23514', 'final', 'Correct the data: it violates the constraint that is named.'),
    sqlClass('23', 'final', 'Correct the data: it violates a constraint.'),
    // Class 08, 53, 57, 58: the server or the way to it.
    ...each('08000 08001 08003 08004 08006 08007 08P01', 'transient', RECONNECT),
    sqlClass('08', 'transient', RECONNECT),
    ...each(
      '53000 53200 53300 53400',
      'transient',
      'The server is out of connections or memory: use a smaller pool or a pooler, and try again.',
    ),
    ...state('53100', 'final', 'Free disk space on the server.', plumbing),
    sqlClass('53', 'transient', RECONNECT),
    ...each('57014 57P01 57P02 57P03 57P05 57000', 'transient', RECONNECT),
    ...state('57P04', 'final', 'The database was dropped.', plumbing),
    sqlClass('57', 'transient', RECONNECT),
    ...each('58000 58030', 'transient', RECONNECT),
    ...each(
      '58P01 58P02 58P03',
      'final',
      'The server misses a file or has one twice: its operator must look.',
      plumbing,
    ),
    sqlClass('58', 'transient', RECONNECT),
    // Class 25: transaction state.
    ...each('25006', 'transient', 'This server is read-only now (failover?): connect to the primary and try again.'),
    ...each('25P03 25P04', 'transient', 'The transaction stayed open too long; run it again and shorter.'),
    ...state('25P02', 'final', 'Roll back first: an earlier statement of this transaction failed.'),
    sqlClass('25', 'final', STATEMENT),
    // Class 28 and 3D: access.
    ...each('28000 28P01 3D000', 'final', ACCESS, plumbing),
    ...eachClass('28 3D', 'final', ACCESS, plumbing),
    // Class 42: syntax, names, rights. "Already exists" here is a schema that was made before, not a lost race.
    ...each(
      '42601 42P01 42703 42883 42501 42P07 42P04 42P06 42701 42710 42702 42804 42P10 42P02 42P18 42830 42846',
      'final',
      STATEMENT,
    ),
    sqlClass('42', 'final', STATEMENT),
    // Class XX and P0.
    ...state('XX000', 'transient', RECONNECT, { rank: RANK.name }),
    ...each('XX001 XX002', 'final', 'The server’s data or index is corrupt: its operator must look at once.', plumbing),
    sqlClass('XX', 'transient', RECONNECT, { rank: RANK.name }),
    ...each('P0001 P0002 P0003 P0004', 'final', 'The database’s own code raised this; its message says why.', {
      rank: RANK.name,
    }),
    sqlClass('P0', 'final', STATEMENT),
    ...state('F0001', 'transient', 'The lock file of the server is held; its operator must look.', { rank: RANK.name }),
    ...each('HV00N HV00L HV00M HV001', 'transient', 'The foreign server did not answer; try again, or look at it.'),
    sqlClass('F0', 'final', 'Correct the server’s configuration file.', plumbing),
    // Every other class of the appendix means that the statement or its data is wrong.
    ...eachClass(
      '03 09 0A 0B 0F 0L 0P 0Z 10 20 21 22 24 26 27 2B 2D 2F 34 38 39 3B 3F 44 45 54 HV',
      'final',
      STATEMENT,
    ),
    ...eachClass('00 01 02', 'final', 'A warning or an empty result was treated as an error: look at the caller.'),

    {
      code: 'sql.unique',
      kind: 'conflict',
      advice: TAKEN,
      tokens: words(`
        ER_DUP_ENTRY ER_DUP_KEY ER_DUP_ENTRY_WITH_KEY_NAME mysql:1062 mysql:1022 mysql:1586 mssql:2627 mssql:2601
        P2002 SequelizeUniqueConstraintError SequelizeExclusionConstraintError UniqueConstraintViolation ORA-00001
      `),
      names: words(`
        UniqueConstraintError UniqueViolationError UniqueConstraintViolationException UniqueViolation
        DuplicateKeyException
      `),
      says: phrases(`
        duplicate key value violates unique constraint, violates unique constraint, duplicate entry .. for key,
        violation of unique key constraint, violation of primary key constraint, cannot insert duplicate key, key .. already exists,
        unique constraint failed on, unique constraint .. violated, conflicting key value violates exclusion
        constraint
      `),
      rank: RANK.code + 2,
    },
    {
      code: 'sql.deadlock',
      kind: 'transient',
      advice: AGAIN,
      tokens: words(`
        ER_LOCK_DEADLOCK ER_LOCK_WAIT_TIMEOUT ER_XA_RBDEADLOCK ER_LOCK_NOWAIT ER_CHECKREAD mysql:1213 mysql:1205
        mysql:1614 mysql:3572 mysql:1020 mssql:1205 mssql:1222 mssql:3960 mssql:3935 mssql:41302 mssql:41305
        mssql:41325 mssql:3957 mssql:3958 mssql:3959 mssql:601 mssql:1204 mssql:1221 mssql:41301 mssql:41839
        P2034 TransactionWriteConflict ORA-00060 ORA-08177 SequelizeTimeoutError
      `),
      says: phrases(`
        deadlock detected, deadlock found, deadlock victim, was deadlocked, could not serialize access, lock wait
        timeout exceeded, could not obtain lock, canceling statement due to lock timeout, lock request time out,
        restart transaction, retry transaction, retry_write_too_old, readwithinuncertaintyinterval, transaction
        failed due to a write conflict, write conflict or a deadlock
      `),
      rank: RANK.code + 2,
    },
    {
      code: 'sql.connection',
      kind: 'transient',
      advice: RECONNECT,
      tokens: words(`
        PROTOCOL_CONNECTION_LOST PROTOCOL_SEQUENCE_TIMEOUT ER_SERVER_SHUTDOWN ER_CON_COUNT_ERROR
        ER_TOO_MANY_USER_CONNECTIONS ER_QUERY_INTERRUPTED ER_QUERY_TIMEOUT ER_OPTION_PREVENTS_STATEMENT
        ER_NET_READ_ERROR ER_NET_READ_INTERRUPTED ER_CLIENT_INTERACTION_TIMEOUT ER_HOST_IS_BLOCKED
        PROTOCOL_ENQUEUE_AFTER_FATAL_ERROR POOL_CLOSED POOL_NOCONNECTION mysql:1040 mysql:1053 mysql:1203
        mysql:1290 mysql:1317 mysql:2002 mysql:2003 mysql:2006 mysql:2013 mysql:2055 mysql:3024 mysql:9001
        mssql:40613 mssql:40197 mssql:40501 mssql:49918 mssql:49919 mssql:49920 mssql:10928 mssql:10929
        mssql:10053 mssql:10054 mssql:10060 mssql:233 mssql:64 mssql:4060 mssql:-2 mssql:40143 mssql:40540 mssql:42108
        mssql:42109 mssql:615 mssql:4221 mssql:11001 mssql:121 mssql:701 mssql:802 mssql:8645 mssql:8651 mssql:845
        P1001 P1002 P1008 P1017 P2024 P2028 P2037 P5001 P5006 P5009 P5010 P6000 P6004 P6008 PGRST000 PGRST001
        PGRST002 PGRST003 ERR_POSTGRES_CONNECTION_CLOSED ERR_POSTGRES_CONNECTION_TIMEOUT
        ERR_POSTGRES_IDLE_TIMEOUT ERR_POSTGRES_LIFETIME_TIMEOUT DatabaseNotReachable TooManyConnections
        SocketTimeout EABORT ETRNABRT CONNECTION_CLOSED CONNECTION_ENDED CONNECTION_DESTROYED CONNECT_TIMEOUT ECONNCLOSED ENOCONN
        EINSTLOOKUP SequelizeConnectionRefusedError SequelizeConnectionTimedOutError
        SequelizeConnectionAcquireTimeoutError SequelizeHostNotReachableError SequelizeHostNotFoundError
        SequelizeConnectionError ConnectionAcquireTimeoutError KnexTimeoutError
      `),
      names: words(`
        KnexTimeoutError PrismaClientInitializationError PrismaClientRustPanicError OperationalError
        InterfaceError ConnectionDoesNotExistError TooManyConnectionsError
      `),
      says: phrases(`
        connection terminated, terminating connection, connection to server .. failed, server closed the
        connection unexpectedly, remaining connection slots are reserved, sorry too many clients already, too many
        clients, too many connections, too many database connections, database system is starting up, database
        system is shutting down, database system is in recovery, not yet accepting connections, the database
        system is, timeout acquiring a connection, timeout exceeded when trying to connect, acquiring a
        connection, can't reach database server, timed out fetching a new connection, mysql server has gone away,
        lost connection to mysql server, max client connections reached, max clients, client has encountered a
        connection error, ssl syscall error, eof detected, timeout expired, out of shared memory, connection is in
        closed state, packets out of order, no listener, after fatal error, pool is closed, connection pool
        timeout, conflict with recovery, statement timeout, query read timeout, server conn crashed, prepared
        statement .. does not exist, ssl connection has been closed unexpectedly, transaction api error, is in
        read only mode, cannot execute .. in a read only transaction, idle in transaction, resourcerequest timed
        out, operation timed out
      `),
      rank: RANK.says,
    },
    {
      code: 'sql.access',
      kind: 'final',
      layer: 'infrastructure',
      advice: ACCESS,
      tokens: words(`
        ER_ACCESS_DENIED_ERROR ER_DBACCESS_DENIED_ERROR ER_NOT_SUPPORTED_AUTH_MODE ER_BAD_DB_ERROR
        ER_MUST_CHANGE_PASSWORD ER_HOST_NOT_PRIVILEGED mysql:1044 mysql:1045 mysql:1049 mysql:1251 mysql:1698
        mssql:18456 ELOGIN P1000 P1003 P1010 P1011 P1013 P5002 P5007 P6001 P6002 P6010
        ERR_POSTGRES_AUTHENTICATION_FAILED_PBKDF2 SequelizeAccessDeniedError
        SequelizeInvalidConnectionError AUTH_SWITCH_PLUGIN_ERROR
        SASL_SIGNATURE_MISMATCH
      `),
      says: phrases(`
        password authentication failed, no pg_hba conf entry, scram server first message, sasl scram, access
        denied for user, login failed for user, unknown database, invalid username password logon denied, tenant
        or user not found, environment variable not found, peer authentication failed, client password must be a string, role .. does not exist,
        database .. does not exist, authentication failed against database server, server does not support ssl
      `),
      rank: RANK.code + 1,
    },
    {
      code: 'postgrest.token',
      kind: 'final',
      advice: 'Renew the token: it is missing, wrong or expired.',
      tokens: ['PGRST300', 'PGRST301', 'PGRST302', 'PGRST303'],
    },
    {
      code: 'sql.statement',
      kind: 'final',
      advice: STATEMENT,
      tokens: words(`
        ER_PARSE_ERROR ER_NO_SUCH_TABLE ER_BAD_FIELD_ERROR ER_TABLE_EXISTS_ERROR ER_DATA_TOO_LONG
        ER_TRUNCATED_WRONG_VALUE ER_TRUNCATED_WRONG_VALUE_FOR_FIELD ER_BAD_NULL_ERROR ER_NO_REFERENCED_ROW
        ER_NO_REFERENCED_ROW_2 ER_ROW_IS_REFERENCED ER_ROW_IS_REFERENCED_2 ER_NO_DEFAULT_FOR_FIELD
        ER_DUP_FIELDNAME ER_DUP_KEYNAME ER_WRONG_VALUE_COUNT_ON_ROW ER_NET_PACKET_TOO_LARGE
        ER_CHECK_CONSTRAINT_VIOLATED ER_WARN_DATA_OUT_OF_RANGE ER_TABLEACCESS_DENIED_ERROR
        ER_SPECIFIC_ACCESS_DENIED_ERROR ER_INVALID_JSON_TEXT mysql:1064 mysql:1146 mysql:1054 mysql:1050
        mysql:1406 mysql:1048 mysql:1452 mysql:1451 mysql:1364 mysql:1153 mysql:1142 mysql:1265 mysql:1366
        mssql:102 mssql:156 mssql:207 mssql:208 mssql:515 mssql:547 mssql:2714 mssql:8152 mssql:2628 mssql:245
        mssql:229 mssql:137 mssql:201 mssql:209 mssql:213 mssql:220 mssql:241 mssql:262 mssql:266 mssql:334 mssql:544
        mssql:1505 mssql:1934 mssql:2812 mssql:3701 mssql:8114 mssql:8115 mssql:8134 mssql:8144 mssql:8178
        P1009 P1012 P1014 P1015 P1016 P2000 P2001 P2003 P2004 P2005 P2006 P2007 P2008 P2009 P2010 P2011 P2012 P2013
        P2014 P2015 P2016 P2017 P2018 P2019 P2020 P2021 P2022 P2023 P2025 P2026 P2027 P2029 P2030 P2031 P2033 P2035
        P2036 P3000 P3001 P3002 P3003 P3004 P3005 P3006 P3008 P3009 P3011 P3012 P3014 P3015 P3016 P3018 P3019
        P3020 P3021 P3022 P3023 P3024 P5000 P5003 P5004 P5005 P5008 P5011 P5012 P5013 P5014 P5015 P6003 P6005
        P6006 P6009 PGRST100 PGRST101 PGRST102 PGRST103 PGRST105 PGRST106 PGRST107 PGRST108 PGRST111 PGRST116
        PGRST117 PGRST118 PGRST120 PGRST122 PGRST200 PGRST201 PGRST202 PGRST203 PGRST204 PGRST205
        ForeignKeyConstraintViolation NullConstraintViolation TableDoesNotExist SequelizeUnknownConstraintError
        SequelizeEagerLoadingError SequelizeEmptyResultError
        SequelizeForeignKeyConstraintError SequelizeValidationError EREQUEST_SYNTAX
      `),
      names: words(`
        PrismaClientValidationError ProgrammingError IntegrityError ForeignKeyConstraintError
        NotNullViolationError EntityNotFoundError DataError ForeignKeyViolationError CheckViolationError
        EntityMetadataNotFoundError EntityPropertyNotFoundError QueryRunnerAlreadyReleasedError
        TransactionNotStartedError CannotExecuteNotConnectedError MustBeEntityError FindRelationsNotFoundError
        NotNullConstraintViolationException ForeignKeyConstraintViolationException TableNotFoundException
        InvalidFieldNameException SyntaxErrorException CheckConstraintViolationException
      `),
      says: phrases(`
        violates foreign key constraint, violates not null constraint, violates check constraint, null value in
        column, relation .. does not exist, column .. does not exist, syntax error at or near, syntax error at end
        of input, invalid input syntax for, value too long for type, out of range for type, permission denied for,
        must be owner of, relation .. already exists, type .. already exists, column .. already exists, invalid
        object name, incorrect syntax near, error in your sql syntax, table .. doesn't exist, unknown column, data
        too long for column, data truncated for column, out of range value for column, numeric field overflow,
        table .. already exists, column .. cannot be null, no default value, foreign key constraint fails, current
        transaction is aborted, no unique or exclusion constraint matching, bind message supplies, cached plan
        must not change, invalid byte sequence, operator does not exist, function .. does not exist, record to
        update not found, record to delete does not exist, the table .. does not exist
      `),
      rank: RANK.says + 1,
    },
    {
      code: 'sql.statement',
      name: 'schema-exists',
      kind: 'final',
      advice: STATEMENT,
      // Tables, indexes, constraints: a schema made before, not a lost race. A taken key is told by its code or sentence.
      says: ['already exists'],
      only: ['postgres', 'mysql', 'mssql', 'sqlite'],
      never: ['mongodb'],
      rank: RANK.says + 1,
    },
    {
      code: 'sql.disk',
      kind: 'final',
      layer: 'infrastructure',
      advice: 'Free disk space on the server.',
      tokens: words(`
        ER_DISK_FULL ER_RECORD_FILE_FULL mysql:1021 mysql:1114 mssql:1105 mssql:9002
      `),
      says: ['could not extend file', 'the table .. is full'],
      rank: RANK.code,
    },
    {
      code: 'sql.stale',
      kind: 'conflict',
      advice: 'Nothing: another writer changed the row first; read it again.',
      names: words(`
        OptimisticLockVersionMismatchError OptimisticLockError SequelizeOptimisticLockError
        StaleObjectStateException OptimisticLockException StaleDataError
      `),
      says: phrases(`
        optimistic lock, was updated or deleted by another transaction, update a stale model instance
      `),
      rank: RANK.code,
    },
    {
      code: 'sql.query',
      kind: 'final',
      advice: STATEMENT,
      names: words(`
        SequelizeDatabaseError QueryFailedError DatabaseError PostgresError PrismaClientKnownRequestError
        DrizzleQueryError
      `),
      rank: RANK.guess,
    },
    {
      code: 'sql.query',
      name: 'server-code',
      kind: 'final',
      advice: STATEMENT,
      tokens: ['mysql:er', 'EREQUEST', 'ERR_POSTGRES_SERVER_ERROR', 'ERR_MYSQL_SERVER_ERROR'],
      rank: RANK.guess + 2,
    },
  ],
}
