/**
 * `ctx.model`: a model of the AI SDK whose every call is journalled, budgeted, held and classified like any other call of the run.
 * It judges nothing: what is done with the answer is the caller's, and a call that is made again gets the stored answer.
 */
import { leaveOf } from '../engine/throwables.ts'
import { classify } from '../failure/classify.ts'
import { failure } from '../failure/own.ts'
import { isRepriseError } from '../failure/reprise-error.ts'
import type { Policy } from '../policy/policy.ts'
import { type Duration, parseDuration } from '../time/duration.ts'
import type { SdkModel, SendOptions, SendResult } from './language-model.ts'
import { type AnyModel, idOf, resourceOf } from './model-id.ts'
import type { Price } from './prices.ts'
import { loadModel } from './providers.ts'
import { type RungBudget, TIMEOUT } from './rung.ts'
import { type Sender, type Sent, send, shortHash } from './send.ts'

export interface ModelUse {
  /** Each send reserves from it: the name of a budget that is defined elsewhere, or its definition. */
  readonly budget?: string | RungBudget
  /** What is held for everyone when the provider says to wait. @default of the model: "gemini:flash" */
  readonly resource?: string
  readonly price?: Price
  /** One send may take this long. @default "5m" */
  readonly timeout?: Duration
  readonly policy?: Policy
  /** For calls that do not say it: needed where the budget caps money. */
  readonly maxOutputTokens?: number
  readonly baseURL?: string
}

/** `counts`: how often the same was asked in this attempt, so that the same question twice is two calls. */
export function journalledModel(sender: Sender, model: AnyModel, use: ModelUse, counts: Map<string, number>): SdkModel {
  const id = idOf(model)
  const resource = use.resource ?? resourceOf(id)
  const slash = id.indexOf('/')
  const generate = async (options: SendOptions): Promise<SendResult> => {
    const sent = await sentFor(sender, model, resource, use, options, counts)
    if (sent.failure || !sent.result) throw failure({ ...(sent.failure ?? UNREADABLE) })
    return { ...sent.result, ...(sent.answered === undefined ? {} : { response: { modelId: sent.answered } }) }
  }
  return {
    specificationVersion: 'v4',
    provider: id.slice(0, slash),
    modelId: id.slice(slash + 1),
    supportedUrls: loadModel(model, sender.models, use.baseURL).then(
      ({ supportedUrls }) => supportedUrls,
      // Told by the first call, which loads it again.
      () => ({}),
    ),
    doGenerate: (options) => given(generate(options)),
    // Only a whole answer can be stored and given back, so a stream is the stored answer, cut into its parts.
    doStream: (options) => given(generate(options).then((result) => ({ stream: streamOf(result) }))),
  }
}

/** In the SDK's own type, which is not named here. */
const given = (promise: Promise<unknown>): Promise<never> => promise as Promise<never>

const UNREADABLE = { kind: 'syntax', code: 'answer.syntax', message: 'the stored answer has no content' } as const

async function sentFor(
  sender: Sender,
  model: AnyModel,
  resource: string,
  use: ModelUse,
  { abortSignal, headers, includeRawChunks: _raw, ...asked }: SendOptions,
  counts: Map<string, number>,
): Promise<Sent> {
  const maxOutputTokens = asked.maxOutputTokens ?? use.maxOutputTokens
  const options: SendOptions = { ...asked, ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }) }
  // Named by what is asked and not by when, so that calls which are made side by side find their answers again.
  const name = `model/${resource}.${shortHash(options)}`
  const count = (counts.get(name) ?? 0) + 1
  counts.set(name, count)
  const { price, policy, baseURL, budget, timeout = TIMEOUT } = use
  try {
    const { sent } = await send(sender, {
      name: count === 1 ? name : `${name}.${count}`,
      model,
      resource,
      input: options,
      whole: true,
      options: { ...options, ...(headers ? { headers } : {}), ...(abortSignal ? { abortSignal } : {}) },
      ...(budget === undefined ? {} : { budget: typeof budget === 'string' ? { name: budget } : budget }),
      ...(price ? { price } : {}),
      ...(policy ? { policy } : {}),
      ...(baseURL === undefined ? {} : { baseURL }),
      timeoutMs: parseDuration(timeout, 'timeout'),
    })
    return sent
  } catch (thrown) {
    if (leaveOf(thrown) || isRepriseError(thrown)) throw thrown
    // The call has its retries behind it; under this name the SDK does not add its own.
    throw failure({ ...classify(thrown, { now: sender.execution.parts.time.now() }), cause: thrown })
  }
}

interface StreamPart {
  readonly type: string
  readonly [field: string]: unknown
}

function streamOf(result: SendResult): ReadableStream<StreamPart> {
  const { content, finishReason, usage, warnings, response, providerMetadata } = result
  const parts: StreamPart[] = [
    { type: 'stream-start', warnings },
    { type: 'response-metadata', ...response },
  ]
  for (const [index, part] of content.entries()) {
    const id = String(index)
    const of = part['providerMetadata'] ? { providerMetadata: part['providerMetadata'] } : {}
    if (part.type === 'text')
      parts.push(
        { type: 'text-start', id, ...of },
        { type: 'text-delta', id, delta: part.text },
        { type: 'text-end', id },
      )
    else if (part.type === 'reasoning')
      parts.push(
        { type: 'reasoning-start', id, ...of },
        { type: 'reasoning-delta', id, delta: part.text },
        { type: 'reasoning-end', id },
      )
    else parts.push(part)
  }
  parts.push({ type: 'finish', finishReason, usage, ...(providerMetadata ? { providerMetadata } : {}) })
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part)
      controller.close()
    },
  })
}
