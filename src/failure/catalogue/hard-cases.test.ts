/**
 * Errors that look like something else: a request refused by a validator, a server's code on a client's mistake,
 * codes no catalogue lists, moderation without a code, limits without a status. Own words in the vendors' shapes.
 */
import { checkCases, type Row } from './check-cases.ts'

const UNLISTED_CODES: readonly Row[] = [
  [
    'limit in an error type',
    { status: 'error', errorType: 'RATE_LIMIT', message: 'The rolling window is full.' },
    'rate_limited',
  ],
  ['limit in a camel-case code', { code: 'TenantRateLimitHit', message: 'Not now.' }, 'rate_limited'],
  [
    'dotted policy code',
    { fault: { faultstring: 'Stopped.', detail: { errorcode: 'policies.ratelimit.QuotaViolation' } } },
    'rate_limited',
  ],
  ['fault string', { fault: { faultstring: 'Rate limit quota violation. Quota limit exceeded.' } }, 'rate_limited'],
  [
    'a code that calls the request invalid',
    { error: { code: 'InvalidFrameShape', message: 'Frame is odd.' } },
    'final',
  ],
  [
    'a code that calls a feature unsupported',
    { code: 'unsupported_wire_revision', message: 'Use a later one.' },
    'final',
  ],
  ['a class name that says it', { name: 'UpstreamOverloadedError', message: 'No.' }, 'transient'],
  [
    'a status knows better than a spelled-out code',
    { status: 503, code: 'InvalidFrameShape', message: 'No.' },
    'transient',
  ],
  [
    'a place named in a field says nothing',
    { message: 'Odd.', constraint: 'invalid_order_check' },
    'transient',
    { code: 'unknown' },
  ],
]

const WHO_CHECKED: readonly Row[] = [
  [
    'a provider’s validator speaks of the request',
    {
      status: 400,
      error: {
        type: 'invalid_request_error',
        message: 'Invalid input: expected string, received undefined',
        param: 'messages.1',
      },
    },
    'final',
  ],
  ['a server’s validator beside 422', { status: 422, message: 'Expected string, received null' }, 'final'],
  [
    'the same words about an answer',
    { message: 'The answer failed the check: Expected string, received null' },
    'semantic',
  ],
  [
    'arguments that parse and do not fit',
    {
      status: 400,
      error: {
        code: 'tool_use_failed',
        type: 'invalid_request_error',
        message: 'tool call validation failed: parameters for tool find did not match schema',
      },
    },
    'semantic',
    { code: 'gateway.tool-input' },
  ],
  [
    'arguments that do not parse',
    { status: 400, error: { code: 'tool_use_failed', message: 'Failed to call a function.' } },
    'syntax',
  ],
  ['a tool without a name', { message: 'Invalid tool name' }, 'semantic'],
  ['a tool nobody has', { message: 'No tool named "lookup" is currently available.' }, 'semantic'],
  ['an answer cut by its budget', { message: 'Model x unable to complete request: max_output_tokens' }, 'syntax'],
  ['a body that never came', { name: 'AI_EmptyResponseBodyError', message: 'Empty response body' }, 'transient'],
]

const SERVER_WORDS: readonly Row[] = [
  [
    'server_error on a file that is too large',
    { status: 413, error: { type: 'server_error', message: 'Maximum content size limit exceeded' } },
    'final',
  ],
  [
    'server_error behind 400',
    { status: 400, error: { type: 'server_error', message: 'Sorry about that.' } },
    'transient',
  ],
  ['internal_error on a bad key', { status: 401, code: 'internal_error', message: 'No.' }, 'final'],
  [
    'a lock held by another request',
    { type: 'invalid_request_error', code: 'lock_timeout', statusCode: 429, message: 'Held.' },
    'transient',
  ],
  [
    'an idempotency key in use',
    { statusCode: 409, code: 'idempotency_key_in_use', message: 'Still running.' },
    'transient',
  ],
  [
    'a platform’s own no',
    { code: 'slack_webapi_platform_error', message: 'An API error occurred: channel_not_found' },
    'final',
  ],
  [
    'a platform’s passing fault',
    { code: 'slack_webapi_platform_error', data: { ok: false, error: 'service_unavailable' } },
    'transient',
  ],
  [
    'response larger than allowed',
    { name: 'AxiosError', code: 'ERR_BAD_RESPONSE', message: 'maxContentLength size of 9 exceeded' },
    'final',
  ],
  [
    'an address that is none',
    { name: 'TypeError', code: 'ERR_INVALID_URL', message: 'Failed to parse URL from x' },
    'final',
  ],
  [
    'a model too big for the machine',
    { status_code: 500, message: 'model requires more system memory (9 GiB) than is available' },
    'final',
  ],
]

const LIMITS_IN_WORDS: readonly Row[] = [
  ['calls per second', { errors: 'Exceeded 3 calls per second for api client. Reduce request rates.' }, 'rate_limited'],
  ['too quickly behind 400', { statusCode: 400, message: 'You are creating items too quickly.' }, 'rate_limited'],
  [
    'a bot library’s own queue',
    { name: 'RateLimitError', timeToReset: 1_200, limit: 5, route: '/x', global: false },
    'rate_limited',
    { delay: 1_200 },
  ],
  ['edge code 1015', 'error code: 1015', 'rate_limited'],
  ['edge code 1020', 'error code: 1020', 'final'],
  ['edge code 1033', 'error code: 1033', 'transient'],
  [
    'only after',
    { status: 429, message: 'You can only request this after 12 seconds.' },
    'rate_limited',
    { delay: 12_000 },
  ],
  [
    'loading, with an estimate',
    { error: 'Model a/b is currently loading', estimated_time: 4.5 },
    'transient',
    { delay: 4_500 },
  ],
  [
    'a key’s own cap',
    { message: 'Prompt tokens limit exceeded: 9 > 4. Create a key with a higher monthly limit' },
    'final',
  ],
]

const REFUSALS: readonly Row[] = [
  ['moderation as a name', { name: 'content_moderation', errors: ['The request was denied.'] }, 'refused'],
  ['nsfw', 'NSFW content detected. Try a different prompt.', 'refused'],
  [
    'flagged as sensitive',
    { message: 'The output was flagged as sensitive. Please try again with other inputs.' },
    'refused',
  ],
  [
    'a guardrail’s tripwire',
    { name: 'InputGuardrailTripwireTriggered', message: 'Input guardrail triggered' },
    'refused',
  ],
  ['turns used up', { name: 'MaxTurnsExceededError', message: 'Max turns (10) exceeded' }, 'final'],
]

checkCases({
  'unlisted codes': UNLISTED_CODES,
  'who checked what': WHO_CHECKED,
  'server words': SERVER_WORDS,
  'limits in words': LIMITS_IN_WORDS,
  refusals: REFUSALS,
})
