/**
 * Gemini API and Vertex AI: quotas by minute and by day, overload, keys, regions, safety.
 * The same 429 sentence speaks of "plan and billing" for every quota, so RetryInfo and quota ids decide, not that word.
 */
import { type Family, phrases, RANK, words } from '../rule.ts'

export const gemini: Family = {
  name: 'gemini',
  marks: {
    google: [
      'ai google dev',
      'generativelanguage',
      'googleapis',
      'vertex ai',
      'vertexai',
      'aiplatform',
      'gemini',
      'googlegenerativeai',
      '=googleapis.com',
      '=generativelanguage.googleapis.com',
      '=GoogleGenerativeAIError',
      '=GoogleGenerativeAIFetchError',
      '=GaxiosError',
      'quota exceeded for metric',
      'quota metric',
      'type.googleapis.com*',
      'cloud google com',
      'google cloud',
    ],
  },
  cases: [
    {
      code: 'gemini.quota.day',
      kind: 'rate_limited',
      advice: 'The day’s quota is used up: wait for midnight Pacific time, use another model, or move to a paid tier.',
      tokens: ['quota:day'],
      says: phrases(`
        per day, daily quota, requestsperday, daily request quota, generaterequestsperday
      `),
      only: ['google'],
      never: ['bigquery', 'gcs', 'firestore'],
      rank: RANK.code + 4,
    },
    {
      code: 'gemini.quota',
      kind: 'rate_limited',
      advice: 'Wait as long as told, lower the pace, or ask for more quota.',
      tokens: ['quota:minute', 'RATE_LIMIT_EXCEEDED', 'QUOTA_EXHAUSTED', 'RESOURCE_EXHAUSTED'],
      says: phrases(`
        exceeded your current quota, quota exceeded for metric, quota exceeded for quota metric, resource has been
        exhausted, resource exhausted, quota exceeded for
      `),
      only: ['google'],
      never: ['firestore', 'bigquery', 'gcs'],
      rank: RANK.code + 2,
    },
    {
      code: 'gemini.credit',
      kind: 'final',
      advice: 'Top up the prepaid credit or correct the billing account; waiting does not help.',
      says: phrases(`
        prepayment credits are depleted, prepayment credits, spending cap, exceeded its monthly spending cap,
        billing account .. closed
      `),
      told: 'gemini.quota',
      rank: RANK.code + 7,
    },
    {
      code: 'gemini.overloaded',
      kind: 'transient',
      advice: 'The model is overloaded; wait, or use another model or region meanwhile.',
      tokens: ['MODEL_CAPACITY_EXHAUSTED'],
      rank: RANK.code + 3,
    },
    {
      code: 'gemini.overloaded',
      name: 'overloaded-words',
      kind: 'transient',
      advice: 'The model is overloaded; wait, or use another model or region meanwhile.',
      says: phrases(`
        model is overloaded, no capacity available for model, currently experiencing high demand, model is
        currently overloaded, model is currently experiencing
      `),
      rank: RANK.status - 2,
    },
    {
      code: 'gemini.internal',
      kind: 'transient',
      advice: 'Try again; if one input always fails so, shorten it.',
      says: phrases(`
        an internal error has occurred, internal error encountered, the operation was cancelled, the service is
        currently unavailable, running out of capacity, failed to parse stream, failed to generate content please
        try again
      `),
    },
    {
      code: 'gemini.key',
      kind: 'final',
      advice: 'Create or correct the API key, and enable the API in its project.',
      tokens: words(`
        API_KEY_INVALID API_KEY_SERVICE_BLOCKED API_KEY_HTTP_REFERRER_BLOCKED API_KEY_IP_ADDRESS_BLOCKED
        CONSUMER_INVALID ACCESS_TOKEN_EXPIRED ACCESS_TOKEN_SCOPE_INSUFFICIENT ACCESS_TOKEN_TYPE_UNSUPPORTED
        IAM_PERMISSION_DENIED CREDENTIALS_MISSING CONSUMER_SUSPENDED USER_PROJECT_DENIED ACCOUNT_STATE_INVALID
      `),
      says: phrases(`
        api key not valid, api key expired, caller does not have permission, method doesn't allow unregistered
        callers, insufficient authentication scopes, please enable it by visiting, reported as leaked
      `),
    },
    {
      code: 'gemini.disabled',
      kind: 'final',
      advice: 'Enable the API (and billing) in the Google Cloud project.',
      tokens: ['SERVICE_DISABLED', 'BILLING_DISABLED'],
      says: phrases(`
        has not been used in project, it is disabled, requires billing to be enabled
      `),
      rank: RANK.code,
    },
    {
      code: 'gemini.region',
      kind: 'final',
      advice: 'Use a paid tier or a region where the API is offered.',
      tokens: ['UNSUPPORTED_LOCATION', 'LOCATION_POLICY_VIOLATED'],
      says: phrases(`
        user location is not supported, location is not supported, not available in your country, not available in
        your region, not available in your current location
      `),
    },
    {
      code: 'gemini.model',
      kind: 'final',
      advice: 'Check the name of the model, that it is still offered, and that this project may use it.',
      says: ['is not found for api version', 'publisher model'],
    },
    {
      code: 'gemini.request',
      kind: 'final',
      advice: 'Correct the conversation or schema that the message names; the same request fails again.',
      says: phrases(`
        please ensure that function call turn, please ensure that multiturn requests, please use a valid role,
        contents is not specified, unable to submit request because, unknown name, must include at least one parts
        field, roles must alternate, function response parts, thought_signature, thinking_config, unsupported mime type, unable to process input image, the document has no pages, first
        content should be with role, multiple tools are supported only, should be non empty for
        object type, should not be empty, proto field is not repeating
      `),
    },
    {
      code: 'gemini.request',
      name: 'payload',
      kind: 'final',
      advice: 'Correct the conversation or schema that the message names; the same request fails again.',
      says: ['invalid json payload received'],
      rank: RANK.code + 5,
    },
    {
      code: 'gemini.blocked',
      kind: 'refused',
      advice: 'Have a person look at the input: Google’s filter refused it and will again.',
      tokens: words(`
        SAFETY PROHIBITED_CONTENT BLOCKLIST SPII RECITATION IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION
        MODEL_ARMOR JAILBREAK LANGUAGE part:safety
      `),
      says: phrases(`
        was blocked due to, blocked due to safety, blocked due to prohibited_content, blocked due to recitation,
        blocked due to other, candidate was blocked, response was blocked, prompt was blocked, blocked by safety,
        blocked by .. safety, blocked the prompt, safety filters, safety settings, violates .. policies, violates
        google's responsible ai, responsible ai practices, prohibited use policy, violated .. policies,
        finish_reason safety, finishreason safety, finish_reason recitation, finishreason recitation,
        finish_reason prohibited_content, blocked for reason, is blocked as it may violate, may violate our
        policies, violate our policies, could not generate images .. policies, blocked by the safety, content is
        blocked, response is blocked, prompt is blocked, request is blocked by, prompt was flagged, unsafe
        content, unsafe generation, blockreason, blocked because, blocked for safety, contains sensitive words,
        could be unsafe, safety reasons, safety concerns, finish reason safety, finish reason recitation, finish
        reason prohibited_content, candidate safety_ratings, finish_reason is 3, finish_reason is 4, finish_reason
        3, finish_reason 4, response blocked, content blocked, blocked reason, reason safety, reason
        prohibited_content, reason recitation
      `),
      rank: RANK.code + 6,
    },
    {
      code: 'gemini.blocked',
      name: 'blocked-other',
      kind: 'refused',
      advice: 'Have a person look at the input: Google’s filter refused it and will again.',
      tokens: ['OTHER'],
      only: ['google'],
      rank: RANK.name,
    },
  ],
}
