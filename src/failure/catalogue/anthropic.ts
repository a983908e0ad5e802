/**
 * Anthropic, also through Bedrock and Vertex: the documented error types and the sentences behind `invalid_request_error`.
 * That one type covers bad requests, long prompts and an empty credit balance; only the sentence tells.
 */
import { type Family, phrases, RANK } from '../rule.ts'

export const anthropic: Family = {
  name: 'anthropic',
  marks: { anthropic: ['anthropic', 'claude', '=overloaded_error', '=api_error'] },
  cases: [
    {
      code: 'anthropic.overloaded',
      kind: 'transient',
      advice: 'The service is overloaded; wait and try again, or use another model meanwhile.',
      tokens: ['overloaded_error'],
      says: ['overloaded_error'],
      rank: RANK.code + 2,
    },
    {
      code: 'anthropic.api_error',
      kind: 'transient',
      advice: 'Try again; if it lasts, look at the status page and quote the request id.',
      tokens: ['api_error'],
      rank: RANK.name,
    },
    {
      code: 'anthropic.timeout',
      kind: 'transient',
      advice: 'Stream long answers, or ask for shorter ones; try again.',
      tokens: ['timeout_error'],
      rank: RANK.status,
    },
    {
      code: 'anthropic.rate_limit',
      kind: 'rate_limited',
      advice: 'Wait as long as told, lower the pace, or ask for higher limits.',
      tokens: ['rate_limit_error'],
      says: phrases(`
        organization's rate limit, organization's maximum usage increase rate, input tokens per minute, output
        tokens per minute, number of concurrent connections, would exceed .. rate limit, usage limit has been
        reached, limit will reset at, reached your session limit
      `),
      rank: RANK.code,
    },
    {
      code: 'anthropic.usage-limit',
      kind: 'rate_limited',
      advice: 'Your own usage limit is reached: raise it in the console or wait for the date it names.',
      says: ['reached your specified api usage limits', 'regain access on'],
      rank: RANK.code + 3,
    },
    {
      code: 'anthropic.credit',
      kind: 'final',
      advice: 'Buy credits or change the plan; waiting does not help.',
      tokens: ['billing_error'],
      says: phrases(`
        credit balance is too low, credit balance too low, upgrade or purchase credits
      `),
      rank: RANK.code + 4,
    },
    {
      code: 'anthropic.authentication',
      kind: 'final',
      advice: 'Check the API key.',
      tokens: ['authentication_error'],
      says: phrases(`
        invalid x api key, oauth token has expired, oauth authentication is currently not supported, invalid
        bearer token
      `),
      rank: RANK.status + 2,
    },
    {
      code: 'anthropic.permission',
      kind: 'final',
      advice: 'Give the key or workspace access to this model or feature.',
      tokens: ['permission_error'],
      says: phrases(`
        api key does not have permission, organization has been disabled, credential is only authorized for use
      `),
      rank: RANK.status,
    },
    {
      code: 'anthropic.not_found',
      kind: 'final',
      advice: 'Check the model’s name and the endpoint.',
      tokens: ['not_found_error'],
      rank: RANK.status,
    },
    {
      code: 'anthropic.too-long',
      kind: 'final',
      advice: 'Shorten the prompt or split the work.',
      tokens: ['request_too_large'],
      says: phrases(`
        prompt is too long, input length and max_tokens exceed context limit, request exceeds the maximum size,
        input is too long for requested model, exceed context limit, many image requests
      `),
      rank: RANK.code + 4,
    },
    {
      code: 'anthropic.refusal',
      kind: 'refused',
      advice: 'Have a person look at the input: the filter refused it and will again.',
      says: phrases(`
        output blocked by content filtering policy, blocked by content filtering, content filtering policy,
        appears to violate our usage policy, violate our usage policy, unable to respond to this request
      `),
      rank: RANK.code + 6,
    },
    {
      code: 'anthropic.invalid_request',
      kind: 'final',
      advice: 'Correct the request as the message says.',
      tokens: ['invalid_request_error'],
      says: phrases(`
        tool_use ids were found without, unexpected tool_use_id, text content blocks must be non empty, roles must
        alternate, extra inputs are not permitted, field required, does not support assistant message prefill,
        cache_control, final assistant content cannot end, expected thinking or redacted_thinking, could not
        process image, max_tokens .. must be, budget_tokens
      `),
      rank: RANK.hint - 2,
    },
    {
      code: 'anthropic.streaming',
      kind: 'final',
      advice: 'Use streaming for calls that may run longer than ten minutes.',
      says: ['streaming is strongly recommended', 'streaming is required for operations'],
    },
  ],
}
