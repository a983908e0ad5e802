/**
 * A model for tests: answers from a script, costs nothing, and keeps what it was asked.
 * It is a model object of the AI SDK like any other, so it fits `rung(…)`, `ctx.model(…)` and the SDK itself.
 */
import type { SdkModel, SendOptions, SendResult } from '../ladder/language-model.ts'

/** Raw text, an error to throw, or more about the answer. */
export type FakeAnswer = string | Error | FakeReply

export interface FakeReply {
  /** Raw text. */
  readonly text?: string
  /** Written as JSON, instead of `text`. */
  readonly json?: unknown
  /** @default "stop" */
  readonly finish?: 'stop' | 'length' | 'content-filter' | 'error' | 'other'
  /** @default 100 in, 20 out */
  readonly tokens?: { readonly input: number; readonly output: number }
}

/** What it was asked once. */
export interface FakeAsk {
  /** All text of the prompt. */
  readonly text: string
  /** Number of images and other files. */
  readonly files: number
  readonly maxOutputTokens?: number
  /** As the SDK handed them over. */
  readonly options: SendOptions
}

export interface FakeModel extends SdkModel {
  /** Every ask so far, in order. */
  readonly asked: readonly FakeAsk[]
}

/**
 * @example const flash = fakeModel(['no JSON', { json: { total: 3 } }])
 */
export function fakeModel(
  script: readonly FakeAnswer[] | ((ask: FakeAsk, index: number) => FakeAnswer | Promise<FakeAnswer>),
  { id = 'fake/model' }: { readonly id?: string } = {},
): FakeModel {
  const asked: FakeAsk[] = []
  const [provider = 'fake', ...name] = id.split('/')
  const next = async (ask: FakeAsk): Promise<FakeAnswer> => {
    const index = asked.push(ask) - 1
    if (typeof script === 'function') return script(ask, index)
    const answer = script[index]
    if (answer === undefined)
      throw new Error(
        `fake model ${id} is asked for the ${index + 1}. time, and its script has ${script.length} answers`,
      )
    return answer
  }
  const generate = async (options: SendOptions): Promise<SendResult> => {
    const answer = await next(askOf(options))
    if (answer instanceof Error) throw answer
    return resultOf(typeof answer === 'string' ? { text: answer } : answer, name.join('/'))
  }
  return {
    specificationVersion: 'v4',
    provider,
    modelId: name.join('/'),
    supportedUrls: {},
    asked,
    // In the SDK's own type, which is not named here.
    doGenerate: (options) => generate(options) as Promise<never>,
    doStream: () => Promise.reject(new Error('a fake model does not stream; ctx.model makes streams of whole answers')),
  }
}

interface FakePart {
  readonly type: string
  readonly text?: unknown
}

function askOf(options: SendOptions): FakeAsk {
  const parts = options.prompt.flatMap(({ content }): readonly FakePart[] =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  )
  const { maxOutputTokens } = options
  return {
    text: parts.map((part) => (typeof part.text === 'string' ? part.text : '')).join('\n'),
    files: parts.filter(({ type }) => type === 'file').length,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    options,
  }
}

function resultOf(
  { text, json, finish = 'stop', tokens = { input: 100, output: 20 } }: FakeReply,
  modelId: string,
): SendResult {
  const said = text ?? (json === undefined ? '' : JSON.stringify(json))
  const { input, output } = tokens
  return {
    content: said === '' ? [] : [{ type: 'text', text: said }],
    finishReason: { unified: finish, raw: finish },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: undefined },
      outputTokens: { total: output, text: output, reasoning: undefined },
    },
    response: { modelId },
    warnings: [],
  }
}
