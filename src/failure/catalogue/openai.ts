/**
 * OpenAI and Azure OpenAI: pace limits, unpaid bills, content filters, models and keys, as their error guide lists them.
 * Both say 429 for pace and for money; the code, then the words, tell them apart.
 */
import { type Family, phrases, RANK, words } from '../rule.ts'

const PACE = 'Wait as long as told, send fewer or smaller requests, or ask for a higher tier.'
const REFUSED = 'Have a person look at the input: the content filter refused it and will again.'

export const openai: Family = {
  name: 'openai',
  marks: {
    openai: ['openai', 'platform openai com', 'chatgpt', '=OpenAIError', '=insufficient_quota'],
    azure: ['azure', 'cognitiveservices', 'microsoft', '=DeploymentNotFound', '=ResponsibleAIPolicyViolation'],
  },
  cases: [
    {
      code: 'openai.insufficient_quota',
      kind: 'final',
      advice: 'Add credit or raise the monthly limit on the billing page; this is not about pace.',
      says: [
        'access was terminated',
        'account has been deactivated',
        'account associated with this api key has been deactivated',
      ],
      tokens: words(`
        insufficient_quota billing_hard_limit_reached billing_not_active access_terminated account_deactivated
      `),
      told: 'openai.rate_limit',
      rank: RANK.code + 5,
    },
    {
      code: 'openai.insufficient_quota',
      name: 'quota-words',
      kind: 'final',
      advice: 'Add credit or raise the monthly limit on the billing page; this is not about pace.',
      says: phrases(`
        exceeded your current quota, check your plan and billing, insufficient_quota, billing hard limit has been
        reached, account is not active please check your billing
      `),
      never: ['google', 'grpc'],
      told: 'openai.rate_limit',
      rank: RANK.code + 1,
    },
    {
      code: 'openai.rate_limit',
      kind: 'rate_limited',
      advice: PACE,
      fields: ['requests', 'tokens'],
      tokens: words(`
        rate_limit_exceeded RateLimitReached rate_limit_usage_exceeded slow_down NoCapacity usage_limit_reached
        token_quota_exceeded usage_limit_exceeded
      `),
      says: phrases(`
        rate limit reached for, tokens per min, requests per min, exceeded token rate limit, exceeded call rate
        limit, exceeded rate limit, limit .. used .. requested, images per minute
      `),
      rank: RANK.code,
    },
    {
      code: 'openai.too-large-for-limit',
      kind: 'final',
      advice: 'This one request is larger than the whole minute’s token limit: shrink it or raise the tier.',
      says: ['request too large for'],
      rank: RANK.code + 2,
    },
    {
      code: 'openai.overloaded',
      kind: 'transient',
      advice: 'Wait and try again; ramp up slowly.',
      tokens: ['server_overloaded', 'engine_overloaded', 'overloaded'],
      says: phrases(`
        engine is currently overloaded, that model is currently overloaded, server is currently overloaded,
        currently overloaded with other requests, server had an error while processing, had an error processing
        your request, error occurred while processing your request, you can retry your request, error
        communicating with
      `),
    },
    {
      code: 'openai.server_error',
      kind: 'transient',
      advice: 'Try again; if it lasts, look at the status page and quote the request id.',
      tokens: words(`
        server_error InternalServerError ServiceUnavailable internalservererror model_error vector_store_timeout
      `),
      rank: RANK.status,
    },
    {
      code: 'openai.content_filter',
      kind: 'refused',
      advice: REFUSED,
      tokens: words(`
        content_filter content-filter content_policy_violation ResponsibleAIPolicyViolation moderation_blocked
        invalid_prompt cyber_policy_violation image_generation_user_error safety_violation
      `),
      names: words(`
        ContentFilterFinishReasonError ContentPolicyViolationError ContentFilterError
      `),
      says: phrases(`
        content management policy, content filtering policies, content filter, content policy, flagged as
        potentially violating, safety system, violates our usage policy, violating our usage policy, against our
        usage policies, violate our usage policies, usage policies, usage policy, was filtered due to, filtered
        due to the prompt triggering, modify your prompt and retry, modify your prompt, responsible ai, rejected
        as a result of our safety, may contain text that is not allowed, content was flagged, has been flagged,
        flagged for, limited access to this content for safety
      `),
      rank: RANK.code + 6,
    },
    {
      code: 'openai.refusal',
      kind: 'refused',
      advice: REFUSED,
      fields: words(`
        refusal
      `),
      tokens: words(`
        LLM_REFUSAL
      `),
      says: phrases(`
        model refused, refused to answer, refused to generate, sorry i can't assist, sorry i cannot assist, i
        can't assist with that, i cannot assist with that
      `),
      rank: RANK.code,
    },
    {
      code: 'openai.model',
      kind: 'final',
      advice: 'Check the model or deployment name and that this project may use it.',
      tokens: words(`
        model_not_found DeploymentNotFound model_not_available unsupported_model OperationNotSupported
        invalid_model model_decommissioned model_not_supported
      `),
      says: phrases(`
        the model .. does not exist, do not have access to it, api deployment for this resource does not exist,
        deployment does not exist, model does not exist, has been decommissioned, not a chat model, not supported
        in the v1 chat completions, does not work with the specified model, not supported when using codex
      `),
    },
    {
      code: 'openai.key',
      kind: 'final',
      advice: 'Check the key, its organisation and its permissions.',
      tokens: words(`
        invalid_api_key invalid_organization mismatched_organization invalid_issuer insufficient_permissions
        ip_not_authorized PermissionDenied AuthenticationFailed
      `),
      says: phrases(`
        incorrect api key provided, must be a member of an organization, invalid subscription key, missing scopes,
        organization must be verified, wrong api endpoint, api_key client option must be set, didn't provide an
        api key
      `),
    },
    {
      code: 'openai.region',
      kind: 'final',
      advice: 'Send from a country where the API is offered.',
      tokens: ['unsupported_country_region_territory'],
      says: ['country region or territory not supported'],
    },
    {
      code: 'openai.context_length',
      kind: 'final',
      advice: 'Shorten the prompt or use a model with a larger context.',
      tokens: ['context_length_exceeded', 'string_above_max_length', 'array_above_max_length'],
      says: phrases(`
        this model's maximum context length, model maximum context length, please reduce the length of the
        messages, please reduce your prompt, input exceeds the context window
      `),
      rank: RANK.code + 2,
    },
    {
      code: 'openai.max-turns',
      kind: 'final',
      advice: 'Give the agent an end it can reach, or raise its limit of turns.',
      names: ['MaxTurnsExceededError', 'MaxTurnsExceeded'],
      says: ['max turns exceeded', 'max turns .. exceeded'],
    },
    {
      code: 'openai.invalid_request',
      kind: 'final',
      advice: 'Correct the parameter that `param` names.',
      tokens: words(`
        invalid_function_parameters invalid_json_schema invalid_image_url invalid_image_format image_parse_error
        unsupported_image invalid_base64 unsupported_file invalid_encrypted_content previous_response_not_found
        missing_required_parameter unsupported_parameter unknown_parameter invalid_value unsupported_value
        empty_array integer_above_max_value integer_below_min_value integer_above_maximum_value
        decimal_above_max_value
      `),
      says: phrases(`
        invalid schema for, must be followed by tool messages, must be a response to a preceding, unsupported
        parameter, unsupported value, unrecognized request argument, missing required parameter, invalid image,
        could not parse the json body of your request, is less than the minimum, is not one of, unable to
        download, failed to download image
      `),
      rank: RANK.hint + 4,
    },
  ],
}
