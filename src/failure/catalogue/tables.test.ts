/**
 * Walks the published tables whole: every code that a database, broker, SDK or runtime documents must be answered by a rule.
 * The kinds of the codes that matter most are asserted elsewhere; here it is completeness, class by class.
 */
import { describe, expect, it } from 'vitest'
import { classify } from '../classify.ts'
import { words } from '../rule.ts'

const answer = (thrown: unknown): string => {
  const { rule, kind, layer } = classify(thrown)
  return rule === 'unknown/none' ? 'unknown' : `${kind}/${layer}`
}
const unanswered = (codes: readonly string[], thrown: (code: string) => unknown): string[] =>
  codes.filter((code) => answer(thrown(code)) === 'unknown')

/** Appendix A of the PostgreSQL manual: class, then the last three characters of its codes. */
const SQLSTATES = Object.entries({
  '01': '000 00C 008 003 007 006 004 P01',
  '02': '000 001',
  '03': '000',
  '08': '000 003 006 001 004 007 P01',
  '09': '000',
  '0A': '000',
  '0B': '000',
  '0F': '000 001',
  '0L': '000 P01',
  '0P': '000',
  '0Z': '000 002',
  '10': '608',
  '20': '000',
  '21': '000',
  '22': `000 02E 021 008 012 005 00B 022 015 01E 014 016 01F 01G 018 007 019 00D 025 P06 010 023 013 01B 01W 01X 02H 02G 009
    00C 00G 004 002 003 00H 026 001 011 027 024 00F P01 P02 P03 P04 P05 00L 00M 00N 00S 00T 030 031 032 033 034 035 036 037
    038 039 03A 03B 03C 03D 03E 03F 03G`,
  '23': '000 001 502 503 505 514 P01',
  '24': '000',
  '25': '000 001 002 008 003 004 005 006 007 P01 P02 P03 P04',
  '26': '000',
  '27': '000',
  '28': '000 P01',
  '2B': '000 P01',
  '2D': '000',
  '2F': '000 005 002 003 004',
  '34': '000',
  '38': '000 001 002 003 004',
  '39': '000 001 004 P01 P02 P03',
  '3B': '000 001',
  '3D': '000',
  '3F': '000',
  '40': '000 002 001 003 P01',
  '42': `000 601 501 846 803 P20 P19 830 602 622 939 804 P18 P21 P22 809 8C9 703 883 P01 P02 704 701 P03 P04 723 P05 P06 P07
    712 710 702 725 P08 P09 P10 611 P11 P12 P13 P14 P15 P16 P17`,
  '44': '000',
  '53': '000 100 200 300 400',
  '54': '000 001 011 023',
  '55': '000 006 P02 P03 P04',
  '57': '000 014 P01 P02 P03 P04 P05',
  '58': '000 030 P01 P02 P03',
  '72': '000',
  F0: '000 001',
  HV: `000 005 002 010 021 024 007 008 004 006 091 00B 00C 00D 090 00A 009 014 001 00P 00J 00K 00Q 00R 00L 00M 00N`,
  P0: '000 001 002 003 004',
  XX: '000 001 002',
})
  .flatMap(([group, codes]) => words(codes).map((code) => group + code))
  .sort()

describe('the tables are complete', () => {
  it('PostgreSQL: every SQLSTATE of the appendix', () => {
    expect(SQLSTATES.length).toBeGreaterThan(240)
    const pg = (code: string): unknown => ({ name: 'error', severity: 'ERROR', code, message: 'x', routine: 'f' })
    expect(unanswered(SQLSTATES, pg)).toEqual([])
    const transient = SQLSTATES.filter((code) => answer(pg(code)).startsWith('transient'))
    expect(transient.join(' ')).toBe(
      '08000 08001 08003 08004 08006 08007 08P01 25006 25P03 25P04 40000 40001 40003 40P01 53000 53200 53300 53400 55006 55P03 57000 57014 57P01 57P02 57P03 57P05 58000 58030 72000 F0001 HV001 HV00L HV00M HV00N XX000',
    )
    expect(SQLSTATES.filter((code) => answer(pg(code)).startsWith('conflict'))).toEqual(['23505', '23P01'])
  })

  it('MySQL: unlisted codes go by their SQLSTATE’s class, and a code without one is a mistake in the statement', () => {
    const mysql = (code: string, sqlState: string): unknown => ({ code, errno: 9999, sqlState, message: 'x' })
    expect(answer(mysql('ER_TOO_LONG_KEY', '42000'))).toBe('final/workflow')
    expect(answer(mysql('ER_NEW_ABORTING_CONNECTION', '08S01'))).toBe('transient/infrastructure')
    expect(answer(mysql('ER_SOMETHING_NEW', 'HY000'))).toBe('final/workflow')
    expect(answer(mysql('ER_SIGNAL_EXCEPTION', '45000'))).toBe('final/workflow')
  })

  it('SQLite: every primary and extended result code, by name and by number', () => {
    const codes = words(`
      ERROR:1 INTERNAL:2 PERM:3 ABORT:4 BUSY:5 LOCKED:6 NOMEM:7 READONLY:8 INTERRUPT:9 IOERR:10 CORRUPT:11 NOTFOUND:12 FULL:13
      CANTOPEN:14 PROTOCOL:15 EMPTY:16 SCHEMA:17 TOOBIG:18 CONSTRAINT:19 MISMATCH:20 MISUSE:21 NOLFS:22 AUTH:23 FORMAT:24
      RANGE:25 NOTADB:26 NOTICE:27 WARNING:28 ROW:100 DONE:101 ERROR_MISSING_COLLSEQ:257 ERROR_RETRY:513 ERROR_SNAPSHOT:769
      ERROR_RESERVESIZE:1025 ERROR_KEY:1281 ERROR_UNABLE:1537 IOERR_READ:266 IOERR_SHORT_READ:522 IOERR_WRITE:778
      IOERR_FSYNC:1034 IOERR_DIR_FSYNC:1290 IOERR_TRUNCATE:1546 IOERR_FSTAT:1802 IOERR_UNLOCK:2058 IOERR_RDLOCK:2314
      IOERR_DELETE:2570 IOERR_BLOCKED:2826 IOERR_NOMEM:3082 IOERR_ACCESS:3338 IOERR_CHECKRESERVEDLOCK:3594 IOERR_LOCK:3850
      IOERR_CLOSE:4106 IOERR_DIR_CLOSE:4362 IOERR_SHMOPEN:4618 IOERR_SHMSIZE:4874 IOERR_SHMLOCK:5130 IOERR_SHMMAP:5386
      IOERR_SEEK:5642 IOERR_DELETE_NOENT:5898 IOERR_MMAP:6154 IOERR_GETTEMPPATH:6410 IOERR_CONVPATH:6666 IOERR_VNODE:6922
      IOERR_AUTH:7178 IOERR_BEGIN_ATOMIC:7434 IOERR_COMMIT_ATOMIC:7690 IOERR_ROLLBACK_ATOMIC:7946 IOERR_DATA:8202
      IOERR_CORRUPTFS:8458 IOERR_IN_PAGE:8714 IOERR_BADKEY:8970 IOERR_CODEC:9226 LOCKED_SHAREDCACHE:262 LOCKED_VTAB:518
      BUSY_RECOVERY:261 BUSY_SNAPSHOT:517 BUSY_TIMEOUT:773 CANTOPEN_NOTEMPDIR:270 CANTOPEN_ISDIR:526 CANTOPEN_FULLPATH:782
      CANTOPEN_CONVPATH:1038 CANTOPEN_DIRTYWAL:1294 CANTOPEN_SYMLINK:1550 CORRUPT_VTAB:267 CORRUPT_SEQUENCE:523
      CORRUPT_INDEX:779 READONLY_RECOVERY:264 READONLY_CANTLOCK:520 READONLY_ROLLBACK:776 READONLY_DBMOVED:1032
      READONLY_CANTINIT:1288 READONLY_DIRECTORY:1544 ABORT_ROLLBACK:516 CONSTRAINT_CHECK:275 CONSTRAINT_COMMITHOOK:531
      CONSTRAINT_FOREIGNKEY:787 CONSTRAINT_FUNCTION:1043 CONSTRAINT_NOTNULL:1299 CONSTRAINT_PRIMARYKEY:1555
      CONSTRAINT_TRIGGER:1811 CONSTRAINT_UNIQUE:2067 CONSTRAINT_VTAB:2323 CONSTRAINT_ROWID:2579 CONSTRAINT_PINNED:2835
      CONSTRAINT_DATATYPE:3091 NOTICE_RECOVER_WAL:283 NOTICE_RECOVER_ROLLBACK:539 NOTICE_RBU:795 WARNING_AUTOINDEX:284
      AUTH_USER:279
    `).map((line) => line.split(':') as [string, string])
    const named = (name: string): unknown => ({ name: 'Error', code: `SQLITE_${name}`, message: 'x' })
    const numbered = (number: string): unknown => ({ errcode: Number(number), message: 'x' })
    for (const [name, number] of codes) {
      expect(`${name} ${answer(named(name))}`).toBe(`${name} ${answer(numbered(number))}`)
      expect(answer(named(name))).not.toBe('unknown')
    }
  })

  it('AMQP 0-9-1: every reply code, in words and as a field', () => {
    const replies = words(`
      311:CONTENT-TOO-LARGE 312:NO-ROUTE 313:NO-CONSUMERS 320:CONNECTION-FORCED 402:INVALID-PATH 403:ACCESS-REFUSED
      404:NOT-FOUND 405:RESOURCE-LOCKED 406:PRECONDITION-FAILED 501:FRAME-ERROR 502:SYNTAX-ERROR 503:COMMAND-INVALID
      504:CHANNEL-ERROR 505:UNEXPECTED-FRAME 506:RESOURCE-ERROR 530:NOT-ALLOWED 540:NOT-IMPLEMENTED 541:INTERNAL-ERROR
    `)
    for (const reply of replies) {
      const [number = '', name = ''] = reply.split(':')
      const said = `Channel closed by server: ${number} (${name}) with message "${name.replaceAll('-', '_')} - x"`
      expect(classify({ name: 'Error', message: said }).code).toBe(`amqp.${number}`)
      expect(classify({ replyCode: Number(number), replyText: 'x' }).code).toBe(`amqp.${number}`)
    }
  })

  it('AWS: the SDK’s own lists of throttling, transient and clock errors', () => {
    const throttling = words(`
      BandwidthLimitExceeded EC2ThrottledException LimitExceededException PriorRequestNotComplete
      ProvisionedThroughputExceededException RequestLimitExceeded RequestThrottled RequestThrottledException SlowDown
      ThrottledException Throttling ThrottlingException TooManyRequestsException TransactionInProgressException
    `)
    for (const name of throttling) {
      expect(answer({ name, message: 'x', $metadata: { httpStatusCode: 400 } })).toBe('rate_limited/infrastructure')
      expect(answer({ __type: `com.amazon.coral#${name}`, message: 'x' })).toBe('rate_limited/infrastructure')
    }
    for (const name of words('TimeoutError RequestTimeout RequestTimeoutException'))
      expect(answer({ name, message: 'x', $metadata: { httpStatusCode: 400 } })).toBe('transient/infrastructure')
    for (const name of words(
      'AuthFailure InvalidSignatureException RequestExpired RequestInTheFuture RequestTimeTooSkewed SignatureDoesNotMatch',
    ))
      expect(answer({ name, message: 'x', $metadata: { httpStatusCode: 403 } })).toBe('final/workflow')
  })

  it('Node: every system, resolver, certificate and undici code', () => {
    const codes = words(`
      E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EAFNOSUPPORT EAGAIN EALREADY EBADF EBUSY ECANCELED ECHARSET ECONNABORTED
      ECONNREFUSED ECONNRESET EDESTADDRREQ EEXIST EFAULT EFBIG EHOSTDOWN EHOSTUNREACH EINTR EINVAL EIO EISCONN EISDIR ELOOP
      EMFILE EMLINK EMSGSIZE ENAMETOOLONG ENETDOWN ENETUNREACH ENFILE ENOBUFS ENODEV ENOENT ENOMEM ENONET ENOPROTOOPT ENOSPC
      ENOSYS ENOTCONN ENOTDIR ENOTEMPTY ENOTSOCK ENOTSUP ENOTTY ENXIO EOF EOVERFLOW EPERM EPIPE EPROTO EPROTONOSUPPORT
      EPROTOTYPE ERANGE EROFS ESHUTDOWN ESOCKTNOSUPPORT ESPIPE ESRCH ETIMEDOUT ETXTBSY EXDEV EAI_ADDRFAMILY EAI_AGAIN
      EAI_BADFLAGS EAI_BADHINTS EAI_CANCELED EAI_FAIL EAI_FAMILY EAI_MEMORY EAI_NODATA EAI_NONAME EAI_OVERFLOW EAI_PROTOCOL
      EAI_SERVICE EAI_SOCKTYPE ENODATA EFORMERR ESERVFAIL ENOTFOUND ENOTIMP EREFUSED EBADQUERY EBADNAME EBADFAMILY EBADRESP
      ETIMEOUT EDESTRUCTION EBADSTR EBADFLAGS ENONAME EBADHINTS ECANCELLED UND_ERR_CONNECT_TIMEOUT UND_ERR_HEADERS_TIMEOUT
      UND_ERR_HEADERS_OVERFLOW UND_ERR_BODY_TIMEOUT UND_ERR_INVALID_ARG UND_ERR_INVALID_RETURN_VALUE UND_ERR_ABORTED
      UND_ERR_DESTROYED UND_ERR_CLOSED UND_ERR_SOCKET UND_ERR_NOT_SUPPORTED UND_ERR_REQ_CONTENT_LENGTH_MISMATCH
      UND_ERR_RES_CONTENT_LENGTH_MISMATCH UND_ERR_INFO UND_ERR_RES_EXCEEDED_MAX_SIZE UND_ERR_REQ_RETRY UND_ERR_PRX_TLS
    `)
    expect(unanswered(codes, (code) => ({ name: 'Error', code, message: 'x' }))).toEqual([])
    const certificates = words(`
      UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_CRL UNABLE_TO_DECRYPT_CERT_SIGNATURE UNABLE_TO_DECRYPT_CRL_SIGNATURE
      UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY CERT_SIGNATURE_FAILURE CRL_SIGNATURE_FAILURE CERT_NOT_YET_VALID CERT_HAS_EXPIRED
      CRL_NOT_YET_VALID CRL_HAS_EXPIRED ERROR_IN_CERT_NOT_BEFORE_FIELD ERROR_IN_CERT_NOT_AFTER_FIELD
      ERROR_IN_CRL_LAST_UPDATE_FIELD ERROR_IN_CRL_NEXT_UPDATE_FIELD DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN
      UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_VERIFY_LEAF_SIGNATURE CERT_CHAIN_TOO_LONG CERT_REVOKED INVALID_CA
      PATH_LENGTH_EXCEEDED INVALID_PURPOSE CERT_UNTRUSTED CERT_REJECTED HOSTNAME_MISMATCH
    `)
    for (const code of certificates) expect(answer({ code, message: 'x' })).toBe('final/infrastructure')
  })

  it('Redis: every error prefix', () => {
    const prefixes = words(`
      LOADING BUSY TRYAGAIN CLUSTERDOWN MASTERDOWN READONLY UNBLOCKED NOREPLICAS MOVED CROSSSLOT WRONGTYPE NOSCRIPT EXECABORT
      NOAUTH WRONGPASS NOPERM MISCONF OOM NOTBUSY UNKILLABLE BUSYGROUP BUSYKEY NOGROUP NOPROTO INPROG NOQUORUM NOGOODSLAVE
      NOMASTERLINK IOERR
    `)
    // LOADING, BUSY, READONLY and OOM are words of any sentence: they count with what Redis says after them.
    const sentences: Readonly<Record<string, string>> = {
      LOADING: 'Redis is loading the dataset in memory',
      BUSY: 'Redis is busy running a script',
      READONLY: "You can't write against a read only replica.",
      OOM: 'command not allowed',
    }
    for (const prefix of prefixes) {
      const message = `${prefix} ${sentences[prefix] ?? 'x'}`
      expect(classify({ name: 'ReplyError', message }).code).toBe(`redis.${prefix}`)
    }
  })
})
