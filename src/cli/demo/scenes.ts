/**
 * The demonstration's script: sixteen invoices, and what the scripted model answers to each call about them.
 * Error bodies have the shapes that the Gemini API documents; nothing here knows how they will be understood.
 */

/** One answer on the wire. `reset` cuts the connection instead. */
export type Answer =
  | { readonly status: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> }
  | 'reset'

export interface Scene {
  readonly document: string
  /** One answer per call; the last one is given to all further calls. */
  readonly answers: readonly [Answer, ...Answer[]]
}

const modelSays = (text: string, finishReason = 'STOP'): Answer => ({
  status: 200,
  body: JSON.stringify({ candidates: [{ content: { parts: [{ text }] }, finishReason }] }),
})

const googleError = (status: number, code: string, message: string, details: readonly object[] = []): Answer => ({
  status,
  body: JSON.stringify({ error: { code: status, message, status: code, details } }),
})

const invoice = (net: string, lines: readonly string[]) => JSON.stringify({ net, lines })

const right = modelSays(invoice('1284.50', ['1000.00', '284.50']))
const wrongTotal = modelSays(invoice('1248.50', ['1000.00', '284.50']))
const cutShort = modelSays(invoice('1284.50', ['1000.00', '284.50']).slice(0, 24))
const blocked: Answer = { status: 200, body: JSON.stringify({ promptFeedback: { blockReason: 'SAFETY' } }) }
const overloaded = googleError(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.')
const badKey = googleError(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
  { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID', domain: 'googleapis.com' },
])

const QUOTA_MESSAGE =
  'You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.'

const quota = (quotaId: string, ...more: readonly object[]) =>
  googleError(429, 'RESOURCE_EXHAUSTED', QUOTA_MESSAGE, [
    {
      '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
      violations: [
        {
          quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_requests',
          quotaId,
          quotaDimensions: { location: 'global', model: 'gemini-2.5-flash' },
          quotaValue: '10',
        },
      ],
    },
    ...more,
  ])
const perMinute = quota('GenerateRequestsPerMinutePerProjectPerModel-FreeTier', {
  '@type': 'type.googleapis.com/google.rpc.RetryInfo',
  retryDelay: '7s',
})
const perDay = quota('GenerateRequestsPerDayPerProjectPerModel-FreeTier')
const slowDown: Answer = { status: 429, body: '{"error":{"code":429}}', headers: { 'retry-after': '4' } }

export const SCENES: readonly Scene[] = [
  { document: 'INV-301', answers: [right] },
  { document: 'INV-302', answers: [overloaded, right] },
  { document: 'INV-303', answers: [cutShort, right] },
  { document: 'INV-304', answers: [right] },
  { document: 'INV-305', answers: [perMinute, right] },
  { document: 'INV-306', answers: [wrongTotal, right] },
  { document: 'INV-307', answers: [right] },
  { document: 'INV-308', answers: ['reset', right] },
  { document: 'INV-309', answers: [blocked] },
  { document: 'INV-310', answers: [right] },
  { document: 'INV-311', answers: [slowDown, right] },
  { document: 'INV-312', answers: [badKey] },
  { document: 'INV-313', answers: [right] },
  { document: 'INV-314', answers: [wrongTotal] },
  { document: 'INV-315', answers: [perDay] },
  { document: 'INV-316', answers: [right] },
]
