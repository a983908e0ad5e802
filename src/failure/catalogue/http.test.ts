/**
 * HTTP, sockets, TLS, files, gRPC, plain words and our own codes, in the shapes that clients and Node give them.
 * Each row is one thrown value and the verdict it must get.
 */
import { checkCases, type Row } from './check-cases.ts'

const infrastructure = { layer: 'infrastructure' } as const
const axios = (status: number, data: unknown = {}, headers: object = {}): object => ({
  name: 'AxiosError',
  code: status < 500 ? 'ERR_BAD_REQUEST' : 'ERR_BAD_RESPONSE',
  message: `Request failed with status code ${status}`,
  response: { status, data, headers },
})

const statuses = (list: string, kind: Row[2]): Row[] =>
  list.split(' ').map((status): Row => [`status ${status}`, axios(Number(status)), kind, { code: `http.${status}` }])

const HTTP: Row[] = [
  ...statuses('408 421 423 425 499 500 502 503 504 507 520 522 524 529 530', 'transient'),
  ...statuses('400 401 402 403 404 405 406 407 410 411 413 414 415 416 422 426 428 431 451 501 505 511 526', 'final'),
  ...statuses('429 509', 'rate_limited'),
  ...statuses('409 412', 'conflict'),
  ['unlisted 4xx', { status: 477 }, 'final', { code: 'http.4xx' }],
  ['unlisted 5xx', { status: 577 }, 'transient', { code: 'http.5xx' }],
  ['Retry-After seconds', axios(503, '', { 'Retry-After': '120' }), 'transient', { delay: 120_000 }],
  [
    'Retry-After date with Date',
    axios(429, '', { 'retry-after': 'Wed, 21 Oct 2015 07:28:30 GMT', date: 'Wed, 21 Oct 2015 07:28:00 GMT' }),
    'rate_limited',
    { delay: 30_000 },
  ],
  [
    'Retry-After date with now',
    axios(429, '', { 'retry-after': 'Wed, 21 Oct 2015 07:28:30 GMT' }),
    'rate_limited',
    { now: 1_445_412_480_000, delay: 30_000 },
  ],
  [
    'Retry-After date without any now is left out',
    axios(429, '', { 'retry-after': 'Wed, 21 Oct 2015 07:28:30 GMT' }),
    'rate_limited',
  ],
  [
    'GitHub primary limit behind 403',
    axios(
      403,
      { message: 'API rate limit exceeded for user ID 1.' },
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1700000060' },
    ),
    'rate_limited',
    { now: 1_700_000_000_000, delay: 60_000 },
  ],
  [
    'GitHub limit behind 403, headers only',
    axios(403, {}, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1700000060' }),
    'rate_limited',
    { now: 1_700_000_000_000, delay: 60_000 },
  ],
  [
    'GitHub secondary limit',
    axios(
      403,
      { message: 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.' },
      { 'retry-after': '60' },
    ),
    'rate_limited',
    { delay: 60_000 },
  ],
  [
    'limit headers beside a bad request mean nothing',
    axios(400, { message: 'bad field' }, { 'x-ratelimit-remaining': '10', 'x-ratelimit-reset': '60' }),
    'final',
  ],
  [
    'rate limit behind 400',
    axios(400, { error: { message: 'Application request limit reached', type: 'OAuthException' } }),
    'rate_limited',
  ],
  ['rate limit behind 410', axios(410, 'Rate limit exceeded'), 'rate_limited'],
  [
    'Discord body',
    axios(429, { message: 'You are being rate limited.', retry_after: 0.65, global: false }),
    'rate_limited',
    { delay: 650 },
  ],
  [
    'Telegram body',
    { ok: false, error_code: 429, description: 'Too Many Requests: retry after 35', parameters: { retry_after: 35 } },
    'rate_limited',
    { delay: 35_000 },
  ],
  ['Slack body', { data: { ok: false, error: 'ratelimited' } }, 'rate_limited'],
  ['Shopify', { message: 'Throttled', extensions: { code: 'THROTTLED' } }, 'rate_limited'],
  [
    'Notion',
    { code: 'rate_limited', status: 429, message: 'You have been rate limited. Please try again in a few minutes.' },
    'rate_limited',
  ],
  ['status in prose', 'Request failed with status code 503', 'transient'],
  ['status in prose, 404', 'HTTP error! status: 404', 'final'],
  ['status line', 'HTTP/1.1 429 Too Many Requests', 'rate_limited'],
  ['bracketed', 'got: [502 Bad Gateway]', 'transient'],
  ['a number that is no status', 'processed 429 rows and then stopped', 'transient', { code: 'unknown' }],
  ['nginx page', '<html>\r\n<head><title>504 Gateway Time-out</title></head>\r\n<body></body></html>', 'transient'],
  ['payload', { name: 'PayloadTooLargeError', type: 'entity.too.large', message: 'request entity too large' }, 'final'],
  ['expired token', axios(401, { error: 'Token Expired' }), 'final'],
  ['fetch Response', new Response('', { status: 503, headers: { 'retry-after': '7' } }), 'transient'],
  ['body as text', { statusCode: 429, body: '{"retry_after_ms": 1500}' }, 'rate_limited', { delay: 1_500 }],
  ['server says stop', { headers: { 'x-should-retry': 'false' }, message: 'odd' }, 'final'],
  ['server says go', { status: 400, headers: { 'x-should-retry': 'true' }, message: 'odd' }, 'transient'],
  [
    'bill with a reset is a limit',
    { message: 'Monthly spend limit reached, resets in 2h' },
    'rate_limited',
    { delay: 7_200_000 },
  ],
  ['bill without a reset is final', { message: 'Monthly spend limit reached' }, 'final'],
  [
    'misleading retry in a refusal',
    { message: 'Content was flagged. Please modify your prompt and retry.' },
    'refused',
  ],
]

/** `fetch Response` has no JSON copy worth reading. */
const HTTP_JSON = HTTP.filter(([title]) => title !== 'fetch Response')

const NETWORK: Row[] = [
  ...'ECONNRESET ECONNREFUSED ETIMEDOUT EPIPE ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ECONNABORTED ESOCKETTIMEDOUT UND_ERR_SOCKET UND_ERR_CONNECT_TIMEOUT UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT ERR_STREAM_PREMATURE_CLOSE EMFILE EBUSY'
    .split(' ')
    .map((code): Row => [code, { name: 'Error', code, message: `x ${code}` }, 'transient', infrastructure]),
  ...'CERT_HAS_EXPIRED DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE UNABLE_TO_GET_ISSUER_CERT_LOCALLY ERR_TLS_CERT_ALTNAME_INVALID ERR_SSL_WRONG_VERSION_NUMBER EACCES EROFS ENOSPC ENOENT'
    .split(' ')
    .map((code): Row => [code, { code, message: 'x' }, 'final', infrastructure]),
  [
    'fetch failed with its cause',
    new TypeError('fetch failed', {
      cause: Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:80'), {
        code: 'ECONNREFUSED',
        syscall: 'connect',
      }),
    }),
    'transient',
    { code: 'network.refused' },
  ],
  [
    'fetch failed over a certificate',
    new TypeError('fetch failed', {
      cause: Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' }),
    }),
    'final',
  ],
  ['fetch failed alone', new TypeError('fetch failed'), 'transient'],
  ['terminated', new TypeError('terminated'), 'transient'],
  [
    'aggregate',
    new AggregateError([Object.assign(new Error('connect ECONNREFUSED ::1:80'), { code: 'ECONNREFUSED' })], ''),
    'transient',
  ],
  ['hang up', new Error('socket hang up'), 'transient'],
  ['text only reset', 'Error: read ECONNRESET', 'transient'],
  [
    'text only certificate',
    'request to https://x failed, reason: self-signed certificate in certificate chain',
    'final',
  ],
  [
    'Python refused',
    "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='x', port=443): Max retries exceeded with url: / (Caused by NewConnectionError: Failed to establish a new connection: [Errno 111] Connection refused)",
    'transient',
  ],
  ['timeout signal', new DOMException('The operation was aborted due to timeout', 'TimeoutError'), 'transient'],
  ['abort', new DOMException('This operation was aborted', 'AbortError'), 'interrupted'],
  ['axios timeout', { name: 'AxiosError', code: 'ECONNABORTED', message: 'timeout of 5000ms exceeded' }, 'transient'],
  ['exists', { code: 'EEXIST', message: 'EEXIST: file already exists, open x' }, 'conflict'],
  ['bug', new TypeError("Cannot read properties of undefined (reading 'a')"), 'final'],
  ['bug by name', new ReferenceError('x is not defined'), 'final'],
  ['bad URL', { code: 'ERR_INVALID_URL', name: 'TypeError', message: 'Invalid URL' }, 'final'],
]

const NETWORK_JSON = NETWORK.filter(
  ([, thrown]) => !(thrown instanceof DOMException || thrown instanceof AggregateError),
)
const NETWORK_LIVE = NETWORK.filter(([, thrown]) => thrown instanceof DOMException || thrown instanceof AggregateError)

const GRPC: Row[] = [
  ...'1 CANCELLED transient,2 UNKNOWN transient,3 INVALID_ARGUMENT final,4 DEADLINE_EXCEEDED transient,5 NOT_FOUND final,6 ALREADY_EXISTS conflict,7 PERMISSION_DENIED final,8 RESOURCE_EXHAUSTED rate_limited,9 FAILED_PRECONDITION final,10 ABORTED transient,11 OUT_OF_RANGE final,12 UNIMPLEMENTED final,13 INTERNAL transient,14 UNAVAILABLE transient,15 DATA_LOSS final,16 UNAUTHENTICATED final'
    .split(',')
    .flatMap((line): Row[] => {
      const [number = '', name = '', kind = ''] = line.split(' ')
      return [
        [
          `number ${number}`,
          { code: Number(number), details: 'x', metadata: {} },
          kind as Row[2],
          { code: `grpc.${name}` },
        ],
        [`name ${name}`, { message: `${number} ${name}: x` }, kind as Row[2], { code: `grpc.${name}` }],
      ]
    }),
  [
    'RetryInfo as protobuf',
    { code: 8, details: 'slow', metadata: {}, statusDetails: [{ retryDelay: { seconds: '3', nanos: 500_000_000 } }] },
    'rate_limited',
    { delay: 3_500 },
  ],
]

const DOMAIN: Row[] = [
  ...'FLOW_RUN_NOT_FOUND final,FLOW_RUN_INVALID final,PROMPT_NOT_FOUND final,LLM_PROFILE_INVALID final,INVALID_STEP_INPUTS final,MODEL_NOT_FOUND final,LLM_SAFETY_BLOCK refused,INVALID_STRUCTURED_OUTPUT syntax,FIRESTORE_UNAVAILABLE transient,FIRESTORE_CLAIM_FAILED transient,FIRESTORE_FINALIZE_FAILED transient,GCS_WRITE_FAILED transient,GEMINI_REQUEST_FAILED transient,RATE_LIMITED rate_limited,STEP_CLAIM_CONFLICT conflict,STEP_FINALIZE_CONFLICT conflict,NO_READY_STEP conflict,DEPENDENCY_NOT_SUCCEEDED conflict,ARTIFACT_CONFLICT final'
    .split(',')
    .map((line): Row => {
      const [code = '', kind = ''] = line.split(' ')
      return [code, { code, message: 'x' }, kind as Row[2], code === 'RATE_LIMITED' ? {} : { code }]
    }),
  ['syntax exception', { name: 'SyntaxValidationError', message: 'Invalid JSON: x' }, 'syntax'],
  ['semantic exception', { name: 'SemanticValidationError', message: "Gate validation failed: ['total']" }, 'semantic'],
  ['budget exception', { name: 'ProBudgetExhaustedError', message: 'Pro budget is spent' }, 'exhausted'],
  ['ResourceExhausted', { name: 'ResourceExhausted', message: '429 Quota exceeded' }, 'rate_limited'],
  ['ServiceUnavailable', { name: 'ServiceUnavailable', message: '503 The service is unavailable' }, 'transient'],
]

checkCases({ http: HTTP_JSON, network: NETWORK_JSON, grpc: GRPC, domain: DOMAIN })
checkCases(
  {
    'live objects': [
      ...HTTP.filter(([title]) => title === 'fetch Response').map(
        ([title, thrown, kind]): Row => [title, thrown, kind, { delay: 7_000 }],
      ),
      ...NETWORK_LIVE,
    ],
  },
  { copies: false },
)
