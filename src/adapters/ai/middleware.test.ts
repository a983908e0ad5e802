import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { APICallError, generateText, streamText, wrapLanguageModel } from 'ai'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type GeminiServer, geminiServer } from '../../../examples/sql-agent/gemini-server.ts'
import { failureOf } from '../../failure/own.ts'
import type { RepriseEvent } from '../../run/event.ts'
import { impatientClock } from '../bigquery/real-client.fixtures.ts'
import { type AiOptions, repriseMiddleware, withReprise } from './middleware.ts'
import { openStream, type StreamResult } from './open-stream.ts'

let server: GeminiServer
let events: RepriseEvent[]
beforeEach(async () => {
  server = await geminiServer((prompt) => `about ${prompt}`)
  events = []
})
afterEach(() => server.close())

const google = () => createGoogleGenerativeAI({ baseURL: server.url, apiKey: 'local' })('gemini-flash-latest')
const options = (more: AiOptions = {}): AiOptions => ({
  clock: impatientClock(),
  emit: (event) => events.push(event),
  ...more,
})
const model = (more: AiOptions = {}) =>
  wrapLanguageModel({ model: google(), middleware: repriseMiddleware(options(more)) })
const statuses = () => server.log.map(({ status }) => status)
const names = () => events.map(({ name }) => name)
const failed = (promise: PromiseLike<unknown>) =>
  Promise.resolve(promise).then(
    () => expect.unreachable('it failed'),
    (error: unknown) => error as Error,
  )

describe('in mode own', () => {
  test('infrastructure is repeated in silence, and every request is stamped', async () => {
    server.fault({ status: 503, times: 2 })
    const { text } = await generateText({ model: model(), prompt: 'rain' })
    expect(text).toBe('about rain')
    expect(statuses()).toEqual([503, 503, 200])
    expect(names()).toEqual(['client.repeated', 'client.repeated'])
    expect(server.log.map(({ stamp }) => stamp?.split('.')[1])).toEqual(['1', '2', '3'])
  })

  test('generateText’s own retries add nothing: an outage costs the policy’s takes and no more', async () => {
    server.fault({ status: 503, times: 99 })
    const error = await failed(generateText({ model: model(), prompt: 'rain' }))
    expect(statuses()).toEqual([503, 503, 503])
    expect(failureOf(error)).toMatchObject({
      kind: 'transient',
      layer: 'infrastructure',
      facts: { sdk: 'ai', takes: 3 },
    })
    expect(APICallError.isInstance(error.cause)).toBe(true)
    expect(names()).toEqual(['client.repeated', 'client.repeated', 'client.failed'])
  })

  test('what cannot work is asked once', async () => {
    server.fault({ status: 400, message: 'API key not valid. Please pass a valid API key.', times: 9 })
    const error = await failed(generateText({ model: model(), prompt: 'rain' }))
    expect(statuses()).toEqual([400])
    expect(failureOf(error)).toMatchObject({ kind: 'final', layer: 'workflow' })
  })

  test('a told delay is kept', async () => {
    const clock = impatientClock()
    server.fault({ status: 429, message: 'Resource exhausted', retryAfterS: 7 })
    await generateText({ model: model({ clock }), prompt: 'rain' })
    expect(statuses()).toEqual([429, 200])
    expect(clock.waits).toEqual([7_000])
  })

  test('a stream is repeated until it has begun', async () => {
    server.fault({ status: 503 })
    const { textStream } = streamText({ model: model(), prompt: 'a longer question about rain and snow' })
    let text = ''
    for await (const part of textStream) text += part
    expect(text).toBe('about a longer question about rain and snow')
    expect(statuses()).toEqual([503, 200])
  })

  test('a stream that opens with an error has failed; one that breaks later is told of and not repeated', async () => {
    type Part = StreamResult['stream'] extends ReadableStream<infer P> ? P : never
    const parts = (...list: object[]): StreamResult => ({
      stream: new ReadableStream<Part>({
        start: (controller) => {
          for (const part of list) controller.enqueue(part as Part)
          controller.close()
        },
      }),
    })
    const overloaded = new Error('Overloaded')
    const broken: unknown[] = []
    const tell = (error: unknown) => broken.push(error)
    const opening = { type: 'stream-start', warnings: [] }
    await expect(openStream(parts(opening, { type: 'error', error: overloaded }), tell)).rejects.toBe(overloaded)
    const word = { type: 'text-delta', id: '1', delta: 'so' }
    const { stream } = await openStream(parts(opening, word, { type: 'error', error: overloaded }), tell)
    const seen: string[] = []
    for await (const { type } of stream) seen.push(type)
    expect(seen).toEqual(['stream-start', 'text-delta', 'error'])
    expect(broken).toEqual([overloaded])
  })

  test('an abort ends it at once with its own reason', async () => {
    server.fault({ status: 503, times: 99 })
    const stop = new AbortController()
    const reason = new Error('enough')
    const emit = () => stop.abort(reason)
    const error = await failed(
      generateText({ model: model({ emit }), prompt: 'rain', abortSignal: stop.signal, maxRetries: 0 }),
    )
    expect([error, error.cause]).toContain(reason)
    expect(statuses()).toEqual([503])
  })

  test('a model that is not wrapped as middleware can be wrapped by itself, and stays as it was', async () => {
    const plain = google()
    server.fault({ status: 503 })
    const { text } = await generateText({ model: withReprise(plain, options()), prompt: 'rain' })
    expect(text).toBe('about rain')
    expect(Object.hasOwn(plain, 'doGenerate')).toBe(false)
    expect(() => withReprise('gemini' as never)).toThrow(/"gemini" is no language model/)
  })
})

describe('in mode observe', () => {
  test('the SDK retries by itself; each of its retries is counted as hidden', async () => {
    server.fault({ status: 429, message: 'Too many requests', times: 1, retryAfterS: 1 })
    const { text } = await generateText({ model: model({ mode: 'observe' }), prompt: 'rain', maxRetries: 2 })
    expect(text).toBe('about rain')
    expect(statuses()).toEqual([429, 200])
    expect(events).toMatchObject([
      { name: 'client.observed', would: 'retry', delayMs: 1_000 },
      { name: 'client.hidden_retries', sdk: 'ai', requests: 2, shown: 1, hidden: 1 },
    ])
  })

  test('the error is the SDK’s own', async () => {
    server.fault({ status: 503 })
    const error = await failed(generateText({ model: model({ mode: 'observe' }), prompt: 'rain', maxRetries: 0 }))
    expect(APICallError.isInstance(error)).toBe(true)
    expect(names()).toEqual(['client.observed'])
  })
})
