/**
 * Model gateways and OpenAI-like hosts: OpenRouter, LiteLLM, Portkey, Groq, Together, Fireworks, Mistral, Cohere, DeepSeek, Hugging Face.
 * They wrap another provider's error; its own code inside the wrapper stands above the wrapper's words.
 */
import { type Family, phrases, RANK, words } from '../rule.ts'

export const gateway: Family = {
  name: 'gateway',
  marks: { gateway: ['openrouter', 'litellm', 'portkey', 'groq', 'together ai', 'fireworks'] },
  cases: [
    {
      code: 'gateway.credits',
      kind: 'final',
      advice: 'Top up the gateway account or raise the key’s limit.',
      tokens: ['budget_exceeded', 'ExceededBudget', 'BudgetExceededError'],
      names: ['BudgetExceededError'],
      says: phrases(`
        requires more credits, can only afford, insufficient credits, never purchased credits, budget has been
        exceeded, exceededbudget, exceeded budget, over budget, crossed budget, key limit exceeded, insufficient
        balance, spend limit, credit limit reached, exceeded your monthly included credits, out of credits, prompt
        tokens limit exceeded, key with a higher .. limit
      `),
      told: 'gateway.rate_limit',
      rank: RANK.code + 3,
    },
    {
      code: 'gateway.rate_limit',
      kind: 'rate_limited',
      advice: 'The provider behind the gateway is limiting; wait as told, or route to another provider.',
      tokens: words(`
        upstream_rate_limit rate_limit_exceeded_error capacity_exceeded model_rate_limit concurrent_requests_limit
      `),
      names: ['litellm.RateLimitError'],
      says: phrases(`
        temporarily rate limited upstream, rate limited upstream, free models per day, free models per min, no
        deployments available for selected model, service tier capacity exceeded, model rate limit,
        ratelimiterror, deployment over .. limit, crossed tpm, crossed rpm, max parallel request limit
      `),
      rank: RANK.code - 2,
    },
    {
      code: 'gateway.upstream',
      kind: 'transient',
      advice: 'The provider behind the gateway failed; try again, or route to another provider.',
      tokens: words(`
        provider_error upstream_error provider_unavailable no_healthy_provider
      `),
      names: words(`
        litellm.APIConnectionError litellm.InternalServerError litellm.ServiceUnavailableError litellm.Timeout
        MidStreamFallbackError
      `),
      says: phrases(`
        provider returned error, no instances available, upstream error from, no available providers,
        serviceunavailableerror, apiconnectionerror, all providers failed, is currently loading
      `),
      rank: RANK.vague + 3,
    },
    {
      code: 'gateway.model',
      kind: 'final',
      advice: 'Check the model’s name and the data policy; no provider serves it as asked.',
      says: phrases(`
        no endpoints found, is not a valid model id, no allowed providers, invalid model name, llm provider not
        provided, unable to access model, non serverless model, no endpoints available matching, model is not
        supported by any provider, requires more system memory
      `),
      names: ['litellm.BadRequestError', 'litellm.NotFoundError'],
      rank: RANK.says,
    },
    {
      code: 'gateway.moderation',
      kind: 'refused',
      advice: 'Have a person look at the input: moderation refused it and will again.',
      tokens: words(`
        data_inspection_failed DataInspectionFailed content_policy_violation sensitive new_sensitive
        guardrail_failed hooks_failed content_moderation
      `),
      names: words(`
        litellm.ContentPolicyViolationError InputGuardrailTripwireTriggered OutputGuardrailTripwireTriggered
      `),
      says: phrases(`
        requires moderation, input was flagged, inappropriate content, contentpolicyviolationerror, content exists
        risk, sensitive words, unsafe or sensitive content, guardrail checks have failed, guardrail_intervened,
        nsfw, flagged as sensitive, flagged as inappropriate, content moderation, moderation system, flagged by
      `),
      rank: RANK.code + 6,
    },
    {
      code: 'gateway.tool-use',
      kind: 'syntax',
      advice: 'Ask again: the model wrote a tool call that does not parse.',
      tokens: ['tool_use_failed', 'json_validate_failed', 'output_parse_failed'],
      says: phrases(`
        failed to call a function, failed to generate json, failed to validate json
      `),
      rank: RANK.code + 2,
    },
    {
      code: 'gateway.tool-input',
      kind: 'semantic',
      advice: 'Ask again with the tool’s schema: the model’s arguments parse and do not fit it.',
      says: phrases(`
        tool call validation failed, parameters for tool .. did not match, attempted to call tool .. which was not
      `),
      rank: RANK.code + 3,
    },
    {
      code: 'gateway.context',
      kind: 'final',
      advice: 'Shorten the prompt or use a model with a larger context.',
      names: ['litellm.ContextWindowExceededError'],
      says: phrases(`
        contextwindowexceedederror, reduce the length of the messages or completion, inputs tokens max_new_tokens
        must be
      `),
      rank: RANK.code + 2,
    },
  ],
}
