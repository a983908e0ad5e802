/**
 * Sockets, DNS, files and TLS: Node's system codes, undici's, and the words HTTP clients use for them.
 * A connection that broke heals; a certificate nobody trusts or a disk nobody may write to does not.
 */
import { type Family, phrases, RANK, words } from '../rule.ts'

const AGAIN = 'Try again; if it repeats, check that the other side is up and reachable from here.'
const CERTIFICATE = 'Fix the certificate or the trust store; retrying cannot make it valid.'
const FILE = 'Fix the path or its permissions on this host.'

const NETWORK_SAYS: Readonly<Record<string, readonly string[]>> = {
  reset: [
    'connection reset',
    'connection was reset',
    'reset by peer',
    'socket hang up',
    'connection aborted',
    'connection broken',
    'broken pipe',
    'remote end closed connection',
    'disconnected without sending',
    'other side closed',
    'disconnected before secure tls connection',
  ],
  refused: [
    'connection refused',
    'failed to connect',
    'unable to connect',
    "couldn't connect",
    'could not connect',
    'cannot connect',
    'no route to host',
    'network is unreachable',
    'host is unreachable',
    'actively refused',
  ],
  closed: [
    'connection closed',
    'connection is closed',
    'connection was closed',
    'connection lost',
    'connection terminated',
    'connection ended',
    'connection error',
    'connection failed',
    'connection dropped',
    'connection ended unexpectedly',
    'closed unexpectedly',
    'terminated unexpectedly',
    'closed the connection',
    'premature close',
    'prematurely closed',
    'peer closed connection',
    'incomplete chunked read',
    'stream closed',
    'stream was destroyed',
    'stream ended',
    'connection interrupted',
    'lost connection',
    'server closed the connection',
    'disconnected',
    'goaway',
    'err_http2_stream_cancel',
    'response ended prematurely',
  ],
  dns: [
    'temporary failure in name resolution',
    'name or service not known',
    'getaddrinfo failed',
    'nodename nor servname',
    'name resolution',
    'dns lookup failed',
    'could not resolve host',
  ],
}

export const network: Family = {
  name: 'network',
  cases: [
    {
      code: 'network.reset',
      kind: 'transient',
      advice: AGAIN,
      tokens: words(`
        ECONNRESET EPIPE ECONNABORTED ERR_STREAM_PREMATURE_CLOSE UND_ERR_SOCKET ERR_SOCKET_CLOSED ENETRESET
        ESHUTDOWN ERR_STREAM_DESTROYED ERR_HTTP2_STREAM_ERROR ERR_HTTP2_SESSION_ERROR ERR_HTTP2_GOAWAY_SESSION
        ERR_HTTP2_STREAM_CANCEL ERR_HTTP2_INVALID_SESSION UND_ERR_CLOSED UND_ERR_DESTROYED NGHTTP2_REFUSED_STREAM
        UND_ERR_RES_CONTENT_LENGTH_MISMATCH UND_ERR_INFO HPE_INVALID_EOF_STATE ConnectionClosed
        ERR_CONNECTION_RESET ERR_CONNECTION_CLOSED ERR_CONNECTION_ABORTED ERR_EMPTY_RESPONSE
        ERR_HTTP2_PROTOCOL_ERROR ERR_NETWORK_CHANGED ERR_NETWORK_IO_SUSPENDED ERR_INCOMPLETE_CHUNKED_ENCODING
        ERR_QUIC_PROTOCOL_ERROR HPE_INVALID_CONSTANT HPE_INVALID_CHUNK_SIZE HPE_CLOSED_CONNECTION
        HPE_CB_MESSAGE_COMPLETE ENOTCONN EOF EIO ECONNERR ERR_HTTP2_STREAM_SELF_DEPENDENCY_RESET NGHTTP2_CANCEL
        NGHTTP2_INTERNAL_ERROR NGHTTP2_ENHANCE_YOUR_CALM ERR_HTTP2_CONNECT_ERROR ERR_SOCKET_CLOSED_BEFORE_CONNECTION
        ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC ERR_SSL_BAD_RECORD_TYPE
        ERR_SSL_UNEXPECTED_EOF_WHILE_READING UND_ERR_REQ_RETRY UND_ERR_PRX_TLS
      `),
      names: words(`
        SocketError ConnectionResetError BrokenPipeError RemoteProtocolError ProtocolError IncompleteRead
        ChunkedEncodingError ConnectionError NetworkError ServerDisconnectedError ClientOSError
        ClientConnectorError ConnectionAbortedError
      `),
      hints: [...(NETWORK_SAYS['reset'] ?? []), ...(NETWORK_SAYS['closed'] ?? [])],
    },
    {
      code: 'network.reset',
      name: 'protocol',
      kind: 'transient',
      advice: AGAIN,
      tokens: ['EPROTO'],
      rank: RANK.status,
    },
    {
      code: 'network.refused',
      kind: 'transient',
      advice: 'Check that the service is up and the address and port are right; it may be restarting.',
      tokens: words(`
        ECONNREFUSED EHOSTUNREACH ENETUNREACH ENONET EHOSTDOWN ENETDOWN EADDRNOTAVAIL ConnectionRefused
        FailedToOpenSocket ESOCKET ERR_CONNECTION_REFUSED ERR_INTERNET_DISCONNECTED ERR_ADDRESS_UNREACHABLE
        ERR_CONNECTION_FAILED ERR_PROXY_CONNECTION_FAILED ERR_TUNNEL_CONNECTION_FAILED
      `),
      names: ['ConnectionRefusedError', 'ConnectError', 'NewConnectionError', 'MaxRetryError'],
      hints: NETWORK_SAYS['refused'] ?? [],
    },
    {
      code: 'network.timeout',
      kind: 'transient',
      advice: 'Try again; if it repeats, raise the timeout or look at the network between here and there.',
      tokens: words(`
        ETIMEDOUT ESOCKETTIMEDOUT ETIME UND_ERR_CONNECT_TIMEOUT UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT
        ERR_TLS_HANDSHAKE_TIMEOUT ERR_SOCKET_TIMEOUT ERR_HTTP_REQUEST_TIMEOUT ERR_CANCELED_TIMEOUT HPE_TIMEOUT
        ETIMEOUT ERR_HTTP_SOCKET_TIMEOUT ERR_TIMED_OUT ERR_CONNECTION_TIMED_OUT ERR_SOCKET_CONNECTION_TIMEOUT
      `),
      names: ['ConnectTimeoutError', 'HeadersTimeoutError', 'BodyTimeoutError'],
      says: phrases(`
        connect timeout, connection timed out, headers timeout, body timeout, socket timeout, read timeout,
        connection timeout, handshake timeout
      `),
    },
    {
      code: 'network.dns',
      kind: 'transient',
      advice: 'Check the host name and the resolver; a name that never existed will not appear by waiting.',
      tokens: words(`
        EAI_AGAIN ENOTFOUND ESERVFAIL EAI_NODATA EAI_NONAME ENODATA EREFUSED EAI_FAIL EAI_MEMORY EAI_CANCELED EBADRESP
        ECANCELLED EDESTRUCTION
        ERR_NAME_NOT_RESOLVED ERR_DNS_TIMED_OUT
      `),
      names: ['gaierror'],
      hints: NETWORK_SAYS['dns'] ?? [],
    },
    {
      code: 'network.fetch',
      kind: 'transient',
      advice: AGAIN,
      rank: RANK.vague - 1,
      names: ['FetchError', 'APIConnectionError'],
      tokens: ['ERR_NETWORK', 'ERR_BAD_RESPONSE'],
      hints: phrases(`
        fetch failed, failed to fetch, network error, network request failed, load failed, networkerror, request
        to .. failed, terminated, error sending request, network connection, econnerror
      `),
    },
    {
      code: 'network.aborted',
      kind: 'interrupted',
      advice: 'Nothing: the caller stopped it; raise the deadline if it was meant to finish.',
      names: words(`
        AbortError APIUserAbortError CanceledError CancelledError KeyboardInterrupt
      `),
      tokens: words(`
        ABORT_ERR ERR_CANCELED UND_ERR_ABORTED ECANCELED SIGTERM SIGINT
      `),
      hints: phrases(`
        operation was aborted, request was aborted, user aborted, this operation was aborted, request aborted, was
        canceled, was cancelled
      `),
    },
    {
      code: 'network.busy',
      kind: 'transient',
      advice: 'The host is short of sockets, files or memory; lower concurrency or raise its limits.',
      tokens: words(`
        EMFILE ENFILE EAGAIN EALREADY EBUSY ENOBUFS ENOMEM EWOULDBLOCK EINTR EDEADLK ETXTBSY ERR_WORKER_OUT_OF_MEMORY
        EINPROGRESS
      `),
      hints: ['too many open files', 'resource temporarily unavailable', 'out of memory'],
    },
    {
      code: 'tls.certificate',
      kind: 'final',
      layer: 'infrastructure',
      advice: CERTIFICATE,
      tokens: words(`
        CERT_HAS_EXPIRED DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE
        UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY CERT_NOT_YET_VALID CERT_REVOKED CERT_UNTRUSTED
        CERT_REJECTED CERT_CHAIN_TOO_LONG CERT_SIGNATURE_FAILURE INVALID_CA INVALID_PURPOSE HOSTNAME_MISMATCH
        PATH_LENGTH_EXCEEDED UNABLE_TO_GET_CRL CRL_HAS_EXPIRED CRL_NOT_YET_VALID CRL_SIGNATURE_FAILURE
        UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY UNABLE_TO_DECRYPT_CERT_SIGNATURE ERROR_IN_CERT_NOT_AFTER_FIELD
        ERROR_IN_CERT_NOT_BEFORE_FIELD ERR_TLS_CERT_ALTNAME_INVALID ERR_TLS_CERT_ALTNAME_FORMAT
        ERR_TLS_CERT_SIGNATURE_ALGORITHM_UNSUPPORTED CERTIFICATE_VERIFY_FAILED ERR_CERT_AUTHORITY_INVALID
        ERR_CERT_DATE_INVALID ERR_CERT_COMMON_NAME_INVALID UNKNOWN_CERTIFICATE_VERIFICATION_ERROR
        UNABLE_TO_DECRYPT_CRL_SIGNATURE ERROR_IN_CRL_LAST_UPDATE_FIELD ERROR_IN_CRL_NEXT_UPDATE_FIELD
      `),
      names: ['SSLCertVerificationError', 'CertificateError', 'SSLError'],
      says: phrases(`
        certificate has expired, self signed certificate, certificate verify failed, unable to verify the first
        certificate, unable to get local issuer certificate, unable to get issuer certificate, certificate is not
        yet valid, does not match certificate, match certificate's altnames, certificate unknown, unknown ca,
        certificate required, bad certificate, certificate expired, certificate revoked, unknown issuer,
        certificate is not trusted, certificate not trusted, self signed cert, x509 certificate, cert has expired
      `),
    },
    {
      code: 'tls.protocol',
      kind: 'final',
      layer: 'infrastructure',
      advice:
        'Both sides speak different TLS, or one of them does not speak TLS: check port, proxy and protocol versions.',
      tokens: words(`
        ERR_SSL_WRONG_VERSION_NUMBER ERR_SSL_UNSUPPORTED_PROTOCOL ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE
        ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION ERR_TLS_INVALID_PROTOCOL_VERSION ERR_SSL_NO_CIPHERS_AVAILABLE
        ERR_SSL_UNSAFE_LEGACY_RENEGOTIATION_DISABLED ERR_SSL_DH_KEY_TOO_SMALL ERR_SSL_TLSV1_UNRECOGNIZED_NAME
        ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED ERR_SSL_EE_KEY_TOO_SMALL ERR_OSSL_EVP_UNSUPPORTED
        ERR_OSSL_UNSUPPORTED ERR_SSL_HTTP_REQUEST ERR_SSL_PACKET_LENGTH_TOO_LONG
      `),
      says: phrases(`
        wrong version number, unsupported protocol, no protocols available, legacy renegotiation disabled, alert
        handshake failure, alert protocol version, dh key too small, tlsv1 unrecognized name, alert unrecognized
        name, tlsv1 alert
      `),
      rank: RANK.code + 1,
    },
    {
      code: 'network.address',
      kind: 'final',
      layer: 'infrastructure',
      advice: 'Correct the address: nothing can ever be reached there.',
      tokens: words(`
        EINVAL EAFNOSUPPORT EPROTONOSUPPORT ERR_UNESCAPED_CHARACTERS ERR_INVALID_PROTOCOL ERR_SOCKET_BAD_PORT
        UND_ERR_INVALID_ARG EDESTADDRREQ ERR_FR_TOO_MANY_REDIRECTS ERR_UNSUPPORTED_PROTOCOL UND_ERR_NOT_SUPPORTED
        EADDRINUSE HPE_HEADER_OVERFLOW HPE_INVALID_HEADER_TOKEN HPE_INVALID_CONTENT_LENGTH
        HPE_UNEXPECTED_CONTENT_LENGTH HPE_INVALID_TRANSFER_ENCODING HPE_INVALID_METHOD HPE_INVALID_URL
        HPE_INVALID_VERSION HPE_INVALID_STATUS HPE_LF_EXPECTED HPE_CR_EXPECTED HPE_STRICT
        UND_ERR_HEADERS_OVERFLOW UND_ERR_RES_EXCEEDED_MAX_SIZE UND_ERR_REQ_CONTENT_LENGTH_MISMATCH
        UND_ERR_INVALID_RETURN_VALUE UND_ERR_BPL_MISSING_UPSTREAM EAI_BADFLAGS EAI_FAMILY EAI_ADDRFAMILY EAI_SERVICE
        EAI_SOCKTYPE EAI_PROTOCOL EAI_BADHINTS EAI_OVERFLOW EBADNAME EBADQUERY EBADFAMILY EBADSTR EBADFLAGS EBADHINTS
        ENOTIMP EFORMERR ENONAME EMSGSIZE ENOTSOCK ENOTSUP EOPNOTSUPP ENOPROTOOPT EPROTOTYPE ESOCKTNOSUPPORT ENOSYS
        EFAULT ERANGE EOVERFLOW E2BIG EISCONN ECHARSET
      `),
      says: phrases(`
        only absolute urls, only http s protocols, too many redirects, maximum redirect reached, redirect count
        exceeded, address already in use, header overflow
      `),
    },
    {
      code: 'network.url',
      kind: 'final',
      advice: 'Correct the URL that the program built: it is none.',
      tokens: ['ERR_INVALID_URL'],
      says: ['failed to parse url', 'only absolute urls'],
      rank: RANK.code + 1,
    },
    {
      code: 'file.denied',
      kind: 'final',
      layer: 'infrastructure',
      advice: FILE,
      tokens: words(`
        EACCES EPERM EROFS ENOENT ENOTDIR EISDIR ENOTEMPTY ELOOP ENAMETOOLONG EXDEV EBADF ENXIO ENODEV EFBIG
        EMLINK ESPIPE ENOTTY ESRCH
      `),
      hints: phrases(`
        no such file or directory, read only file system, is a directory, not a directory, operation not
        permitted, not writable, permission denied open, configdirectory not writable
      `),
    },
    {
      code: 'file.exists',
      kind: 'conflict',
      advice: 'Nothing: the file is there already; use it if its content is what was meant.',
      tokens: ['EEXIST'],
      hints: ['file already exists'],
    },
    {
      code: 'file.full',
      kind: 'final',
      layer: 'infrastructure',
      advice: 'Free disk space or raise the quota on this host.',
      tokens: ['ENOSPC', 'EDQUOT'],
      hints: ['no space left on device', 'disk quota exceeded', 'disk full'],
    },
  ],
}
