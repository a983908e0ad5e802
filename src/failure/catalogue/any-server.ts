/**
 * What servers of all kinds say in words: unpaid bills, faults that pass, mistakes that stay.
 * These are the last resort below codes and statuses; "try again" alone is hardly a hint, since refusals say it too.
 */
import { type Family, phrases, RANK, words } from '../rule.ts'

const WAIT = 'Wait a little and try again; if it lasts, look at the status page of the service.'
const REQUEST = 'Correct the request; the same one will be rejected again.'

export const anyServer: Family = {
  name: 'server',
  cases: [
    {
      code: 'account.unpaid',
      kind: 'final',
      advice: 'Pay or top up the account, or raise its spending limit; waiting does not help.',
      told: 'http.429',
      rank: RANK.says + 2,
      tokens: words(`
        insufficient_credits insufficient_balance INSUFFICIENT_BALANCE payment_required PaymentRequired
        INSUFFICIENT_CREDITS insufficient_funds credits_exhausted billing_not_active billing_error Arrearage
        quota_exhausted InsufficientBalance
      `),
      names: ['PaymentRequiredError', 'InsufficientCreditsError', 'InsufficientQuotaError'],
      says: phrases(`
        insufficient credits, insufficient credit, insufficient balance, insufficient funds, not enough credits,
        credit balance is too low, out of credits, no credits left, credits are depleted, credits depleted,
        credits exhausted, used all available credits, exhausted .. credits, exceeded .. credits, requires more
        credits, add more credits, purchase more credits, purchase credits, payment required, billing hard limit,
        billing limit, account is not active, billing is not active, billing not active, spend limit, spending
        limit, spending cap, monthly spend, budget has been exceeded, unpaid, past due, overdue, upgrade your
        plan, balance is insufficient, account balance, billing account .. disabled, billing .. not enabled,
        enable billing, billing to be enabled, billing disabled, key limit exceeded, free trial .. expired, trial
        .. expired, subscription .. expired, reached your specified api usage limits
      `),
    },
    {
      code: 'service.unavailable',
      kind: 'transient',
      advice: WAIT,
      names: words(`
        ServiceUnavailableError ServiceUnavailable InternalServerError ServerError APIConnectionError
        BadGatewayError GatewayTimeoutError
      `),
      hints: phrases(`
        service unavailable, temporarily unavailable, service is currently unavailable, service is unavailable,
        currently unavailable, bad gateway, gateway timeout, gateway time out, internal server error, internal
        error, internal service error, server error, server had an error, overloaded, overload, high demand, at
        capacity, over capacity, server is busy, servers are busy, server busy, no healthy upstream, upstream
        connect error, upstream error, upstream request timeout, backend error, something went wrong, unexpected
        error occurred, temporary failure, temporary error, temporary problem, transient error, transient failure,
        transient, service is temporarily, under maintenance, maintenance mode, no capacity, insufficient
        capacity, scaling up, is currently loading, model is loading, model is overloaded, unable to process your
        request, having trouble, experiencing issues, experiencing high, unavailable
      `),
    },
    {
      // A server's word for its own fault, also put on requests it could not take: a decisive status knows better.
      code: 'service.unavailable',
      name: 'server-code',
      kind: 'transient',
      advice: WAIT,
      tokens: words(`
        service_unavailable SERVICE_UNAVAILABLE server_error internal_server_error INTERNAL_SERVER_ERROR
        INTERNAL_ERROR internal_error temporarily_unavailable backend_error server_overloaded engine_overloaded
        upstream_error bad_gateway gateway_timeout
      `),
      rank: RANK.status - 1,
    },
    {
      code: 'service.timeout',
      kind: 'transient',
      advice: 'Try again; if it repeats, raise the timeout or send smaller requests.',
      names: words(`
        TimeoutError TimeoutException RequestTimeoutError APITimeoutError ReadTimeout ConnectTimeout
        APIConnectionTimeoutError RequestTimeout Timeout HttpTimeoutError asyncio.TimeoutError ReadTimeoutError
        ConnectTimeoutError
      `),
      tokens: ['timeout', 'request_timeout', 'TIMEOUT', 'TIMED_OUT'],
      hints: phrases(`
        timed out, timeout, time out, timeout exceeded, deadline exceeded, took too long
      `),
    },
    {
      code: 'service.try-again',
      kind: 'transient',
      advice: WAIT,
      rank: RANK.guess,
      hints: phrases(`
        try again later, try again, please retry, retry your request, retry the request, retry later, retry your
        operation, safely retried, can be retried, should be retried, retry the operation, retry transaction,
        restart transaction
      `),
    },
    {
      code: 'service.busy',
      kind: 'transient',
      advice: 'Another request holds the resource; try again when it is done.',
      tokens: ['lock_timeout', 'idempotency_key_in_use', 'resource_locked', 'RESOURCE_LOCKED'],
      rank: RANK.code,
    },
    {
      code: 'auth.rejected',
      kind: 'final',
      advice: 'Check the credential: it is missing, wrong, expired or not allowed to do this.',
      tokens: words(`
        invalid_api_key authentication_error AUTHENTICATION_ERROR unauthorized UNAUTHORIZED forbidden FORBIDDEN
        access_denied ACCESS_DENIED invalid_token token_expired TOKEN_EXPIRED invalid_grant invalid_client
        unauthorized_client invalid_rapt invalid_credentials authentication_failed permission_denied not_authed
        invalid_auth account_inactive missing_scope token_revoked invalid_scope access_token_expired expired_token
        Unauthorized Forbidden invalid_request_signature EAUTH
      `),
      names: words(`
        AuthenticationError PermissionDeniedError UnauthorizedError ForbiddenError AuthorizationError
        JsonWebTokenError TokenExpiredError CredentialsProviderError PermissionError DefaultCredentialsError
        RefreshError InvalidTokenError
      `),
      says: phrases(`
        api key not valid, api key is not valid, api_key_invalid, invalid api key, incorrect api key, api key is
        invalid, api key expired, api key not found, no api key, missing api key, api key is required, invalid x
        api key, invalid bearer token, invalid access token, token has been expired or revoked, token has expired,
        token expired, token is expired, expired token, jwt expired, invalid jwt, invalid token, invalid
        credentials, bad credentials, could not load the default credentials, could not load credentials,
        invalid_grant, authentication failed, reauthentication, leaked, login refused, invalid username password,
        request signature we calculated, no auth credentials
      `),
      hints: phrases(`
        unauthorized, unauthenticated, not authenticated, forbidden, permission denied, permission, permissions,
        access denied, not authorized, not allowed, does not have access, do not have access, not have permission,
        insufficient permission, insufficient permissions, credentials, authentication, authorization, api_key,
        apikey, environment variable, env file
      `),
    },
    {
      code: 'request.not-found',
      kind: 'final',
      advice: 'Check the address, name or id: nothing is there.',
      tokens: words(`
        not_found notFound model_not_found MODEL_NOT_FOUND resource_not_found not_found_error NotFound
        ResourceNotFound DeploymentNotFound
      `),
      names: words(`
        NotFoundError NotFound ModelNotFoundError ResourceNotFoundError FileNotFoundError
      `),
      hints: phrases(`
        not found, does not exist, doesn't exist, no such, could not find, unknown model, not exist, no longer
        available, has been deprecated, decommissioned
      `),
    },
    {
      code: 'request.too-large',
      kind: 'final',
      advice: 'Send less in one request: split or shrink the input, or use a model with a larger context.',
      tokens: words(`
        request_too_large context_length_exceeded string_above_max_length payload_too_large entity.too.large
        PAYLOAD_TOO_LARGE context_window_exceeded tokens_limit_reached max_tokens_exceeded ERR_BODY_TOO_LARGE
      `),
      names: words(`
        PayloadTooLargeError ContextOverflowError ContextWindowExceededError ContextLengthExceededError
      `),
      says: phrases(`
        maximum context length, context length exceeded, context window, context length, prompt is too long, input
        is too long, prompt too long, input too long, input length, exceeds the maximum number of tokens, exceed
        context limit, exceeds the context, exceeds .. context size, too many input tokens, reduce the length of,
        input token count, exceeds the limit of .. tokens, maximum number of tokens allowed, request entity too
        large, payload too large, message larger than max, larger than max, request too large, payload size
        exceeds, request payload size, file too large, too many total text bytes, maximum allowed size, request
        body too large, message too large, message length too large, image exceeds, exceeds maximum size, larger
        than maximum, maxcontentlength size of, maxbodylength limit, larger than maxbodylength, maximum content
        size limit
      `),
    },
    {
      code: 'request.rejected',
      name: 'platform',
      kind: 'final',
      advice: REQUEST,
      tokens: ['slack_webapi_platform_error', 'shape:invalid'],
      rank: RANK.vague,
    },
    {
      // The other side checked the request, not the model's answer, whatever its validator says.
      code: 'request.rejected',
      name: 'typed-400',
      kind: 'final',
      advice: REQUEST,
      tokens: ['invalid_request_error'],
      says: phrases(`
        invalid input expected, expected * received, validation failed for, must have required property, must not
        have additional properties, schema validation failed, missing required field, missing required fields
      `),
      beside: [400, 422],
      rank: RANK.says - 3,
    },
    {
      code: 'request.rejected',
      kind: 'final',
      advice: REQUEST,
      tokens: words(`
        invalid_request_error invalid_request INVALID_REQUEST bad_request BAD_REQUEST invalid_argument
        validation_error VALIDATION_ERROR unsupported_parameter unsupported_value invalid_value
        missing_required_parameter unknown_parameter invalid_type BadRequest InvalidRequest
        unsupported_country_region_territory unprocessable_entity method_not_allowed unsupported_media_type
      `),
      names: words(`
        BadRequestError UnprocessableEntityError InvalidRequestError BadRequest NotImplementedError
        UnsupportedFunctionalityError
      `),
      hints: phrases(`
        invalid request, bad request, invalid argument, invalid parameter, invalid value, not supported,
        unsupported, is not available in your, malformed, must be, is required, missing required, not implemented,
        invalid input, invalid url, unrecognized request, unknown parameter, unexpected keyword, reformat your
        input, too large, is invalid, not a valid, not valid, not configured, is not set, no model selected, no * model
        selected
      `),
      never: ['html'],
      rank: RANK.flag - 2,
    },
    {
      code: 'request.exists',
      kind: 'conflict',
      advice: 'Nothing: it exists already or was changed by another; read it before writing.',
      names: ['ConflictError', 'AlreadyExistsError'],
      tokens: words(`
        already_exists version_conflict_engine_exception conflict_error edit_conflict AlreadyExists
      `),
      says: phrases(`
        version conflict, etag mismatch, etag does not match, optimistic concurrency, has been modified by
        another, was modified by another, watched keys has been changed
      `),
      hints: ['already exists', 'already been created', 'duplicate request'],
    },
    {
      code: 'program.bug',
      kind: 'final',
      advice: 'Fix the program: this is a mistake in code, not in the world.',
      names: words(`
        ReferenceError AssertionError TypeError RangeError EvalError URIError ERR_ASSERTION AttributeError
        KeyError NameError ImportError ModuleNotFoundError
      `),
      hints: phrases(`
        is not a function, is not defined, cannot read properties of, cannot read property, is not iterable,
        maximum call stack size exceeded, cannot set properties of, is not a constructor, cannot find module,
        object has no attribute
      `),
      rank: RANK.vague - 4,
    },
    {
      code: 'program.bug',
      name: 'node-code',
      kind: 'final',
      advice: 'Fix the program: this is a mistake in code, not in the world.',
      tokens: words(`
        ERR_INVALID_ARG_TYPE ERR_INVALID_ARG_VALUE ERR_INVALID_URL ERR_MODULE_NOT_FOUND MODULE_NOT_FOUND
        ERR_ASSERTION ERR_INVALID_HTTP_TOKEN ERR_HTTP_INVALID_HEADER_VALUE ERR_OUT_OF_RANGE ERR_HTTP_HEADERS_SENT
      `),
    },
  ],
}
