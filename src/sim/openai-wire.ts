/**
 * OpenAI on the wire: chat completions and responses, plain and streamed, and errors with their headers.
 * Both read the same question; only the shapes around the text differ.
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
  type WireRequest,
  type WireResponse,
} from './wire.ts'

const REFUSAL = "I'm sorry, but I can't help with that."

/** `POST …/chat/completions` */
export const openaiChatWire: Wire = {
  read: (request) => {
    if (!/\/chat\/completions(?:\?|$)/.test(request.path)) return undefined
    const body = recordOf(request.body)
    const format = recordOf(body['response_format'])
    const limit = body['max_completion_tokens'] ?? body['max_tokens']
    return questionOf(request, listOf(body['messages']), recordOf(format['json_schema'])['schema'], limit)
  },
  reply: (question, reply, { id, at }) => {
    const finish = {
      stop: 'stop',
      length: 'length',
      'blocked-prompt': 'content_filter',
      'blocked-answer': 'content_filter',
    }
    const finish_reason = finish[reply.end]
    const about = { id: `chatcmpl-${id}`, created: Math.floor(at / 1_000), model: `${question.model}-sim-001` }
    const usage = chatUsage(reply)
    if (!question.isStreamed) {
      const isRefused = reply.end === 'blocked-answer'
      const message = { role: 'assistant', content: isRefused ? null : reply.text, refusal: isRefused ? REFUSAL : null }
      return jsonResponse(200, {
        ...about,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason }],
        usage,
      })
    }
    const chunk = (delta: object, end: string | null) => ({
      data: JSON.stringify({
        ...about,
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta, finish_reason: end }],
      }),
    })
    return eventStream([
      chunk({ role: 'assistant', content: '' }, null),
      ...piecesOf(reply.text).map((content) => chunk({ content }, null)),
      chunk({}, finish_reason),
      { data: JSON.stringify({ ...about, object: 'chat.completion.chunk', choices: [], usage }) },
      { data: '[DONE]' },
    ])
  },
  error: openaiError,
  refuse: refuseOpenai,
}

/** `POST …/responses` */
export const openaiResponsesWire: Wire = {
  read: (request) => {
    if (!/\/responses(?:\?|$)/.test(request.path)) return undefined
    const body = recordOf(request.body)
    const input = typeof body['input'] === 'string' ? [{ role: 'user', content: body['input'] }] : listOf(body['input'])
    return questionOf(request, input, recordOf(recordOf(body['text'])['format'])['schema'], body['max_output_tokens'])
  },
  reply: (question, reply, stamp) => {
    const whole = responseOf(question, reply, stamp)
    if (!question.isStreamed) return jsonResponse(200, whole)
    const { id } = stamp
    const item = { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'in_progress', content: [] }
    const end = reply.end === 'stop' || reply.end === 'blocked-answer' ? 'response.completed' : 'response.incomplete'
    const events = [
      { type: 'response.created', response: { ...whole, output: [], status: 'in_progress' } },
      { type: 'response.output_item.added', output_index: 0, item },
      ...piecesOf(reply.text).map((delta) => ({
        type: 'response.output_text.delta',
        item_id: item.id,
        output_index: 0,
        content_index: 0,
        delta,
      })),
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { ...item, status: 'completed', content: contentOf(reply) },
      },
      { type: end, response: whole },
    ]
    return eventStream(events.map((event) => ({ event: event.type, data: JSON.stringify(event) })))
  },
  error: openaiError,
  refuse: refuseOpenai,
}

function questionOf(request: WireRequest, turns: readonly unknown[], schema: unknown, limit: unknown): Question {
  const body = recordOf(request.body)
  if (typeof body['model'] !== 'string') throw new RangeError('you must provide a model parameter')
  if (turns.length === 0) throw new RangeError("Missing required parameter: 'messages'.")
  const isSystem = (turn: unknown) => /^(system|developer)$/.test(String(recordOf(turn)['role']))
  const parts = turns.filter((turn) => !isSystem(turn)).flatMap(partsOf)
  return {
    model: body['model'],
    texts: parts.map((part) => part['text']).filter((text) => typeof text === 'string'),
    system: turns
      .filter(isSystem)
      .flatMap(partsOf)
      .map((part) => String(part['text'] ?? ''))
      .join('\n'),
    pictures: parts.flatMap(pictureOf),
    schema,
    maxOutputTokens: typeof limit === 'number' ? limit : undefined,
    isStreamed: body['stream'] === true,
  }
}

function partsOf(turn: unknown): Array<Readonly<Record<string, unknown>>> {
  const { content } = recordOf(turn)
  return typeof content === 'string' ? [{ text: content }] : listOf(content).map(recordOf)
}

/** `image_url` is a data address, bare or inside an object. */
function pictureOf(part: Readonly<Record<string, unknown>>): Picture[] {
  const address = part['image_url']
  const url = typeof address === 'string' ? address : recordOf(address)['url']
  const [, mediaType, data] = /^data:([^;,]+);base64,(.+)$/s.exec(String(url ?? '')) ?? []
  if (mediaType === undefined || data === undefined) return []
  const bytes = Buffer.from(data, 'base64')
  return [{ mediaType, sha256: sha256Of(bytes), bytes: bytes.length }]
}

function chatUsage({ tokens: { input, output, thoughts } }: Reply): object {
  return {
    prompt_tokens: input,
    completion_tokens: output + thoughts,
    total_tokens: input + output + thoughts,
    completion_tokens_details: { reasoning_tokens: thoughts },
  }
}

function contentOf(reply: Reply): readonly object[] {
  if (reply.end === 'blocked-answer') return [{ type: 'refusal', refusal: REFUSAL }]
  return reply.text === '' ? [] : [{ type: 'output_text', text: reply.text, annotations: [] }]
}

function responseOf(question: Question, reply: Reply, { id, at }: Stamp): object {
  const { input, output, thoughts } = reply.tokens
  const reason = { length: 'max_output_tokens', 'blocked-prompt': 'content_filter' }[String(reply.end)]
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: Math.floor(at / 1_000),
    status: reason === undefined ? 'completed' : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
    error: null,
    model: `${question.model}-sim-001`,
    output: [{ type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content: contentOf(reply) }],
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output + thoughts,
      output_tokens_details: { reasoning_tokens: thoughts },
      total_tokens: input + output + thoughts,
    },
  }
}

function openaiError(fault: Fault, { model }: Question): WireResponse | undefined {
  const seconds = fault.retryAfterMs / 1_000
  const limits = `Rate limit reached for ${model} in organization org-simulated`
  switch (fault.name) {
    case 'rate-limit':
      return apiError(
        429,
        'requests',
        'rate_limit_exceeded',
        `${limits} on requests per min (RPM): Limit 500, Used 500, Requested 1. Please try again in ${seconds}s.`,
        {
          'retry-after': String(Math.ceil(seconds)),
          'retry-after-ms': String(fault.retryAfterMs),
          'x-ratelimit-limit-requests': '500',
          'x-ratelimit-remaining-requests': '0',
          'x-ratelimit-reset-requests': `${seconds}s`,
        },
      )
    case 'quota-day':
      return apiError(
        429,
        'requests',
        'rate_limit_exceeded',
        `${limits} on requests per day (RPD): Limit 10000, Used 10000, Requested 1. Please try again in 7h12m.`,
      )
    case 'overloaded':
      return apiError(
        503,
        'server_error',
        null,
        'That model is currently overloaded with other requests. You can retry your request.',
      )
    case 'internal':
      return apiError(
        500,
        'server_error',
        null,
        'The server had an error while processing your request. Sorry about that!',
      )
    case 'bad-gateway':
      return BAD_GATEWAY
    case 'safety':
      return apiError(
        400,
        'invalid_request_error',
        'content_policy_violation',
        'Your request was rejected by the safety system.',
      )
    case 'no-pages':
      return apiError(400, 'invalid_request_error', 'invalid_value', 'Invalid file: the document has no pages.')
    case 'bad-key':
      return apiError(401, 'invalid_request_error', 'invalid_api_key', 'Incorrect API key provided.')
    case 'unknown-model':
      return apiError(
        404,
        'invalid_request_error',
        'model_not_found',
        `The model \`${model}\` does not exist or you do not have access to it.`,
      )
    default:
      return undefined
  }
}

function refuseOpenai(status: 400 | 404 | 413, message: string): WireResponse {
  return apiError(status, 'invalid_request_error', status === 404 ? 'unknown_url' : null, message)
}

function apiError(
  status: number,
  type: string,
  code: string | null,
  message: string,
  headers?: Readonly<Record<string, string>>,
): WireResponse {
  return jsonResponse(status, { error: { message, type, param: null, code } }, headers)
}
