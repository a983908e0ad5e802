/**
 * SQLite: all primary result codes and the extended ones that differ, by name and by number, and their sentences.
 * Busy and locked pass; a unique key is a lost race; the file itself (read-only, corrupt, full) is plumbing.
 */
import { type Case, type Family, phrases, RANK } from '../rule.ts'

const result = (names: string, kind: Case['kind'], advice: string, more: Partial<Case> = {}): Case[] =>
  names.split(' ').map((line) => {
    const [name = '', number = ''] = line.split(':')
    return {
      code: `sqlite.${name}`,
      kind,
      advice,
      tokens: [`SQLITE_${name}`, `sqlite:${number}`],
      rank: RANK.code + 1,
      ...more,
    }
  })
const plumbing = { layer: 'infrastructure' } as const
const BUSY = 'Another connection writes: try again, or set a busy timeout.'
const STATEMENT = 'Correct the statement or its data.'
const FILE = 'Look at the database file: path, permissions, disk, integrity.'

export const sqlite: Family = {
  name: 'sqlite',
  marks: {
    sqlite: [
      'SQLITE_*',
      'sqlite',
      'sqlite3',
      '=SqliteError',
      'sqlite:*',
      '=ERR_SQLITE_ERROR',
      '=LibsqlError',
      'd1_error',
      'hrana',
    ],
  },
  cases: [
    ...result(
      'BUSY:5 LOCKED:6 BUSY_RECOVERY:261 BUSY_SNAPSHOT:517 BUSY_TIMEOUT:773 LOCKED_SHAREDCACHE:262 LOCKED_VTAB:518 PROTOCOL:15 SCHEMA:17 ERROR_RETRY:513 ERROR_SNAPSHOT:769',
      'transient',
      BUSY,
    ),
    ...result('INTERRUPT:9 ABORT:4 ABORT_ROLLBACK:516', 'transient', 'The statement was interrupted; run it again.'),
    ...result(
      'NOMEM:7 IOERR:10 IOERR_READ:266 IOERR_SHORT_READ:522 IOERR_WRITE:778 IOERR_FSYNC:1034 IOERR_DIR_FSYNC:1290 IOERR_TRUNCATE:1546 IOERR_FSTAT:1802 IOERR_UNLOCK:2058 IOERR_RDLOCK:2314 IOERR_DELETE:2570 IOERR_BLOCKED:2826 IOERR_NOMEM:3082 IOERR_CHECKRESERVEDLOCK:3594 IOERR_LOCK:3850 IOERR_CLOSE:4106 IOERR_DIR_CLOSE:4362 IOERR_SHMOPEN:4618 IOERR_SHMSIZE:4874 IOERR_SHMLOCK:5130 IOERR_SHMMAP:5386 IOERR_SEEK:5642 IOERR_DELETE_NOENT:5898 IOERR_MMAP:6154 IOERR_VNODE:6922 IOERR_BEGIN_ATOMIC:7434 IOERR_COMMIT_ATOMIC:7690 IOERR_ROLLBACK_ATOMIC:7946 IOERR_IN_PAGE:8714',
      'transient',
      FILE,
    ),
    ...result(
      'CONSTRAINT_UNIQUE:2067 CONSTRAINT_PRIMARYKEY:1555 CONSTRAINT_ROWID:2579',
      'conflict',
      'Nothing: a row with this key exists already.',
      { rank: RANK.code + 3 },
    ),
    ...result(
      'CONSTRAINT:19 CONSTRAINT_CHECK:275 CONSTRAINT_COMMITHOOK:531 CONSTRAINT_FOREIGNKEY:787 CONSTRAINT_FUNCTION:1043 CONSTRAINT_NOTNULL:1299 CONSTRAINT_TRIGGER:1811 CONSTRAINT_VTAB:2323 CONSTRAINT_PINNED:2835 CONSTRAINT_DATATYPE:3091',
      'final',
      STATEMENT,
    ),
    ...result('ERROR:1', 'final', STATEMENT, { rank: RANK.name }),
    ...result(
      'INTERNAL:2 TOOBIG:18 MISMATCH:20 MISUSE:21 NOLFS:22 FORMAT:24 RANGE:25 NOTFOUND:12 EMPTY:16 ERROR_MISSING_COLLSEQ:257 ERROR_RESERVESIZE:1025 ERROR_KEY:1281 ERROR_UNABLE:1537 NOTICE:27 NOTICE_RECOVER_WAL:283 NOTICE_RECOVER_ROLLBACK:539 NOTICE_RBU:795 WARNING:28 WARNING_AUTOINDEX:284 ROW:100 DONE:101',
      'final',
      STATEMENT,
    ),
    ...result(
      'PERM:3 READONLY:8 READONLY_RECOVERY:264 READONLY_CANTLOCK:520 READONLY_ROLLBACK:776 READONLY_DBMOVED:1032 READONLY_CANTINIT:1288 READONLY_DIRECTORY:1544 CORRUPT:11 CORRUPT_VTAB:267 CORRUPT_SEQUENCE:523 CORRUPT_INDEX:779 FULL:13 CANTOPEN:14 CANTOPEN_NOTEMPDIR:270 CANTOPEN_ISDIR:526 CANTOPEN_FULLPATH:782 CANTOPEN_CONVPATH:1038 CANTOPEN_DIRTYWAL:1294 CANTOPEN_SYMLINK:1550 NOTADB:26 AUTH:23 AUTH_USER:279 IOERR_ACCESS:3338 IOERR_GETTEMPPATH:6410 IOERR_CONVPATH:6666 IOERR_AUTH:7178 IOERR_DATA:8202 IOERR_CORRUPTFS:8458 IOERR_BADKEY:8970 IOERR_CODEC:9226',
      'final',
      FILE,
      plumbing,
    ),
    {
      code: 'sqlite.CONSTRAINT_UNIQUE',
      name: 'unique-words',
      kind: 'conflict',
      advice: 'Nothing: a row with this key exists already.',
      says: phrases(`
        UNIQUE constraint failed, PRIMARY KEY must be unique, columns .. are not unique
      `),
      rank: RANK.code + 4,
    },
    {
      code: 'sqlite.CONSTRAINT',
      name: 'constraint-words',
      kind: 'final',
      advice: STATEMENT,
      says: phrases(`
        NOT NULL constraint failed, FOREIGN KEY constraint failed, CHECK constraint failed, datatype mismatch
      `),
      rank: RANK.code + 4,
    },
    {
      code: 'sqlite.BUSY',
      name: 'locked-words',
      kind: 'transient',
      advice: BUSY,
      says: phrases(`
        database is locked, database table is locked, database schema is locked, database schema has changed,
        locking protocol
      `),
      rank: RANK.code + 4,
    },
    {
      code: 'sqlite.CORRUPT',
      name: 'file-words',
      kind: 'final',
      layer: 'infrastructure',
      advice: FILE,
      says: phrases(`
        database disk image is malformed, file is not a database, file is encrypted or is not a database, attempt
        to write a readonly database, readonly database, unable to open database file, database or disk is full,
        unable to open database, directory does not exist cannot open
      `),
      rank: RANK.code + 3,
    },
    {
      code: 'sqlite.IOERR',
      name: 'io-words',
      kind: 'transient',
      advice: FILE,
      says: ['disk i o error'],
      rank: RANK.says,
    },
    {
      code: 'sqlite.ERROR',
      name: 'statement-words',
      kind: 'final',
      advice: STATEMENT,
      says: phrases(`
        no such table, no such column, near .. syntax error, incomplete input, has no column named, values for ..
        columns, too many sql variables, database connection is not open, statement has been finalized, has no
        such function, no such function, cannot start a transaction within a transaction, no such module, no
        transaction is active, table .. already exists, duplicate column name, sqlite3 can only bind
      `),
      rank: RANK.says + 1,
    },
    {
      code: 'sqlite.ERROR',
      name: 'class',
      kind: 'final',
      advice: STATEMENT,
      names: ['SqliteError'],
      tokens: ['ERR_SQLITE_ERROR'],
      rank: RANK.guess,
    },
  ],
}
