/**
 * SQL databases, in the shapes their drivers and mappers give their errors.
 * Each row is one thrown value and the verdict it must get.
 */
import { checkCases, type Row } from './check-cases.ts'

const infrastructure = { layer: 'infrastructure' } as const

const pg = (code: string, message: string, extra: object = {}): object => ({
  name: 'error',
  severity: 'ERROR',
  code,
  message,
  routine: 'x',
  ...extra,
})

const SQL: Row[] = [
  ...'40001 transient,40P01 transient,55P03 transient,57P01 transient,57P03 transient,53300 transient,08006 transient,57014 transient,23505 conflict,23P01 conflict,23503 final,23502 final,23514 final,42P01 final,42601 final,42703 final,42501 final,42P07 final,22P02 final,22001 final,28P01 final,3D000 final,0A000 final,54000 final,53100 final,XX001 final,P0001 final,25P02 final,21000 final,HV000 final'
    .split(',')
    .map((line): Row => {
      const [code = '', kind = ''] = line.split(' ')
      return [`SQLSTATE ${code}`, pg(code, 'something'), kind as Row[2]]
    }),
  ['unlisted code by class', pg('22P99', 'odd'), 'final', { code: 'pg.22' }],
  ['unlisted connection code by class', pg('08P99', 'odd'), 'transient', { code: 'pg.08' }],
  ['password is plumbing', pg('28P01', 'password authentication failed for user "x"'), 'final', infrastructure],
  [
    'Sequelize wrapper',
    {
      name: 'SequelizeDatabaseError',
      parent: { code: '42P01' },
      original: { code: '42P01', message: 'relation "a" does not exist' },
      message: 'relation "a" does not exist',
    },
    'final',
  ],
  [
    'Sequelize unique',
    {
      name: 'SequelizeUniqueConstraintError',
      errors: [{ message: 'email must be unique', type: 'unique violation' }],
      message: 'Validation error',
    },
    'conflict',
  ],
  [
    'TypeORM unique',
    {
      name: 'QueryFailedError',
      driverError: { code: '23505' },
      message: 'duplicate key value violates unique constraint "u"',
    },
    'conflict',
  ],
  [
    'Prisma unique',
    {
      name: 'PrismaClientKnownRequestError',
      code: 'P2002',
      meta: { target: ['email'] },
      message: 'Unique constraint failed on the fields: (`email`)',
    },
    'conflict',
  ],
  [
    'Prisma pool',
    {
      name: 'PrismaClientKnownRequestError',
      code: 'P2024',
      message: 'Timed out fetching a new connection from the connection pool.',
    },
    'transient',
  ],
  [
    'Prisma write conflict',
    {
      code: 'P2034',
      message: 'Transaction failed due to a write conflict or a deadlock. Please retry your transaction',
    },
    'transient',
  ],
  [
    'Prisma not found',
    {
      code: 'P2025',
      message: 'An operation failed because it depends on one or more records that were required but not found.',
    },
    'final',
  ],
  ['pool ended', { message: 'Connection terminated unexpectedly' }, 'transient'],
  ['too many clients', { message: 'sorry, too many clients already', code: '53300' }, 'transient'],
  ['statement timeout', { message: 'canceling statement due to statement timeout' }, 'transient'],
  ['deadlock in words', { message: 'deadlock detected' }, 'transient'],
  [
    'MySQL duplicate',
    {
      code: 'ER_DUP_ENTRY',
      errno: 1062,
      sqlState: '23000',
      sqlMessage: "Duplicate entry 'a' for key 'b'",
      message: "ER_DUP_ENTRY: Duplicate entry 'a' for key 'b'",
    },
    'conflict',
  ],
  [
    'MySQL deadlock',
    {
      code: 'ER_LOCK_DEADLOCK',
      errno: 1213,
      sqlState: '40001',
      message: 'Deadlock found when trying to get lock; try restarting transaction',
    },
    'transient',
  ],
  [
    'MySQL lost',
    { code: 'PROTOCOL_CONNECTION_LOST', fatal: true, message: 'Connection lost: The server closed the connection.' },
    'transient',
  ],
  [
    'MySQL access',
    {
      code: 'ER_ACCESS_DENIED_ERROR',
      errno: 1045,
      message: "Access denied for user 'root'@'localhost' (using password: YES)",
    },
    'final',
  ],
  [
    'MySQL syntax',
    { code: 'ER_PARSE_ERROR', errno: 1064, sqlState: '42000', message: 'You have an error in your SQL syntax' },
    'final',
  ],
  [
    'SQL Server deadlock',
    {
      name: 'RequestError',
      code: 'EREQUEST',
      number: 1205,
      message: 'Transaction (Process ID 52) was deadlocked on lock resources',
    },
    'transient',
  ],
  [
    'SQL Server duplicate',
    {
      name: 'RequestError',
      code: 'EREQUEST',
      number: 2627,
      message: "Violation of PRIMARY KEY constraint 'PK'. Cannot insert duplicate key in object 'dbo.t'.",
    },
    'conflict',
  ],
  ['SQLSTATE in prose', 'ERROR: could not serialize access due to concurrent update (SQLSTATE 40001)', 'transient'],
]

const SQLITE: Row[] = [
  ...'BUSY transient,LOCKED transient,BUSY_SNAPSHOT transient,CONSTRAINT_UNIQUE conflict,CONSTRAINT_PRIMARYKEY conflict,CONSTRAINT_NOTNULL final,CONSTRAINT_FOREIGNKEY final,READONLY final,CORRUPT final,NOTADB final,CANTOPEN final,FULL final,IOERR transient,ERROR final,MISUSE final,TOOBIG final,SCHEMA transient,INTERRUPT transient,MISMATCH final,RANGE final'
    .split(',')
    .map((line): Row => {
      const [code = '', kind = ''] = line.split(' ')
      return [
        code,
        { name: 'SqliteError', code: `SQLITE_${code}`, message: 'something' },
        kind as Row[2],
        { code: `sqlite.${code}` },
      ]
    }),
  [
    'unique under the primary code',
    { code: 'SQLITE_CONSTRAINT', errno: 19, message: 'SQLITE_CONSTRAINT: UNIQUE constraint failed: t.a' },
    'conflict',
  ],
  [
    'not null under the primary code',
    { code: 'SQLITE_CONSTRAINT', errno: 19, message: 'SQLITE_CONSTRAINT: NOT NULL constraint failed: t.a' },
    'final',
  ],
  [
    'node:sqlite busy',
    { code: 'ERR_SQLITE_ERROR', errcode: 5, errstr: 'database is locked', message: 'database is locked' },
    'transient',
  ],
  ['locked in words', { message: 'SqliteError: database is locked' }, 'transient'],
  ['no table', { code: 'SQLITE_ERROR', message: 'SQLITE_ERROR: no such table: users' }, 'final'],
  ['malformed', { message: 'database disk image is malformed' }, 'final', infrastructure],
]

checkCases({ sql: SQL, sqlite: SQLITE })
