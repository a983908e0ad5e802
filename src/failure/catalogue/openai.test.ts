/**
 * OpenAI and Azure OpenAI, in the shapes their documentation and libraries give their errors.
 * Each row is one thrown value and the verdict it must get.
 */
import { checkCases, type Row } from './check-cases.ts'

const apiError = (status: number, error: unknown, extra: object = {}): object => ({
  name: 'APIError',
  status,
  message: `${status} ${JSON.stringify(error)}`,
  error,
  ...extra,
})

const OPENAI: Row[] = [
  [
    'tokens per minute',
    apiError(429, {
      message:
        'Rate limit reached for gpt-4o in organization org-abc on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.',
      type: 'tokens',
      param: null,
      code: 'rate_limit_exceeded',
    }),
    'rate_limited',
    { delay: 2_000 },
  ],
  [
    'requests per day',
    {
      message:
        'Rate limit reached for gpt-3.5-turbo in organization org-x on requests per day (RPD): Limit 200, Used 200, Requested 1. Please try again in 7m12s.',
    },
    'rate_limited',
    { delay: 432_000 },
  ],
  [
    'insufficient quota',
    apiError(429, {
      message: 'You exceeded your current quota, please check your plan and billing details.',
      type: 'insufficient_quota',
      param: null,
      code: 'insufficient_quota',
    }),
    'final',
    { code: 'openai.insufficient_quota' },
  ],
  [
    'insufficient quota in words',
    'openai.RateLimitError: Error code: 429 - You exceeded your current quota, please check your plan and billing details.',
    'final',
  ],
  [
    'hard limit',
    apiError(400, {
      message: 'Billing hard limit has been reached',
      type: 'invalid_request_error',
      code: 'billing_hard_limit_reached',
    }),
    'final',
  ],
  [
    'not active',
    { status: 429, message: 'Your account is not active, please check your billing details on our website.' },
    'final',
  ],
  [
    'overloaded',
    apiError(503, {
      message: 'That model is currently overloaded with other requests. You can retry your request.',
      type: 'server_error',
    }),
    'transient',
  ],
  [
    'engine overloaded 429',
    { status: 429, message: '429 The engine is currently overloaded, please try again later', type: 'server_error' },
    'transient',
  ],
  [
    'server error',
    apiError(500, {
      message: 'The server had an error while processing your request. Sorry about that!',
      type: 'server_error',
      param: null,
      code: null,
    }),
    'transient',
  ],
  [
    'connection error',
    {
      name: 'APIConnectionError',
      message: 'Connection error.',
      cause: {
        name: 'FetchError',
        message: 'request to https://api.openai.com/v1 failed, reason: read ECONNRESET',
        code: 'ECONNRESET',
      },
    },
    'transient',
  ],
  ['timeout class', { name: 'APIConnectionTimeoutError', message: 'Request timed out.' }, 'transient'],
  [
    'wrong key',
    apiError(401, {
      message:
        'Incorrect API key provided: sk-abc. You can find your API key at https://platform.openai.com/account/api-keys.',
      type: 'invalid_request_error',
      code: 'invalid_api_key',
    }),
    'final',
  ],
  [
    'no access to model',
    apiError(404, {
      message: 'The model `gpt-9` does not exist or you do not have access to it.',
      type: 'invalid_request_error',
      code: 'model_not_found',
    }),
    'final',
  ],
  [
    'context length',
    apiError(400, {
      message:
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages.",
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
    }),
    'final',
  ],
  [
    'request too large for TPM',
    apiError(429, {
      message:
        'Request too large for gpt-4 in organization org-x on tokens per min (TPM): Limit 10000, Requested 12000. The input or output tokens must be reduced in order to run successfully.',
      type: 'tokens',
      code: 'rate_limit_exceeded',
    }),
    'final',
  ],
  [
    'bad schema',
    apiError(400, {
      message:
        "Invalid schema for response_format 'x': In context=(), 'additionalProperties' is required to be supplied and to be false.",
      type: 'invalid_request_error',
      param: 'response_format',
      code: null,
    }),
    'final',
  ],
  [
    'tool order',
    {
      status: 400,
      message:
        "400 An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
    },
    'final',
  ],
  [
    'region',
    apiError(403, {
      code: 'unsupported_country_region_territory',
      message: 'Country, region, or territory not supported',
      type: 'request_forbidden',
    }),
    'final',
  ],
  [
    'image safety',
    apiError(400, {
      code: 'content_policy_violation',
      message: 'Your request was rejected as a result of our safety system.',
      type: 'invalid_request_error',
    }),
    'refused',
  ],
  [
    'moderation',
    apiError(400, {
      code: 'moderation_blocked',
      message: 'Your request was rejected by the safety system.',
      type: 'image_generation_user_error',
    }),
    'refused',
  ],
  [
    'usage policy',
    apiError(400, {
      message:
        'Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt.',
      code: 'invalid_prompt',
    }),
    'refused',
  ],
  [
    'unverified organisation',
    { status: 403, message: '403 Your organization must be verified to use the model `gpt-image-1`.' },
    'final',
  ],
  [
    'Azure content filter',
    apiError(400, {
      message:
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
      code: 'content_filter',
      status: 400,
      innererror: { code: 'ResponsibleAIPolicyViolation' },
    }),
    'refused',
  ],
  [
    'Azure pace',
    {
      status: 429,
      message:
        'Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2023-05-15 have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 6 seconds.',
    },
    'rate_limited',
    { delay: 6_000 },
  ],
  [
    'Azure deployment',
    apiError(404, { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' }),
    'final',
  ],
  [
    'Azure key',
    { status: 401, message: '401 Access denied due to invalid subscription key or wrong API endpoint.' },
    'final',
  ],
  [
    'run failed',
    { status: 'failed', last_error: { code: 'rate_limit_exceeded', message: 'You exceeded your rate limit.' } },
    'rate_limited',
  ],
  ['run failed on the server', { last_error: { code: 'server_error', message: 'Something went wrong.' } }, 'transient'],
  [
    'bad gateway page',
    { status: 502, message: '502 <html><head><title>502 Bad Gateway</title></head><body>cloudflare</body></html>' },
    'transient',
  ],
  [
    'refusal of the model',
    { name: 'Error', message: "The model refused to answer: I'm sorry, I can't assist with that request." },
    'refused',
  ],
  [
    'truncated',
    { name: 'LengthFinishReasonError', message: 'Could not parse response content as the length limit was reached' },
    'syntax',
  ],
  [
    'retry-after-ms wins over its rounded sibling',
    { status: 429, headers: { 'retry-after': '2', 'retry-after-ms': '1250' }, message: '429 Rate limit' },
    'rate_limited',
    { delay: 1_250 },
  ],
  [
    'limit reset header at zero',
    {
      status: 429,
      headers: {
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '1m30s',
        'x-ratelimit-remaining-requests': '99',
        'x-ratelimit-reset-requests': '8.64s',
      },
      message: 'rate limit',
    },
    'rate_limited',
    { delay: 90_000 },
  ],
]

checkCases({ openai: OPENAI })
