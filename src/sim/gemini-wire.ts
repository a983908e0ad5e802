/**
 * The Gemini API on the wire: generateContent, its stream, and errors as Google writes them (google.rpc.Status with details).
 * Requests of @ai-sdk/google and of @google/genai are read alike.
 */
import type { Fault } from './fault.ts'
import { sha256Of } from './find-document.ts'
import type { Picture, Question, Reply } from './question.ts'
import {
  BAD_GATEWAY,
  eventStream,
  jsonResponse,
  listOf,
  piecesOf,
  recordOf,
  type Stamp,
  type Wire,
  type WireResponse,
} from './wire.ts'

const PATH = /\/models\/([^/:?]+):(generateContent|streamGenerateContent|countTokens)(?:\?|$)/

const RPC = 'type.googleapis.com/google.rpc'
const QUOTA_MESSAGE =
  'You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.'

export const geminiWire: Wire = {
  read: ({ path, body }) => {
    const [, model, verb] = PATH.exec(path) ?? []
    if (model === undefined) return undefined
    const request = recordOf(recordOf(body)['generateContentRequest'] ?? body)
    if (!Array.isArray(request['contents']))
      throw new RangeError('GenerateContentRequest.contents: contents is not specified')
    const parts = request['contents'].flatMap((turn) => listOf(recordOf(turn)['parts'])).map(recordOf)
    const config = recordOf(request['generationConfig'])
    const limit = config['maxOutputTokens']
    return {
      model: decodeURIComponent(model),
      texts: parts.map((part) => part['text']).filter((text) => typeof text === 'string'),
      system: listOf(recordOf(request['systemInstruction'])['parts'])
        .map((part) => String(recordOf(part)['text'] ?? ''))
        .join('\n'),
      pictures: parts.flatMap(pictureOf),
      schema: config['responseJsonSchema'] ?? config['responseSchema'],
      maxOutputTokens: typeof limit === 'number' ? limit : undefined,
      isStreamed: verb === 'streamGenerateContent',
    }
  },

  reply: (question, reply, stamp) => {
    if (!question.isStreamed) return jsonResponse(200, bodyOf(question, reply, reply.text, stamp, true))
    const pieces = piecesOf(reply.text)
    const texts = pieces.length === 0 ? [''] : pieces
    return eventStream(
      texts.map((text, index) => ({
        data: JSON.stringify(bodyOf(question, reply, text, stamp, index === texts.length - 1)),
      })),
    )
  },

  error: (fault, { model }) => {
    switch (fault.name) {
      case 'rate-limit':
        return tooMany(fault, model)
      case 'quota-day':
        return googleError(429, 'RESOURCE_EXHAUSTED', QUOTA_MESSAGE, [quotaFailure('PerDay', model, '250')])
      case 'overloaded':
        return googleError(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.')
      case 'internal':
        return googleError(
          500,
          'INTERNAL',
          'An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting',
        )
      case 'bad-gateway':
        return BAD_GATEWAY
      case 'no-pages':
        return googleError(400, 'INVALID_ARGUMENT', 'The document has no pages.')
      case 'bad-key':
        return googleError(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
          {
            '@type': `${RPC}.ErrorInfo`,
            reason: 'API_KEY_INVALID',
            domain: 'googleapis.com',
            metadata: { service: 'generativelanguage.googleapis.com' },
          },
        ])
      case 'unknown-model':
        return googleError(
          404,
          'NOT_FOUND',
          `models/${model} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.`,
        )
      default:
        return undefined
    }
  },

  refuse: (status, message) => googleError(status, status === 404 ? 'NOT_FOUND' : 'INVALID_ARGUMENT', message),
}

/** `gemini-flash-latest` is an alias; the answer says what stood behind it. */
export function versionOf(model: string): string {
  return `${model.replace(/-latest$/, '')}-sim-001`
}

function bodyOf(question: Question, reply: Reply, text: string, { id }: Stamp, isLast: boolean): unknown {
  const { input, images, output, thoughts } = reply.tokens
  const usageMetadata = {
    promptTokenCount: input,
    ...(output > 0 ? { candidatesTokenCount: output } : {}),
    totalTokenCount: input + output + thoughts,
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: input - images },
      ...(images > 0 ? [{ modality: 'IMAGE', tokenCount: images }] : []),
    ],
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
  }
  const about = { usageMetadata, modelVersion: versionOf(question.model), responseId: id }
  if (reply.end === 'blocked-prompt') return { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, ...about }
  const content = text === '' ? { role: 'model' } : { parts: [{ text }], role: 'model' }
  const finishReason = { stop: 'STOP', length: 'MAX_TOKENS', 'blocked-answer': 'SAFETY' }[reply.end]
  const safetyRatings = [{ category: 'HARM_CATEGORY_DANGEROUS_CONTENT', probability: 'HIGH', blocked: true }]
  const candidate = {
    ...(reply.end === 'blocked-answer' ? { safetyRatings } : { content }),
    ...(isLast ? { finishReason } : {}),
    index: 0,
  }
  return { candidates: [candidate], ...about }
}

function pictureOf(part: Readonly<Record<string, unknown>>): Picture[] {
  const inline = recordOf(part['inlineData'] ?? part['inline_data'])
  const data = inline['data']
  if (typeof data !== 'string') return []
  const bytes = Buffer.from(data, 'base64')
  const mediaType = String(inline['mimeType'] ?? inline['mime_type'] ?? '')
  return [{ mediaType, sha256: sha256Of(bytes), bytes: bytes.length }]
}

function tooMany({ retryAfterMs }: Fault, model: string): WireResponse {
  const seconds = retryAfterMs / 1_000
  return googleError(429, 'RESOURCE_EXHAUSTED', `${QUOTA_MESSAGE}\nPlease retry in ${seconds}s.`, [
    quotaFailure('PerMinute', model, '10'),
    {
      '@type': `${RPC}.Help`,
      links: [
        { description: 'Learn more about Gemini API quotas', url: 'https://ai.google.dev/gemini-api/docs/rate-limits' },
      ],
    },
    { '@type': `${RPC}.RetryInfo`, retryDelay: `${seconds}s` },
  ])
}

function quotaFailure(period: 'PerMinute' | 'PerDay', model: string, quotaValue: string): object {
  return {
    '@type': `${RPC}.QuotaFailure`,
    violations: [
      {
        quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_requests',
        quotaId: `GenerateRequests${period}PerProjectPerModel-FreeTier`,
        quotaDimensions: { location: 'global', model },
        quotaValue,
      },
    ],
  }
}

function googleError(code: number, status: string, message: string, details: readonly object[] = []): WireResponse {
  return jsonResponse(code, { error: { code, message, status, ...(details.length > 0 ? { details } : {}) } })
}
