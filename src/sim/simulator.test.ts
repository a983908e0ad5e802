/**
 * The simulator as clients meet it: the real SDKs over real HTTP, and what our classifier makes of each fault.
 */
import { readFile } from 'node:fs/promises'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import {
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModel,
  NoObjectGeneratedError,
  Output,
  streamText,
} from 'ai'
import { describe, expect, test } from 'vitest'
import { classify } from '../failure/classify.ts'
import type { Kind } from '../failure/failure.ts'
import { FAULT_NAMES, type FaultName } from './fault.ts'
import { type Simulator, type SimulatorOptions, startSimulator } from './simulator.ts'

const read = (path: string) => readFile(new URL(`../../samples/${path}`, import.meta.url), 'utf8')
const invoice = await read('invoices/INV-001.md')
const schema = jsonSchema<Record<string, unknown>>(JSON.parse(await read('invoice.schema.json')))
const prompt = `Read the invoice.\n\n<document>\n${invoice}\n</document>`

/** Nothing answers a hang, so a short patience changes nothing but the time of the test. */
const PATIENCE_MS = 100

const MODELS: Readonly<Record<string, (simulator: Simulator) => LanguageModel>> = {
  gemini: ({ url }) => createGoogleGenerativeAI({ apiKey: 'any', baseURL: `${url}/v1beta` })('gemini-flash-latest'),
  'openai responses': ({ url }) => createOpenAI({ apiKey: 'any', baseURL: `${url}/v1` })('gpt-5-mini'),
  'openai chat': ({ url }) => createOpenAI({ apiKey: 'any', baseURL: `${url}/v1` }).chat('gpt-5-mini'),
}
const WIRES = Object.keys(MODELS)

async function ask(simulator: Simulator, wire = 'gemini') {
  const model = MODELS[wire]!(simulator)
  return generateText({ model, prompt, maxRetries: 0, output: Output.object({ schema }) })
}

const withFault = (fault: FaultName, options: SimulatorOptions = {}) =>
  startSimulator({ ...options, script: { 'INV-001': [fault] } })

/** Ends as a timeout does, counted from its start: on a busy machine a request may take longer to arrive than a client waits. */
function patience() {
  const controller = new AbortController()
  const start = () => {
    AbortSignal.timeout(PATIENCE_MS).addEventListener('abort', ({ target }) =>
      controller.abort((target as AbortSignal).reason),
    )
  }
  return { signal: controller.signal, start }
}

async function thrownBy(work: () => PromiseLike<unknown>): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

/** Faults that an SDK throws at once, with the status and the kind that is to come of them. */
const THROWN: ReadonlyArray<readonly [FaultName, number | undefined, Kind]> = [
  ['rate-limit', 429, 'rate_limited'],
  ['quota-day', 429, 'rate_limited'],
  ['overloaded', 503, 'transient'],
  ['internal', 500, 'transient'],
  ['bad-gateway', 502, 'transient'],
  ['reset', undefined, 'transient'],
  ['torn', 200, 'transient'],
  ['no-pages', 400, 'final'],
  ['unknown-model', 404, 'final'],
]

/** Faults of the answer's text: the call succeeds and its parsing does not. */
const UNREADABLE: readonly FaultName[] = ['truncated', 'unclosed', 'fenced', 'sloppy', 'prose', 'no-json', 'empty']

/** Faults that only a gate can see. */
const WRONG: readonly FaultName[] = ['missing-fields', 'wrong-total', 'wrong-total-anew', 'wrong-net']

const APART: readonly FaultName[] = ['ok', 'hang', 'safety', 'safety-answer', 'bad-key']

test('no fault is left out below', () => {
  const tested = [...THROWN.map(([fault]) => fault), ...UNREADABLE, ...WRONG, ...APART]
  expect(tested.sort()).toEqual([...FAULT_NAMES].sort())
})

describe.each(WIRES)('%s', (wire) => {
  test('the right answer, in the shape that was asked for', async () => {
    await using simulator = await startSimulator()
    const { output, usage, finishReason } = await ask(simulator, wire)
    expect(output).toMatchObject({ number: 'ZW26-103', currency: 'CHF', vendor: 'Zürcher Werkzeug AG' })
    expect(finishReason).toBe('stop')
    const [request] = simulator.requests()
    expect(request).toMatchObject({ seq: 1, document: 'INV-001', take: 1, fault: 'ok', status: 200 })
    expect(usage.inputTokens).toBe(request?.tokens.input)
    expect(usage.outputTokens).toBe(request?.tokens.output)
  })

  test.each(THROWN)('%s is thrown with status %s and is %s', async (fault, status, kind) => {
    await using simulator = await withFault(fault)
    const error = await thrownBy(() => ask(simulator, wire))
    expect(APICallError.isInstance(error) && error.statusCode).toBe(status)
    expect(classify(error).kind).toBe(kind)
    expect(simulator.requests()).toHaveLength(1)
  })

  test('a rate limit tells how long to wait', async () => {
    const script = { 'INV-001': [{ fault: 'rate-limit', retryAfter: '7s' }] } as const
    await using simulator = await startSimulator({ script })
    const error = await thrownBy(() => ask(simulator, wire))
    expect(classify(error)).toMatchObject({ kind: 'rate_limited', retryAfterMs: 7_000 })
    const { responseBody, responseHeaders } = error as APICallError
    if (wire === 'gemini') expect(responseBody).toMatch(/google\.rpc\.RetryInfo",\s*"retryDelay": "7s"/)
    else expect(responseHeaders).toMatchObject({ 'retry-after': '7', 'x-ratelimit-reset-requests': '7s' })
  })

  test('a hang lasts until the client gives up', async () => {
    const { signal: abortSignal, start } = patience()
    await using simulator = await withFault('hang', { onRequest: start })
    const error = await thrownBy(() =>
      generateText({ model: MODELS[wire]!(simulator), prompt, maxRetries: 0, abortSignal }),
    )
    expect(classify(error).kind).toBe('transient')
    expect(simulator.requests()).toMatchObject([{ fault: 'hang', status: null, tokens: { input: 0, output: 0 } }])
  })

  test.each(UNREADABLE)('%s cannot be parsed and is syntax', async (fault) => {
    await using simulator = await withFault(fault)
    const error = await thrownBy(async () => (await ask(simulator, wire)).output)
    expect(NoObjectGeneratedError.isInstance(error)).toBe(true)
    expect(classify(error).kind).toBe('syntax')
    const finish = NoObjectGeneratedError.isInstance(error) ? error.finishReason : undefined
    expect(finish).toBe(fault === 'truncated' ? 'length' : 'stop')
  })

  test.each(WRONG)('%s is well-formed and differs from the right answer', async (fault) => {
    await using right = await startSimulator()
    await using wrong = await withFault(fault)
    const [expected, given] = [await ask(right, wire), await ask(wrong, wire)]
    expect(given.output).not.toEqual(expected.output)
  })

  test('a key that is not valid is final', async () => {
    await using simulator = await withFault('bad-key')
    expect(classify(await thrownBy(() => ask(simulator, wire))).kind).toBe('final')
  })

  test('a stream brings the same text, and the same error', async () => {
    await using simulator = await startSimulator({ script: { 'INV-001': ['ok', 'ok', 'overloaded'] } })
    const model = MODELS[wire]!(simulator)
    const whole = await generateText({ model, prompt, maxRetries: 0 })
    const stream = streamText({ model, prompt, maxRetries: 0 })
    expect(await stream.text).toBe(whole.text)
    expect(await stream.finishReason).toBe('stop')
    expect((await stream.usage).outputTokens).toBe(whole.usage.outputTokens)
    const errors: unknown[] = []
    const failed = streamText({ model, prompt, maxRetries: 0, onError: ({ error }) => void errors.push(error) })
    await failed.consumeStream()
    expect(errors.map((error) => classify(error).kind)).toEqual(['transient'])
  })
})

describe('safety', () => {
  test.each(['safety', 'safety-answer'] as const)('gemini withholds its text: %s', async (fault) => {
    await using simulator = await withFault(fault)
    const { text, finishReason, rawFinishReason } = await generateText({
      model: MODELS['gemini']!(simulator),
      prompt,
      maxRetries: 0,
    })
    expect({ text, finishReason }).toEqual({ text: '', finishReason: 'content-filter' })
    expect(classify({ finishReason: rawFinishReason }).kind).toBe('refused')
  })

  test('openai refuses the request', async () => {
    await using simulator = await withFault('safety')
    expect(classify(await thrownBy(() => ask(simulator, 'openai chat'))).kind).toBe('refused')
  })
})

describe('answers', () => {
  test('a wrong total is the same each time, or another one each time, as asked', async () => {
    await using simulator = await startSimulator({
      script: { 'INV-001': ['wrong-total', 'wrong-total', 'wrong-total-anew', 'wrong-total-anew'] },
    })
    const totals: unknown[] = []
    for (let take = 0; take < 4; take += 1) totals.push((await ask(simulator)).output['total'])
    expect(totals[0]).toBe(totals[1])
    expect(new Set(totals).size).toBe(3)
  })

  test('too little room cuts the answer as a provider does', async () => {
    await using simulator = await startSimulator()
    const model = MODELS['gemini']!(simulator)
    const { finishReason, usage } = await generateText({ model, prompt, maxRetries: 0, maxOutputTokens: 20 })
    expect(finishReason).toBe('length')
    expect(usage.outputTokens).toBeLessThanOrEqual(20)
  })

  test('a strong model thinks, and it is counted', async () => {
    await using simulator = await startSimulator()
    const { url } = simulator
    const model = createGoogleGenerativeAI({ apiKey: 'any', baseURL: `${url}/v1beta` })('gemini-pro-latest')
    const { usage } = await generateText({ model, prompt, maxRetries: 0 })
    expect(usage.outputTokenDetails.reasoningTokens).toBeGreaterThanOrEqual(600)
  })

  test('scripts per model: the last step is given to all further requests', async () => {
    const script = { 'INV-001': { flash: ['overloaded', 'wrong-total'], 'gpt-5': ['fenced'] } } as const
    await using simulator = await startSimulator({ script })
    for (const wire of ['gemini', 'gemini', 'gemini', 'openai chat']) await ask(simulator, wire).catch(() => {})
    expect(simulator.requests().map(({ fault }) => fault)).toEqual([
      'overloaded',
      'wrong-total',
      'wrong-total',
      'fenced',
    ])
  })

  test('the client’s idempotency key is logged', async () => {
    await using simulator = await startSimulator()
    const headers = { 'Idempotency-Key': 'r42/invoice/1' }
    await generateText({ model: MODELS['gemini']!(simulator), prompt, maxRetries: 0, headers })
    expect(simulator.requests()[0]?.idempotencyKey).toBe('r42/invoice/1')
  })
})

describe('requests by hand', () => {
  const post = (url: string, body: unknown) =>
    fetch(url, { method: 'POST', headers: { 'x-goog-api-key': 'any' }, body: JSON.stringify(body) })

  test('the form that @google/genai sends: capital types, responseSchema, a version in the answer', async () => {
    await using simulator = await startSimulator()
    const response = await post(`${simulator.url}/v1beta/models/gemini-2.5-flash:generateContent`, {
      contents: [{ role: 'user', parts: [{ text: invoice }] }],
      generationConfig: {
        responseMimeType: 'application/json',
        responseSchema: {
          type: 'OBJECT',
          properties: { invoice_number: { type: 'STRING' }, total: { type: 'NUMBER' } },
        },
      },
    })
    const body = (await response.json()) as {
      modelVersion: string
      candidates: [{ content: { parts: [{ text: string }] } }]
    }
    expect(JSON.parse(body.candidates[0].content.parts[0].text)).toMatchObject({ invoice_number: 'ZW26-103' })
    expect(body.modelVersion).toBe('gemini-2.5-flash-sim-001')
  })

  test('tokens are counted without an answer, and models are listed', async () => {
    await using simulator = await startSimulator()
    const models = `${simulator.url}/v1beta/models`
    const counted = await post(`${models}/gemini-2.5-flash:countTokens`, { contents: [{ parts: [{ text: invoice }] }] })
    expect(await counted.json()).toEqual({ totalTokens: expect.any(Number) })
    expect(simulator.requests()).toEqual([])
    expect(await (await fetch(models)).json()).toMatchObject({
      models: [{ name: 'models/gemini-flash-latest' }, {}, {}, {}],
    })
    expect(await (await fetch(`${models}/gemini-2.5-pro`)).json()).toMatchObject({ name: 'models/gemini-2.5-pro' })
  })

  test.each([
    ['/v1beta/models/x:generateContent', {}, 400, 'contents is not specified'],
    ['/v1/chat/completions', { messages: [] }, 400, 'model'],
    ['/v1/nothing', {}, 404, '/v1/nothing'],
    ['/v1beta/models/%zz:generateContent', { contents: [] }, 400, 'URI'],
  ])('a wrong request to %s is refused and not counted', async (path, body, status, message) => {
    await using simulator = await startSimulator({ faults: 'storm' })
    const response = await post(simulator.url + path, body)
    expect(response.status).toBe(status)
    expect(JSON.stringify(await response.json())).toContain(message)
    expect(simulator.requests()).toEqual([])
  })
})

describe('wrong options', () => {
  test.each([
    [{ port: 70_000 }, 'port: 70000'],
    [{ seed: 0.5 }, 'seed: 0.5'],
    [{ faults: 'gale' }, 'faults: "gale"'],
    [{ faults: { rates: { hang: 2 } } }, 'faults.rates.hang: 2'],
    [{ faults: { rates: { hang: 0.6, reset: 0.6 } } }, 'faults.rates: 1.2'],
    [{ faults: { rates: { hng: 0.1 } } }, 'faults.rates: "hng"'],
    [{ faults: { latencyMs: [9, 3] } }, 'faults.latencyMs: [9,3]'],
    [{ faults: { models: { pro: { latency: 5 } } } }, 'faults.models.pro.latency'],
    [{ faults: { images: { abc: 'x' } } }, 'faults.images.abc'],
    [{ script: { 'INV-001': [] } }, 'script.INV-001: []'],
    [{ script: { 'INV-001': { flash: ['okay'] } } }, 'script.INV-001.flash[0]: "okay"'],
    [{ script: { 'INV-001': [{ fault: 'rate-limit', retryAfter: 'soon' }] } }, 'script.INV-001[0].retryAfter: "soon"'],
    [{ script: { '/INV-(/': ['ok'] } }, 'script./INV-(/'],
  ])('%j', async (options, message) => {
    const error = await thrownBy(() => startSimulator(options as SimulatorOptions))
    expect(error).toBeInstanceOf(RangeError)
    expect((error as RangeError).message).toContain(message)
  })
})
