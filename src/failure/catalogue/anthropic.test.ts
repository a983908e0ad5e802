/**
 * Anthropic and the model gateways, in the shapes their documentation and libraries give their errors.
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

const ANTHROPIC: Row[] = [
  [
    'overloaded',
    apiError(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    'transient',
    { code: 'anthropic.overloaded' },
  ],
  [
    'overloaded inside a stream',
    '{"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"}}',
    'transient',
  ],
  [
    'rate limit',
    apiError(
      429,
      {
        type: 'error',
        error: {
          type: 'rate_limit_error',
          message: "This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
        },
      },
      { headers: { 'retry-after': '17' } },
    ),
    'rate_limited',
    { delay: 17_000 },
  ],
  [
    'acceleration',
    apiError(429, {
      type: 'error',
      error: { type: 'rate_limit_error', message: 'Number of request tokens has exceeded your per-minute rate limit' },
    }),
    'rate_limited',
  ],
  [
    'api error',
    apiError(500, { type: 'error', error: { type: 'api_error', message: 'Internal server error' } }),
    'transient',
  ],
  [
    'credit',
    apiError(400, {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message:
          'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
      },
    }),
    'final',
    { code: 'anthropic.credit' },
  ],
  [
    'long prompt',
    apiError(400, {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
    }),
    'final',
    { code: 'anthropic.too-long' },
  ],
  [
    'max tokens',
    apiError(400, {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000',
      },
    }),
    'final',
  ],
  [
    'request too large',
    apiError(413, { type: 'error', error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } }),
    'final',
  ],
  [
    'bad key',
    apiError(401, { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } }),
    'final',
  ],
  [
    'permission',
    apiError(403, {
      type: 'error',
      error: {
        type: 'permission_error',
        message: 'Your API key does not have permission to use the specified resource.',
      },
    }),
    'final',
  ],
  [
    'unknown model',
    apiError(404, { type: 'error', error: { type: 'not_found_error', message: 'model: claude-9' } }),
    'final',
  ],
  [
    'tool ids',
    apiError(400, {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_x.',
      },
    }),
    'final',
  ],
  [
    'output filter',
    apiError(400, {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'Output blocked by content filtering policy' },
    }),
    'refused',
  ],
  [
    'usage limit with a date',
    {
      status: 400,
      message:
        '400 {"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-02-01 at 00:00 UTC."}}',
    },
    'rate_limited',
    { now: 1_769_817_600_000, delay: 86_400_000 },
  ],
  [
    'reset header in ISO',
    {
      status: 429,
      headers: {
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': '2026-01-01T00:01:00Z',
        date: 'Thu, 01 Jan 2026 00:00:00 GMT',
      },
      error: { type: 'error', error: { type: 'rate_limit_error', message: 'slow' } },
    },
    'rate_limited',
    { delay: 60_000 },
  ],
  [
    'timeout type',
    apiError(504, { type: 'error', error: { type: 'timeout_error', message: 'Request timed out' } }),
    'transient',
  ],
  [
    'image',
    apiError(400, { type: 'error', error: { type: 'invalid_request_error', message: 'Could not process image' } }),
    'final',
  ],
  [
    'disabled organisation',
    apiError(400, {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'This organization has been disabled.' },
    }),
    'final',
  ],
]

const GATEWAYS: Row[] = [
  [
    'OpenRouter upstream limit in a 200',
    {
      error: {
        message: 'Provider returned error',
        code: 429,
        metadata: { raw: 'model is temporarily rate-limited upstream. Please retry shortly.', provider_name: 'X' },
      },
    },
    'rate_limited',
  ],
  [
    'OpenRouter credits',
    {
      status: 402,
      error: {
        message:
          'This request requires more credits, or fewer max_tokens. You requested up to 4096 tokens, but can only afford 100.',
        code: 402,
      },
    },
    'final',
  ],
  [
    'OpenRouter free day',
    {
      error: {
        message: 'Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day',
        code: 429,
        metadata: {
          headers: { 'X-RateLimit-Limit': '50', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '1767312000000' },
        },
      },
    },
    'rate_limited',
    { now: 1_767_311_000_000, delay: 1_000_000 },
  ],
  ['OpenRouter no endpoint', { error: { message: 'No endpoints found for foo/bar.', code: 404 } }, 'final'],
  [
    'OpenRouter upstream down',
    { error: { message: 'Provider returned error', code: 502, metadata: { raw: '' } } },
    'transient',
  ],
  [
    'LiteLLM rate limit',
    'litellm.RateLimitError: RateLimitError: OpenAIException - Error code: 429 - rate limit',
    'rate_limited',
  ],
  [
    'LiteLLM budget',
    {
      status: 400,
      message:
        "400 {'error': {'message': 'Budget has been exceeded! Current cost: 10.01, Max budget: 10.0', 'type': 'budget_exceeded', 'param': None, 'code': '400'}}",
    },
    'final',
  ],
  [
    'LiteLLM context',
    'litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: OpenAIException',
    'final',
  ],
  [
    'Groq limit',
    apiError(429, {
      message:
        'Rate limit reached for model `llama3-70b-8192` in organization `org_x` on tokens per minute (TPM): Limit 6000, Used 5800, Requested 900. Please try again in 7.66s.',
      type: 'tokens',
      code: 'rate_limit_exceeded',
    }),
    'rate_limited',
    { delay: 7_660 },
  ],
  [
    'Groq tool use',
    apiError(400, {
      message: "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
      type: 'invalid_request_error',
      code: 'tool_use_failed',
    }),
    'syntax',
  ],
  ['DeepSeek balance', { status: 402, message: '402 Insufficient Balance' }, 'final'],
  ['Mistral capacity', { status: 429, message: 'Service tier capacity exceeded for this model.' }, 'rate_limited'],
  [
    'Qwen inspection',
    { status: 400, code: 'data_inspection_failed', message: 'Input data may contain inappropriate content.' },
    'refused',
  ],
  [
    'HF loading',
    { status: 503, message: 'Model meta/x is currently loading', estimated_time: 20 },
    'transient',
    { delay: 20_000 },
  ],
  ['spend cap', { status: 402, message: 'Monthly spend limit reached for this key' }, 'final'],
]

checkCases({ anthropic: ANTHROPIC, gateways: GATEWAYS })
