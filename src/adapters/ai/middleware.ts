/**
 * Language models of the AI SDK under one owner of retries: as a middleware, or around a single model.
 * It works below `generateText` and `streamText`, whose own retries never see what was cured here and do not repeat what was not.
 */
import type { LanguageModelMiddleware } from 'ai'
import { RepriseError } from '../../failure/reprise-error.ts'
import { Adapter, type AdapterOptions, type Take } from '../adapter.ts'
import { STAMP_HEADER } from '../wire.ts'
import { openStream, type StreamResult } from './open-stream.ts'

export type AiOptions = AdapterOptions

type Wrapped = Parameters<NonNullable<LanguageModelMiddleware['wrapGenerate']>>[0]
type Model = Wrapped['model']
type CallOptions = Wrapped['params']

/**
 * @example const model = wrapLanguageModel({ model: google('gemini-flash-latest'), middleware: repriseMiddleware() })
 */
export function repriseMiddleware(options: AiOptions = {}): LanguageModelMiddleware {
  const sender = new Sender(options)
  return {
    specificationVersion: 'v4',
    wrapGenerate: ({ model, params }) => sender.generate(model, params),
    wrapStream: ({ model, params }) => sender.stream(model, params),
  }
}

/** The same around one model, whatever version of the interface it has. The model itself is not touched. */
export function withReprise<Given extends object>(model: Given, options: AiOptions = {}): Given {
  const { doGenerate, doStream } = (model ?? {}) as Partial<Model>
  if (typeof doGenerate !== 'function' || typeof doStream !== 'function') {
    throw new RepriseError(
      'ai.model',
      `withReprise: ${typeof model === 'string' ? JSON.stringify(model) : typeof model} is no language model. Give it one of a provider: withReprise(google('gemini-flash-latest')).`,
    )
  }
  const sender = new Sender(options)
  const given = model as unknown as Model
  return Object.create(model, {
    doGenerate: { value: (params: CallOptions) => sender.generate(given, params), enumerable: true },
    doStream: { value: (params: CallOptions) => sender.stream(given, params), enumerable: true },
  }) as Given
}

class Sender {
  readonly #adapter: Adapter
  /** Prompts that failed while somebody else owned the retries: whoever sends one again retries it. */
  readonly #failed = new WeakMap<object, number>()

  constructor(options: AiOptions) {
    this.#adapter = new Adapter(options, { sdk: 'ai' })
  }

  generate(model: Model, params: CallOptions) {
    const operation = `generate ${model.modelId}`
    return this.#send(operation, params, (stamped) => Promise.resolve(model.doGenerate(stamped)))
  }

  stream(model: Model, params: CallOptions): Promise<StreamResult> {
    const operation = `stream ${model.modelId}`
    const broken = (error: unknown) => this.#adapter.gaveUp(operation, 1, this.#adapter.classify(error))
    return this.#send(operation, params, async (stamped) => openStream(await model.doStream(stamped), broken))
  }

  async #send<Answer>(
    operation: string,
    params: CallOptions,
    send: (params: CallOptions) => Promise<Answer>,
  ): Promise<Answer> {
    const { prompt, headers, abortSignal } = params
    const before = this.#failed.get(prompt)
    if (before !== undefined) this.#adapter.hidden(operation, before + 1, before)
    const stamped = ({ stamp, signal }: Take): CallOptions => ({
      ...params,
      headers: { ...headers, [STAMP_HEADER]: stamp },
      // A stream outlives the take that opened it, and so does the caller's wish to end it.
      abortSignal: abortSignal ? AbortSignal.any([signal, abortSignal]) : signal,
    })
    try {
      return await this.#adapter.send(operation, (take) => send(stamped(take)), { signal: abortSignal })
    } catch (thrown) {
      this.#failed.set(prompt, (before ?? 0) + 1)
      throw thrown
    }
  }
}
