/**
 * One journalled send to a model: budgeted, held, timed, priced, and its raw answer stored before anyone judges it.
 * It builds no prompt and judges nothing; what a provider refused for good is an answer too, so that it is never asked for again.
 */
import { createHash } from 'node:crypto'
import type { BudgetUse } from '../engine/call-budget.ts'
import type { Context } from '../engine/context.ts'
import type { Execution } from '../engine/execution.ts'
import { hashOf } from '../engine/json.ts'
import { classify } from '../failure/classify.ts'
import type { Failure } from '../failure/failure.ts'
import type { Policy } from '../policy/policy.ts'
import type { SendOptions, SendResult } from './language-model.ts'
import { type AnyModel, idOf } from './model-id.ts'
import { costOf, factsOf, type Price, type Tokens, worstCostOf } from './prices.ts'
import { loadModel, type ModelOptions } from './providers.ts'
import type { RungBudget } from './rung.ts'
import { isDefined } from './rung.ts'

/** Who sends: the attempt, and the verb that everything is built on. */
export interface Sender {
  readonly execution: Execution
  readonly call: Context['call']
  readonly models: ModelOptions
}

export interface SendRequest {
  /** Of the journal. */
  readonly name: string
  readonly model: AnyModel
  /** What the answer depends on: stored answers are given back for the same only. */
  readonly input: unknown
  readonly options: SendOptions
  readonly resource: string
  readonly budget?: RungBudget
  /** What becomes of a call that nobody catches when the budget is used up. */
  readonly onExhausted?: 'person' | 'wait'
  readonly price?: Price
  readonly timeoutMs: number
  readonly ambiguous?: 'again' | 'person'
  readonly policy?: Policy
  readonly baseURL?: string
  /** Stored with the answer as it is. */
  readonly about?: Readonly<Record<string, unknown>>
  /** Keeps all parts of the answer, not only its text. */
  readonly whole?: boolean
  /** Called once for each physical send, before it. */
  readonly onSend?: (take: number) => void
}

/** What is stored of a send, as JSON. */
export interface Sent {
  /** Id of the model that was asked. */
  readonly asked: string
  /** The model that says it answered, where the provider tells. */
  readonly answered?: string
  readonly text: string
  /** Why it stopped, in the SDK's word and in the provider's own. */
  readonly finish: string
  readonly finishRaw?: string
  readonly tokens: Tokens & { readonly reasoning?: number }
  readonly usd?: number
  readonly ms: number
  /** Random: what the next prompt frames data with. */
  readonly salt: string
  /** The provider refused for good, or what it sent cannot be an answer. */
  readonly failure?: Failure
  /** All of the answer, where all of it was wanted. */
  readonly result?: Pick<SendResult, 'content' | 'finishReason' | 'usage' | 'providerMetadata' | 'warnings'>
  readonly about?: Readonly<Record<string, unknown>>
}

/** Kinds of failure that are an answer: asking the same again can only cost. */
const ANSWERS: ReadonlySet<string> = new Set(['refused', 'syntax', 'semantic'])

export async function send(
  sender: Sender,
  request: SendRequest,
): Promise<{ readonly sent: Sent; readonly isNew: boolean }> {
  const { execution, models } = sender
  const asked = idOf(request.model)
  const model = await loadModel(request.model, models, request.baseURL)
  const price = priceOf(request, models)
  if (request.budget && isDefined(request.budget)) define(execution, request.budget, request.onExhausted)
  let isNew = false
  const sent = await sender.call<Sent>(
    request.name,
    async (scope) => {
      isNew = true
      request.onSend?.(scope.take)
      const { clock, time, ids } = execution.parts
      const startedAt = clock.monotonic()
      const { abortSignal: own } = request.options
      const abortSignal = own ? AbortSignal.any([own, scope.signal]) : scope.signal
      const headers = { ...request.options.headers, 'idempotency-key': digest(scope.idempotencyKey) }
      const common = () => ({
        asked,
        ms: Math.round(clock.monotonic() - startedAt),
        salt: ids(16),
        ...aboutOf(request),
      })
      try {
        const result = await model.doGenerate({ ...request.options, headers, abortSignal })
        const read = readResult(result, price)
        if (read.usd !== undefined) scope.cost(read.usd)
        // What the provider says is left slows everyone before anybody is refused.
        scope.limits(result.response)
        return { ...common(), ...read, ...(request.whole ? { result: keptOf(result) } : {}) }
      } catch (thrown) {
        const failure = classify(thrown, { now: time.now() })
        if (!ANSWERS.has(failure.kind)) throw thrown
        return { ...common(), text: '', finish: 'error', tokens: {}, failure }
      }
    },
    {
      input: request.input,
      resource: request.resource,
      ...spending(request, price),
      timeout: request.timeoutMs,
      ...(request.ambiguous ? { ambiguous: request.ambiguous } : {}),
      ...(request.policy ? { policy: request.policy } : {}),
    },
  )
  return { sent, isNew }
}

export function priceOf(
  { model, price }: Pick<SendRequest, 'model' | 'price'>,
  { prices }: ModelOptions,
): Price | undefined {
  if (price) return price
  const { input, output, cached } = factsOf(idOf(model), prices)
  if (input === undefined || output === undefined) return undefined
  return { input, output, ...(cached === undefined ? {} : { cached }) }
}

function define(
  execution: Execution,
  { name, ...limits }: RungBudget,
  onExhausted: 'person' | 'wait' = 'person',
): void {
  execution.parts.budgets.define(name, { ...limits, onExhausted })
}

/** Reserved before the send: one call of the budget, and the most that it can cost. */
function spending(
  { budget, options }: SendRequest,
  price: Price | undefined,
): { readonly budget?: BudgetUse; readonly usdMax?: number } {
  const { maxOutputTokens } = options
  const usdMax = maxOutputTokens === undefined ? undefined : worstCostOf(price, { ...sizeOf(options), maxOutputTokens })
  return { ...(budget ? { budget: { name: budget.name } } : {}), ...(usdMax === undefined ? {} : { usdMax }) }
}

/** Bytes of all text that is sent, the schema included, and the number of files. */
function sizeOf({ prompt, responseFormat, tools }: SendOptions): {
  readonly textBytes: number
  readonly images: number
} {
  let images = 0
  const text = JSON.stringify([prompt, responseFormat, tools], (key, value: unknown) => {
    if (key !== 'data' || typeof value !== 'object') return value
    images += 1
    return ''
  })
  return { textBytes: Buffer.byteLength(text), images }
}

function readResult(result: SendResult, price: Price | undefined): Omit<Sent, 'asked' | 'ms' | 'salt'> {
  const { content, finishReason, usage, response } = result
  const said =
    result.structuredOutputText ?? content.map((part) => (part.type === 'text' ? String(part.text) : '')).join('')
  const text = fitting(said)
  const tokens = {
    ...known('input', usage.inputTokens.total),
    ...known('output', usage.outputTokens.total),
    ...known('cached', usage.inputTokens.cacheRead),
    ...known('reasoning', usage.outputTokens.reasoning),
  }
  const usd = usage.inputTokens.total === undefined ? undefined : costOf(price, tokens)
  return {
    text,
    // What did not fit is cut off, and must be judged as such.
    finish: text.length < said.length ? 'length' : finishReason.unified,
    ...known('finishRaw', finishReason.raw),
    tokens,
    ...known('usd', usd),
    ...known('answered', response?.modelId ?? modelVersionOf(response?.body)),
  }
}

/** An answer that does not fit into a row would be paid for and lost, again and again; the beginning of it tells enough. */
const TEXT_MAX = 700_000

function fitting(text: string): string {
  const written = JSON.stringify(text).length
  return written <= TEXT_MAX ? text : text.slice(0, Math.floor((text.length * TEXT_MAX) / written / 2))
}

/** Gemini names the version that answered in its body only. */
function modelVersionOf(body: unknown): string | undefined {
  const version = (body as { readonly modelVersion?: unknown } | undefined)?.modelVersion
  return typeof version === 'string' ? version.slice(0, 100) : undefined
}

const known = <Name extends string, Value>(name: Name, value: Value | undefined | null) =>
  (value === undefined || value === null ? {} : { [name]: value }) as { readonly [N in Name]?: Value }

/** Without requests, headers and raw bodies: they are large and may hold keys. */
function keptOf({ content, finishReason, usage, providerMetadata, warnings }: SendResult): NonNullable<Sent['result']> {
  return { content, finishReason, usage, warnings, ...(providerMetadata ? { providerMetadata } : {}) }
}

const aboutOf = ({ about }: SendRequest) => (about ? { about } : {})

/** Providers take keys of plain characters only, and have no business with our names. */
const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

export const shortHash = (value: unknown): string => hashOf(value).slice(0, 16)
