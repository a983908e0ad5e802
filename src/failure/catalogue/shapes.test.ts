/**
 * The same faults in the shapes that other clients, mappers and logs give them: fields missing, bodies as text, wrappers around.
 * Each row is a kind and a thrown value.
 */
import type { Kind } from '../failure.ts'
import { checkCases, type Row } from './check-cases.ts'

/** What tells a delay in the rows below, and how long. */
const DELAYS: Readonly<Record<string, number>> = {
  'try again in 20s': 20_000,
  'Retrying in 5 seconds': 5_000,
  '"retry-after":"30"': 30_000,
  '"retry_after":3': 3_000,
}

const SHAPES: ReadonlyArray<readonly [Kind, unknown]> = [
  [
    'transient',
    {
      name: 'ServerError',
      message: '{"error":{"code":500,"message":"Internal error encountered.","status":"INTERNAL"}}',
    },
  ],
  ['refused', { name: 'Error', message: 'Gemini response blocked. Reason: SAFETY' }],
  [
    'refused',
    {
      response: {
        candidates: [
          {
            finishReason: 'SAFETY',
            safetyRatings: [{ category: 'HARM_CATEGORY_DANGEROUS_CONTENT', probability: 'HIGH' }],
          },
        ],
      },
      message: 'No content',
    },
  ],
  [
    'final',
    {
      status: 400,
      message:
        '{"error":{"code":400,"message":"The request\'s total referenced files bytes are too large to be read","status":"INVALID_ARGUMENT"}}',
    },
  ],
  [
    'final',
    {
      status: 400,
      message:
        '{"error":{"message":"* GenerateContentRequest.tools[0].function_declarations[0].parameters.properties: should be non-empty for OBJECT type","code":400,"status":"INVALID_ARGUMENT"}}',
    },
  ],
  ['rate_limited', { message: 'exception TypeError: fetch failed sending request; 429 Too Many Requests' }],
  [
    'final',
    {
      name: 'ApiError',
      status: 403,
      message:
        '{"error":{"code":403,"message":"Requests to this API generativelanguage.googleapis.com method google.ai.generativelanguage.v1beta.GenerativeService.GenerateContent are blocked.","status":"PERMISSION_DENIED","details":[{"reason":"API_KEY_SERVICE_BLOCKED"}]}}',
    },
  ],
  [
    'transient',
    {
      name: 'ApiError',
      status: 503,
      message:
        '{"error":{"message":"{\\n  \\"error\\": {\\n    \\"code\\": 503,\\n    \\"message\\": \\"The model is overloaded. Please try again later.\\",\\n    \\"status\\": \\"UNAVAILABLE\\"\\n  }\\n}\\n","code":503,"status":"Service Unavailable"}}',
    },
  ],
  ['final', { error: { code: 400, message: 'Please use a valid role: user, model.', status: 'INVALID_ARGUMENT' } }],
  [
    'transient',
    {
      error: {
        message: 'The server had an error while processing your request. Sorry about that!',
        type: 'server_error',
        param: null,
        code: null,
      },
    },
  ],
  [
    'final',
    {
      name: 'PermissionDeniedError',
      status: 403,
      error: {
        message: 'Project `proj_x` does not have access to model `gpt-4o`',
        type: 'invalid_request_error',
        code: 'model_not_found',
      },
    },
  ],
  [
    'rate_limited',
    {
      name: 'RateLimitError',
      status: 429,
      error: {
        message:
          'Rate limit reached for gpt-4 in organization org-x on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s. Visit https://platform.openai.com/account/rate-limits to learn more. You can increase your rate limit by adding a payment method to your account at https://platform.openai.com/account/billing.',
        type: 'requests',
        code: 'rate_limit_exceeded',
      },
    },
  ],
  [
    'final',
    {
      name: 'BadRequestError',
      status: 400,
      message:
        "400 Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    },
  ],
  ['final', { status: 400, message: '400 you must provide a model parameter' }],
  ['final', { status: 413, message: 'Maximum content size limit (26214400) exceeded (26228568 bytes read)' }],
  ['final', { message: 'Error: Azure OpenAI: Resource not found (404)' }],
  ['refused', { status: 400, message: 'Your image was rejected: "The prompt was flagged by our content policy."' }],
  [
    'final',
    {
      name: 'Error',
      message:
        "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly.)",
    },
  ],
  [
    'rate_limited',
    {
      status: 429,
      error: {
        type: 'error',
        error: {
          type: 'rate_limit_error',
          message: "This request would exceed your account's rate limit. Please try again later.",
        },
      },
    },
  ],
  [
    'final',
    {
      status: 400,
      error: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message:
            'messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row',
        },
      },
    },
  ],
  [
    'transient',
    {
      message:
        'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_x"}',
    },
  ],
  ['transient', { message: 'API Error (Connection error.) · Retrying in 5 seconds… (attempt 4/10)' }],
  ['transient', { name: 'Error', message: 'Stream idle timeout - partial response received' }],
  ['final', { message: 'Invalid API key · Please run /login' }],
  [
    'final',
    {
      status: 400,
      message:
        '400 {"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude-3-opus"}}',
    },
  ],
  [
    'final',
    {
      error: {
        message: 'Key limit exceeded (total limit). Manage it using https://openrouter.ai/settings/keys',
        code: 403,
      },
    },
  ],
  [
    'refused',
    {
      error: {
        message: 'openai/gpt-4 requires moderation on OpenAI. Your input was flagged for "violence"',
        code: 403,
        metadata: { reasons: ['violence'], flagged_input: 'x' },
      },
    },
  ],
  ['final', { error: { message: 'No endpoints found that support tool use.', code: 404 } }],
  [
    'transient',
    { error: { message: 'Provider returned error', code: 503, metadata: { raw: 'upstream connect error' } } },
  ],
  [
    'syntax',
    {
      name: 'AI_JSONParseError',
      message: 'JSON parsing failed: Text: data: [DONE].\nError message: Unexpected token d in JSON at position 0',
    },
  ],
  [
    'semantic',
    {
      name: 'AI_TypeValidationError',
      message:
        'Type validation failed: Value: {"name":"x"}.\nError message: [{"code":"invalid_type","expected":"number","received":"undefined","path":["age"],"message":"Required"}]',
    },
  ],
  ['final', { name: 'AI_InvalidPromptError', message: 'Invalid prompt: The messages must be a ModelMessage[].' }],
  ['final', { name: 'AI_NoSuchModelError', message: 'No such languageModel: foo' }],
  ['transient', { name: 'AI_APICallError', message: 'Cannot connect to API: read ECONNRESET', isRetryable: true }],
  [
    'final',
    { name: 'AI_APICallError', statusCode: 401, message: 'Unauthorized', responseBody: '{"error":"Invalid token"}' },
  ],
  ['semantic', { name: 'ToolInputParsingException', message: 'Received tool input did not match expected schema' }],
  ['final', { name: 'Error', message: 'Unsupported message type: foo' }],
  ['syntax', { name: 'OutputParserException', message: 'Function name not found / Could not parse LLM Output: ' }],
  [
    'semantic',
    {
      name: 'ValidationError',
      message: '1 validation error for Person\nage\n  Input should be a valid integer [type=int_parsing]',
    },
  ],
  ['syntax', 'SyntaxError: Unexpected token \'`\', "```json\n{"... is not valid JSON'],
  ['syntax', 'Unterminated string in JSON at position 4096'],
  ['syntax', { name: 'JsonProcessingError', message: 'No JSON object found in model output' }],
  [
    'rate_limited',
    {
      name: 'ApiError',
      code: 403,
      errors: [
        {
          message: 'Exceeded rate limits: too many concurrent queries for this project_and_region',
          reason: 'rateLimitExceeded',
        },
      ],
    },
  ],
  [
    'final',
    {
      name: 'ApiError',
      code: 403,
      errors: [{ reason: 'billingNotEnabled', message: 'Billing has not been enabled for this project.' }],
    },
  ],
  [
    'transient',
    { name: 'ApiError', code: 502, message: '<!DOCTYPE html><html lang=en><title>Error 502 (Server Error)!!1</title>' },
  ],
  ['final', { name: 'ApiError', code: 404, errors: [{ reason: 'notFound', message: 'Not found: Dataset x:y' }] }],
  ['final', { name: 'ApiError', message: "Invalid value at 'rows[0]'" }],
  [
    'conflict',
    { name: 'ApiError', code: 409, errors: [{ reason: 'duplicate', message: 'Already Exists: Table p:d.t' }] },
  ],
  [
    'transient',
    {
      code: 14,
      details: 'upstream connect error or disconnect/reset before headers. reset reason: connection termination',
      metadata: {},
    },
  ],
  ['final', { code: 3, details: 'Invalid resource field value in the request.', metadata: {} }],
  ['transient', { code: 10, message: '10 ABORTED: The transaction was aborted due to a conflict' }],
  ['final', { code: 5, message: '5 NOT_FOUND: The database (default) does not exist for project x', details: 'x' }],
  ['conflict', { code: 6, message: '6 ALREADY_EXISTS: entity already exists', details: 'x' }],
  ['conflict', { name: 'FirebaseError', code: 'already-exists', message: 'Document already exists' }],
  ['transient', { name: 'FirebaseError', code: 'aborted', message: 'Transaction failed' }],
  [
    'final',
    {
      name: 'FirebaseError',
      code: 'storage/unauthorized',
      message: "Firebase Storage: User does not have permission to access 'x'.",
    },
  ],
  ['final', { name: 'FirebaseError', code: 'storage/object-not-found', message: "Object 'x' does not exist." }],
  [
    'transient',
    {
      name: 'FirebaseError',
      code: 'storage/retry-limit-exceeded',
      message: 'Max retry time for operation exceeded, please try again.',
    },
  ],
  ['final', { code: 'ENOENT', message: "ENOENT: no such file or directory, open '/key.json'" }],
  [
    'transient',
    {
      name: 'Error',
      message: 'The request was aborted because there was no available instance. (Cloud Run 429)',
      code: 503,
    },
  ],
  ['transient', { name: 'MongoServerSelectionError', message: 'connect ECONNREFUSED ::1:27017' }],
  ['conflict', { code: 11000, keyPattern: { email: 1 }, message: 'E11000 duplicate key error' }],
  ['transient', { name: 'MongoWriteConcernError', code: 64, message: 'waiting for replication timed out' }],
  ['transient', { name: 'MongoServerError', code: 13436, message: 'node is not in primary or recovering state' }],
  ['final', { name: 'MongoServerError', code: 9, codeName: 'FailedToParse', message: 'x' }],
  [
    'final',
    {
      name: 'ValidationError',
      message: 'User validation failed: email: Path `email` is required.',
      errors: { email: { name: 'ValidatorError', kind: 'required' } },
      _message: 'User validation failed',
    },
  ],
  [
    'transient',
    { message: 'Connection closed: 504 (CHANNEL-ERROR) with message "CHANNEL_ERROR - expected \'channel.open\'"' },
  ],
  ['transient', { code: 'ETIMEDOUT', message: 'connect ETIMEDOUT 1.2.3.4:5672' }],
  [
    'final',
    {
      message:
        "Operation failed: ExchangeDeclare; 406 (PRECONDITION-FAILED) with message \"PRECONDITION_FAILED - inequivalent arg 'type' for exchange 'x'\"",
      code: 406,
    },
  ],
  ['final', { message: 'Handshake terminated by server: 403 (ACCESS-REFUSED)' }],
  ['transient', { name: 'error', code: '57P01', message: 'terminating connection due to administrator command' }],
  ['final', { name: 'error', code: '42703', message: 'column "x" does not exist' }],
  ['conflict', { code: 'ER_DUP_ENTRY', errno: 1062 }],
  ['transient', { name: 'SequelizeConnectionAcquireTimeoutError', message: 'Operation timeout' }],
  ['transient', { name: 'SequelizeConnectionRefusedError', message: 'connect ECONNREFUSED 127.0.0.1:5432' }],
  [
    'final',
    {
      name: 'SequelizeForeignKeyConstraintError',
      message: 'insert or update on table "x" violates foreign key constraint',
    },
  ],
  [
    'transient',
    { name: 'PrismaClientInitializationError', errorCode: 'P1001', message: "Can't reach database server at `x:5432`" },
  ],
  [
    'final',
    {
      name: 'PrismaClientInitializationError',
      errorCode: 'P1000',
      message: 'Authentication failed against database server',
    },
  ],
  [
    'transient',
    { name: 'KnexTimeoutError', message: 'Knex: Timeout acquiring a connection. The pool is probably full.' },
  ],
  ['final', { code: 'SQLITE_CORRUPT', message: 'SQLITE_CORRUPT: database disk image is malformed' }],
  ['conflict', { code: 'SQLITE_CONSTRAINT_PRIMARYKEY', message: 'UNIQUE constraint failed: t.id' }],
  [
    'transient',
    { name: 'TypeError', message: 'fetch failed', cause: { code: 'EAI_AGAIN', message: 'getaddrinfo EAI_AGAIN x' } },
  ],
  [
    'final',
    {
      name: 'TypeError',
      message: 'fetch failed',
      cause: { code: 'SELF_SIGNED_CERT_IN_CHAIN', message: 'self-signed certificate in certificate chain' },
    },
  ],
  ['transient', { name: 'SocketError', message: 'other side closed', code: 'UND_ERR_SOCKET' }],
  ['final', { code: 'ERR_TLS_CERT_ALTNAME_INVALID', message: "Hostname/IP does not match certificate's altnames" }],
  ['final', { name: 'Error', message: 'unable to get local issuer certificate' }],
  ['final', { name: 'AccessDenied', message: 'Access Denied', $metadata: { httpStatusCode: 403 } }],
  [
    'transient',
    {
      name: 'InternalError',
      message: 'We encountered an internal error. Please try again.',
      $metadata: { httpStatusCode: 500 },
    },
  ],
  [
    'rate_limited',
    {
      name: 'TooManyRequestsException',
      message: 'Too many requests, please wait before trying again. You have sent too many requests.',
    },
  ],
  [
    'final',
    {
      name: 'ResourceNotFoundException',
      message: 'Could not resolve the foundation model from the provided model identifier.',
    },
  ],
  [
    'final',
    { name: 'AccessDeniedException', message: "You don't have access to the model with the specified model ID." },
  ],
  ['conflict', { name: 'ConditionalCheckFailedException', message: 'The conditional request failed' }],
  ['final', { name: 'NoSuchBucket', message: 'The specified bucket does not exist' }],
  ['transient', { name: 'TimeoutError', message: 'socket hang up', $metadata: { attempts: 3 } }],
  [
    'final',
    {
      name: 'ReplyError',
      message: 'WRONGTYPE Operation against a key holding the wrong kind of value',
      command: { name: 'get' },
    },
  ],
  [
    'transient',
    {
      name: 'AbortError',
      code: 'UNCERTAIN_STATE',
      message: 'Redis connection lost and command aborted. It might have been processed.',
    },
  ],
  ['final', { name: 'ReplyError', message: "ERR wrong number of arguments for 'set' command" }],
  ['transient', { message: 'Redis is already connecting/connected' }],
  ['rate_limited', { name: 'AxiosError', response: { status: 429, headers: { 'retry-after': '30' } } }],
  ['rate_limited', { name: 'HttpError', status: 403, message: 'API rate limit exceeded for installation ID 1' }],
  [
    'final',
    {
      name: 'AxiosError',
      message: 'Request failed with status code 422',
      response: { status: 422, data: { message: 'Validation Failed' } },
    },
  ],
  ['rate_limited', { name: 'DiscordAPIError', message: 'You are being rate limited.', retry_after: 3 }],
  ['transient', { response: { status: 500, data: { error: 'try again later' } } }],
  ['rate_limited', { statusCode: 420, message: 'Enhance Your Calm' }],
]

checkCases({
  shapes: SHAPES.map(([kind, thrown]): Row => {
    const title = JSON.stringify(thrown)
    const delay = Object.entries(DELAYS).find(([told]) => title.includes(told))?.[1]
    return [title.slice(0, 90), thrown, kind, delay === undefined ? {} : { delay }]
  }),
})
