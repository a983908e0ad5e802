/**
 * Gemini and Vertex AI, in the shapes their documentation and libraries give their errors.
 * Each row is one thrown value and the verdict it must get.
 */
import { checkCases, type Row } from './check-cases.ts'

const google = (code: number, status: string, message: string, details: unknown[] = []): string =>
  JSON.stringify({ error: { code, message, status, details } })

const GEMINI: Row[] = [
  [
    'quota per minute with RetryInfo',
    {
      name: 'ApiError',
      status: 429,
      message: google(
        429,
        'RESOURCE_EXHAUSTED',
        'You exceeded your current quota, please check your plan and billing details.',
        [
          {
            '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
            violations: [{ quotaId: 'GenerateContentInputTokensPerModelPerMinute-FreeTier' }],
          },
          { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '12s' },
        ],
      ),
    },
    'rate_limited',
    { code: 'gemini.quota', delay: 12_000 },
  ],
  [
    'quota per day has its own code',
    {
      name: 'ApiError',
      status: 429,
      message: google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [
        {
          '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
          violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }],
        },
      ]),
    },
    'rate_limited',
    { code: 'gemini.quota.day' },
  ],
  [
    'quota without details',
    {
      name: 'Error',
      message: `[GoogleGenerativeAI Error]: Error fetching from https://generativelanguage.googleapis.com/v1beta/models/gemini-1.5-pro:generateContent: [429 Too Many Requests] Resource has been exhausted (e.g. check quota).`,
    },
    'rate_limited',
  ],
  [
    'overloaded',
    {
      name: 'ServerError',
      message: `got status: 503 . ${google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.')}`,
    },
    'transient',
  ],
  [
    'internal',
    {
      name: 'ApiError',
      status: 500,
      message: google(
        500,
        'INTERNAL',
        'An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting',
      ),
    },
    'transient',
  ],
  [
    'deadline',
    { message: google(504, 'DEADLINE_EXCEEDED', 'Deadline expired before operation could complete.') },
    'transient',
  ],
  [
    'bad key',
    {
      name: 'ApiError',
      status: 400,
      message: google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
        { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID', domain: 'googleapis.com' },
      ]),
    },
    'final',
    { code: 'gemini.key' },
  ],
  [
    'leaked key',
    {
      status: 403,
      message: google(403, 'PERMISSION_DENIED', 'Your API key was reported as leaked. Please use another API key.'),
    },
    'final',
  ],
  [
    'API disabled',
    {
      status: 403,
      message: google(
        403,
        'PERMISSION_DENIED',
        'Generative Language API has not been used in project 123 before or it is disabled.',
        [{ reason: 'SERVICE_DISABLED' }],
      ),
    },
    'final',
    { code: 'gemini.disabled' },
  ],
  [
    'region',
    { status: 400, message: google(400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.') },
    'final',
    { code: 'gemini.region' },
  ],
  [
    'too many tokens',
    {
      status: 400,
      message: google(
        400,
        'INVALID_ARGUMENT',
        'The input token count (1250000) exceeds the maximum number of tokens allowed (1048576).',
      ),
    },
    'final',
  ],
  [
    'turn order',
    {
      message:
        '[400 Bad Request] Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
    },
    'final',
  ],
  [
    'unknown model',
    {
      status: 404,
      message: google(
        404,
        'NOT_FOUND',
        'models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.',
      ),
    },
    'final',
  ],
  [
    'prompt blocked',
    {
      name: 'GoogleGenerativeAIResponseError',
      message: '[GoogleGenerativeAI Error]: Text not available. Response was blocked due to SAFETY',
    },
    'refused',
  ],
  [
    'candidate blocked',
    { message: 'Candidate was blocked due to RECITATION', response: { candidates: [{ finishReason: 'RECITATION' }] } },
    'refused',
  ],
  ['block reason in the answer', { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }, 'refused'],
  [
    'Vertex policy',
    {
      code: 400,
      message:
        "The prompt could not be submitted. This prompt contains sensitive words that violate Google's Responsible AI practices.",
    },
    'refused',
  ],
  [
    'Vertex image policy',
    {
      code: 3,
      details:
        'Image generation failed with the following error: The prompt could not be submitted. Your current safety filter threshold prohibited one or more words in this prompt.',
      message: '3 INVALID_ARGUMENT: blocked by your current safety filter',
    },
    'refused',
  ],
  [
    'Vertex resource exhausted',
    {
      name: 'ClientError',
      message: `[VertexAI.ClientError]: got status: 429 Too Many Requests. ${google(429, 'RESOURCE_EXHAUSTED', 'Resource exhausted. Please try again later. Please refer to https://cloud.google.com/vertex-ai/generative-ai/docs/error-code-429 for more details.')}`,
    },
    'rate_limited',
  ],
  [
    'Vertex permission',
    {
      message: `[VertexAI.ClientError]: got status: 403 Forbidden. ${google(403, 'PERMISSION_DENIED', "Permission 'aiplatform.endpoints.predict' denied on resource")}`,
    },
    'final',
  ],
  [
    'JSON in JSON',
    {
      message: JSON.stringify({
        error: {
          message: google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
          code: 503,
          status: 'Service Unavailable',
        },
      }),
    },
    'transient',
  ],
  [
    'Python repr',
    "429 RESOURCE_EXHAUSTED. {'error': {'code': 429, 'message': 'You exceeded your current quota, please check your plan and billing details.', 'status': 'RESOURCE_EXHAUSTED', 'details': [{'@type': 'type.googleapis.com/google.rpc.RetryInfo', 'retryDelay': '41s'}]}}",
    'rate_limited',
    { delay: 41_000 },
  ],
  [
    'prepaid credit',
    {
      status: 429,
      message: google(
        429,
        'RESOURCE_EXHAUSTED',
        'Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing.',
      ),
    },
    'final',
  ],
  [
    'service account billing',
    {
      status: 403,
      message: google(403, 'PERMISSION_DENIED', 'This API method requires billing to be enabled.', [
        { reason: 'BILLING_DISABLED' },
      ]),
    },
    'final',
  ],
  [
    'empty parts',
    {
      status: 400,
      message: google(400, 'INVALID_ARGUMENT', 'GenerateContentRequest.contents: contents is not specified'),
    },
    'final',
  ],
  [
    'cancelled by the server',
    { status: 499, message: google(499, 'CANCELLED', 'The operation was cancelled.') },
    'transient',
  ],
]

checkCases({ gemini: GEMINI })
