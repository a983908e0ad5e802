/**
 * Errors that reach us as little more than a sentence: logs, queues and wrappers drop the fields, the words remain.
 * Each row is a kind and a thrown value; the titles are the sentences themselves.
 */
import type { Kind } from '../failure.ts'
import { checkCases, type Row } from './check-cases.ts'

/** Sentences that tell how long to wait. */
const DELAYS: Readonly<Record<string, number>> = {
  'Try again in 60 seconds': 60_000,
  'Try again in 9 seconds': 9_000,
  'retry after 2 seconds': 2_000,
}

const SAID: ReadonlyArray<readonly [Kind, unknown]> = [
  [
    'transient',
    '[GoogleGenerativeAI Error]: Error fetching from https://x: [503 Service Unavailable] The service is temporarily running out of capacity. Please try again later.',
  ],
  [
    'final',
    '[GoogleGenerativeAI Error]: Error fetching from https://x: [400 Bad Request] Invalid JSON payload received. Unknown name "additionalProperties" at \'tools[0].function_declarations[0].parameters\': Cannot find field.',
  ],
  [
    'rate_limited',
    {
      message:
        'Quota exceeded for aiplatform.googleapis.com/generate_content_requests_per_minute_per_project_per_base_model with base model: gemini-1.5-pro. Please submit a quota increase request.',
    },
  ],
  [
    'final',
    {
      status: 404,
      message:
        'Publisher Model `projects/x/locations/us/publishers/google/models/y` was not found or your project does not have access to it.',
    },
  ],
  [
    'refused',
    'ValueError: Invalid operation: The `response.text` quick accessor requires the response to contain a valid `Part`, but none were returned. Please check the `candidate.safety_ratings` to determine if the response was blocked.',
  ],
  ['refused', { name: 'Error', message: 'finishReason: PROHIBITED_CONTENT' }],
  [
    'final',
    {
      status: 400,
      message:
        "400 Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    },
  ],
  ['transient', 'stream error: stream ID 1; INTERNAL_ERROR; received from peer'],
  [
    'transient',
    'openai.error.APIError: Bad gateway. {"error":{"code":502,"message":"Bad gateway.","param":null,"type":"cf_bad_gateway"}} 502',
  ],
  ['transient', 'openai.error.ServiceUnavailableError: The server is overloaded or not ready yet.'],
  [
    'rate_limited',
    'Rate limit reached for default-text-embedding-ada-002 in organization org-x on tokens per min. Limit: 150000 / min. Current: 1 / min. Contact support@openai.com if you continue to have issues.',
  ],
  [
    'final',
    {
      error: {
        message:
          'This is a chat model and not supported in the v1/completions endpoint. Did you mean to use v1/chat/completions?',
        type: 'invalid_request_error',
      },
    },
  ],
  ['final', 'OpenAI API error: 401 Unauthorized'],
  [
    'final',
    {
      name: 'Error',
      message:
        'The OPENAI_API_KEY environment variable is missing or empty; either provide it, or instantiate the OpenAI client with an apiKey option',
    },
  ],
  [
    'final',
    { status: 400, message: "400 Invalid value: 'developer'. Supported values are: 'system', 'assistant', 'user'." },
  ],
  [
    'refused',
    {
      status: 400,
      error: {
        message: 'Your request was rejected by the safety system. If you believe this is an error, contact us',
        type: 'image_generation_user_error',
        code: 'moderation_blocked',
      },
    },
  ],
  ['transient', { message: 'Claude is currently overloaded' }],
  ['rate_limited', { message: 'Claude AI usage limit reached|1749924000' }],
  [
    'syntax',
    "Claude's response exceeded the 32000 output token maximum. To configure this behavior, set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable.",
  ],
  ['final', 'OAuth token has expired. Please obtain a new token or refresh your existing token.'],
  ['final', { error: { message: 'No auth credentials found', code: 401 } }],
  ['transient', 'upstream connect error or disconnect/reset before headers. reset reason: connection failure'],
  ['rate_limited', 'No deployments available for selected model, Try again in 60 seconds. Passed model=gpt-4.'],
  [
    'transient',
    'litellm.InternalServerError: AnthropicException - Overloaded. Handle with `litellm.InternalServerError`.',
  ],
  ['final', 'litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key provided'],
  ['transient', 'litellm.APIError: APIError: OpenAIException - Connection error.'],
  ['final', 'litellm.BadRequestError: LLM Provider NOT provided. Pass in the LLM provider you are trying to call.'],
  [
    'transient',
    { name: 'AI_RetryError', message: 'Failed after 3 attempts. Last error: Cannot connect to API: other side closed' },
  ],
  ['transient', { name: 'AI_APICallError', message: 'Invalid JSON response', statusCode: 200 }],
  ['final', { name: 'AI_APICallError', message: 'Not Found', statusCode: 404, url: 'x' }],
  [
    'final',
    {
      name: 'AI_UnsupportedModelVersionError',
      message: 'AI SDK 5 only supports models that implement specification version "v2"',
    },
  ],
  [
    'semantic',
    { name: 'AI_InvalidToolArgumentsError', message: 'Invalid arguments for tool x: Type validation failed' },
  ],
  ['syntax', { name: 'OutputParserException', message: 'Could not parse LLM output: `I need more info`' }],
  ['syntax', 'langchain_core.exceptions.OutputParserException: Invalid json output: Here is the'],
  ['semantic', { name: 'Error', message: 'Received tool input did not match expected schema\nDetails: ✖ Required' }],
  ['syntax', 'Expecting property name enclosed in double quotes: line 1 column 2 (char 1)'],
  ['syntax', "invalid character '`' looking for beginning of value"],
  ['semantic', 'missing field `name` at line 1 column 20'],
  ['syntax', { name: 'JSONRepairError', message: 'Unexpected character "H" at position 0' }],
  ['syntax', 'Failed to parse response as JSON'],
  [
    'rate_limited',
    'Exceeded rate limits: too many api requests per user per method for this user_method. For more information, see https://cloud.google.com/bigquery/troubleshooting-errors',
  ],
  ['final', 'Query exceeded limit for bytes billed: 1000000. 10485760 or higher required.'],
  [
    'final',
    "Cannot query over table 'x.y' without a filter over column(s) '_PARTITION_LOAD_TIME' that can be used for partition elimination",
  ],
  ['final', { name: 'ApiError', code: 400, message: 'Table x must be qualified with a dataset (e.g. dataset.table).' }],
  [
    'transient',
    'An internal error occurred and the request could not be completed. This is usually caused by a transient issue.',
  ],
  [
    'transient',
    'Visibility check was unavailable. Please retry the request and contact support if the problem persists',
  ],
  ['final', 'Access Denied: Table p:d.t: User does not have permission to query table p:d.t'],
  ['final', "Could not parse 'abc' as DATE with format; BigQuery error"],
  ['transient', 'FirebaseError: [code=unavailable]: The operation could not be completed'],
  ['rate_limited', 'FirebaseError: [code=resource-exhausted]: Quota exceeded.'],
  ['final', 'FirebaseError: [code=permission-denied]: Missing or insufficient permissions.'],
  [
    'final',
    {
      code: 8,
      details: 'Received message larger than max (5000000 vs. 4194304)',
      message: '8 RESOURCE_EXHAUSTED: Received message larger than max (5000000 vs. 4194304)',
    },
  ],
  [
    'final',
    {
      code: 7,
      message: '7 PERMISSION_DENIED: Cloud Firestore API has not been used in project x before or it is disabled.',
      details: 'x',
    },
  ],
  ['transient', { code: 13, message: '13 INTERNAL: An internal error occurred.', details: 'x' }],
  [
    'transient',
    {
      code: 4,
      message:
        'Total timeout of API google.firestore.v1.Firestore exceeded 600000 milliseconds before any response was received.',
    },
  ],
  [
    'transient',
    'Could not refresh access token: Unsuccessful response status code. Request failed with status code 500',
  ],
  ['final', { name: 'Error', message: 'error:1E08010C:DECODER routines::unsupported', code: 'ERR_OSSL_UNSUPPORTED' }],
  ['final', { code: 403, message: 'The caller does not have permission' }],
  ['transient', 'Client network socket disconnected before secure TLS connection was established'],
  ['transient', { name: 'MongoNetworkError', message: 'connection <monitor> to 1.2.3.4:27017 closed' }],
  [
    'final',
    'MongoServerError: Executor error during find command :: caused by :: Sort exceeded memory limit of 104857600 bytes, but did not opt in to external sorting.',
  ],
  ['final', { name: 'MongoServerError', code: 8000, message: 'user is not allowed to do action [find] on [db.col]' }],
  [
    'transient',
    {
      name: 'MongooseServerSelectionError',
      message:
        "Could not connect to any servers in your MongoDB Atlas cluster. One common reason is that you're trying to access the database from an IP that isn't whitelisted.",
    },
  ],
  [
    'transient',
    {
      name: 'MongoServerError',
      code: 251,
      codeName: 'NoSuchTransaction',
      message: 'Transaction with { txnNumber: 5 } has been aborted.',
    },
  ],
  [
    'final',
    {
      name: 'MongoParseError',
      message: 'Invalid scheme, expected connection string to start with "mongodb://" or "mongodb+srv://"',
    },
  ],
  ['final', { name: 'MongoServerError', code: 13, message: 'command find requires authentication' }],
  [
    'transient',
    "pika.exceptions.StreamLostError: Stream connection lost: ConnectionResetError(104, 'Connection reset by peer')",
  ],
  [
    'final',
    "amqp.exceptions.PreconditionFailed: Queue.declare: (406) PRECONDITION_FAILED - inequivalent arg 'x-max-priority' for queue 'q'",
  ],
  ['final', 'Error: Expected ConnectionOpenOk; got <ConnectionClose channel:0>'],
  [
    'transient',
    'Connection closed: 320 (CONNECTION-FORCED) with message "CONNECTION_FORCED - Node was put into maintenance mode"',
  ],
  ['transient', { name: 'IllegalOperationError', message: 'Channel ended, no reply will be forthcoming' }],
  ['final', "PLAIN login refused: user 'guest' can only connect via localhost"],
  ['conflict', 'psycopg2.errors.UniqueViolation: duplicate key value violates unique constraint "users_pkey"'],
  ['transient', 'SSL SYSCALL error: EOF detected'],
  ['transient', 'FATAL: the database system is starting up'],
  ['transient', 'FATAL: remaining connection slots are reserved for non-replication superuser connections'],
  ['final', 'null value in column "id" of relation "x" violates not-null constraint'],
  ['final', 'no pg_hba.conf entry for host "1.2.3.4", user "x", database "y", no encryption'],
  ['transient', 'ER_LOCK_WAIT_TIMEOUT: Lock wait timeout exceeded; try restarting transaction'],
  ['transient', "Can't add new command when connection is in closed state"],
  ['final', "ER_BAD_DB_ERROR: Unknown database 'x'"],
  [
    'transient',
    {
      name: 'ConnectionError',
      code: 'ESOCKET',
      message: 'Failed to connect to localhost:1433 - Could not connect (sequence)',
    },
  ],
  ['conflict', 'ORA-00001: unique constraint (X.PK) violated'],
  ['transient', 'SQLITE_BUSY: database is locked'],
  ['final', 'SQLITE_MISUSE: Database handle is closed'],
  ['final', 'cannot commit - no transaction is active'],
  ['transient', 'D1_ERROR: D1 DB is overloaded. Requests queued for too long.'],
  ['final', { code: 'EPROTO', message: 'write EPROTO 1408F10B:SSL routines:ssl3_get_record:wrong version number' }],
  ['transient', 'net::ERR_CONNECTION_RESET'],
  ['final', { code: 'EADDRINUSE', message: 'listen EADDRINUSE: address already in use :::3000' }],
  [
    'transient',
    {
      name: 'TypeError',
      message: 'fetch failed',
      cause: {
        name: 'ConnectTimeoutError',
        code: 'UND_ERR_CONNECT_TIMEOUT',
        message: 'Connect Timeout Error (attempted address: x:443, timeout: 10000ms)',
      },
    },
  ],
  ['transient', { name: 'Error', message: 'aborted', code: 'ECONNRESET' }],
  ['transient', { name: 'FetchError', message: 'network timeout at: https://x', type: 'request-timeout' }],
  ['final', "Hostname/IP does not match certificate's altnames: Host: x. is not in the cert's altnames: DNS:y"],
  ['final', { name: 'CredentialsProviderError', message: 'Could not load credentials from any providers' }],
  [
    'conflict',
    { name: 'ResourceInUseException', message: 'Table already exists: x', $metadata: { httpStatusCode: 400 } },
  ],
  [
    'transient',
    {
      name: 'ResourceConflictException',
      message: 'The operation cannot be performed at this time. An update is in progress for resource: arn:aws:lambda',
      $metadata: { httpStatusCode: 409 },
    },
  ],
  ['rate_limited', { name: 'LimitExceededException', message: 'Attempt limit exceeded, please try after some time.' }],
  [
    'final',
    'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
  ],
  ['rate_limited', { code: 'SlowDown', statusCode: 503, message: 'Please reduce your request rate.', retryable: true }],
  ['transient', { code: 'NetworkingError', message: 'socket hang up', retryable: true }],
  [
    'final',
    {
      code: 'CredentialsError',
      message: 'Missing credentials in config, if using AWS_CONFIG_FILE, set AWS_SDK_LOAD_CONFIG=1',
    },
  ],
  [
    'transient',
    { errorType: 'Sandbox.Timedout', errorMessage: 'RequestId: x Error: Task timed out after 3.00 seconds' },
  ],
  ['conflict', { name: 'WatchError', message: 'One (or more) of the watched keys has been changed' }],
  ['final', 'ERR AUTH <password> called without any password configured for the default user. Redis'],
  ['rate_limited', { name: 'ReplyError', message: 'ERR max requests limit exceeded. Limit: 500000, Usage: 500000.' }],
  ['transient', { message: 'Redis connection to localhost:6379 failed - connect ECONNREFUSED 127.0.0.1:6379' }],
  [
    'transient',
    {
      name: 'ReplyError',
      message: 'UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)',
    },
  ],
  ['conflict', { status: 422, response: { status: 422, data: { message: 'Reference already exists' } } }],
  ['final', { status: 422, message: 'Validation Failed: {"resource":"PullRequest","code":"custom"}' }],
  [
    'conflict',
    {
      status: 409,
      message: 'version_conflict_engine_exception: [1]: version conflict, current version [2] is different',
    },
  ],
  ['rate_limited', 'error code: 1015 You are being rate limited'],
  ['transient', 'Cloudflare error code: 522'],
  ['final', { response: { status: 403, data: { message: 'Resource not accessible by integration' } } }],
  [
    'rate_limited',
    {
      response: {
        status: 403,
        data: {
          message: 'You have triggered an abuse detection mechanism. Please wait a few minutes before you try again.',
        },
      },
    },
  ],
  ['final', { name: 'HTTPError', message: 'Response code 404 (Not Found)' }],
  ['transient', { name: 'HTTPError', message: 'Response code 502 (Bad Gateway)' }],
  ['rate_limited', { name: 'HTTPError', message: 'Response code 429 (Too Many Requests)' }],
  ['final', { message: 'Request failed with status code 401' }],
  ['transient', { message: 'timeout of 10000ms exceeded', code: 'ECONNABORTED' }],
  ['rate_limited', { errors: [{ code: 88, message: 'Rate limit exceeded' }] }],
  ['final', { error: 'invalid_client', error_description: 'Unauthorized' }],
  ['final', { errors: [{ message: 'Invalid or expired token.', code: 89 }] }],
  ['transient', { message: 'ECONNRESET' }],
  [
    'final',
    { name: 'Error', message: 'unable to verify the first certificate', code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' },
  ],
  ['transient', { message: 'Gateway Time-out' }],
  ['rate_limited', { statusCode: 429, message: 'Rate limit is exceeded. Try again in 9 seconds.' }],
  [
    'rate_limited',
    {
      code: '429',
      message:
        'Requests to the Embeddings_Create Operation under Azure OpenAI API version 2022-12-01 have exceeded call rate limit of your current OpenAI S0 pricing tier. Please retry after 2 seconds.',
    },
  ],
  [
    'final',
    {
      code: '401',
      message:
        'Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.',
    },
  ],
  [
    'transient',
    {
      code: 'InternalServerError',
      message:
        'The server had an error processing your request. Sorry about that! You can retry your request, or contact us',
    },
  ],
  ['refused', { code: 'content_filter', message: 'The response was filtered' }],
  ['final', { name: 'Error', message: 'model "llama3" not found, try pulling it first' }],
  ['transient', { name: 'Error', message: 'llama runner process has terminated: signal: killed' }],
  ['final', { message: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000' }],
  ['transient', { error: 'Model bigcode/starcoder is currently loading' }],
  [
    'rate_limited',
    { error: 'Rate limit reached. You reached free usage limit (reset hourly). Please subscribe to a plan' },
  ],
  ['final', { error: 'You have exceeded your monthly included credits for Inference Providers. Subscribe to PRO' }],
]

const delayIn = (text: string): number | undefined => Object.entries(DELAYS).find(([told]) => text.includes(told))?.[1]

checkCases({
  sentences: SAID.map(([kind, thrown]): Row => {
    const title = typeof thrown === 'string' ? thrown : JSON.stringify(thrown)
    const delay = delayIn(title)
    return [title.slice(0, 90), thrown, kind, delay === undefined ? {} : { delay }]
  }),
})
