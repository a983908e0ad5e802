/**
 * Waits until a stream of a model has begun to say something: a stream that opens with an error has failed like a call that did.
 * After the first word nothing is repeated, because the reader has seen it.
 */
import type { LanguageModelMiddleware } from 'ai'

export type StreamResult = Awaited<ReturnType<NonNullable<LanguageModelMiddleware['wrapStream']>>>
type Part = StreamResult['stream'] extends ReadableStream<infer P> ? P : never

/** Parts that say nothing yet. */
const OPENING: ReadonlySet<string> = new Set(['stream-start', 'response-metadata', 'raw'])

/** More of them than this is not an opening any more. */
const OPENING_MAX = 16

/** Throws the error with which a stream opened; gives the same stream otherwise, and tells of an error that comes later. */
export async function openStream(result: StreamResult, broken: (error: unknown) => void): Promise<StreamResult> {
  const reader = result.stream.getReader()
  const opening: Part[] = []
  while (opening.length < OPENING_MAX) {
    const { done, value } = await reader.read()
    if (done) break
    if (value.type === 'error') {
      await reader.cancel().catch(() => {})
      throw value.error
    }
    opening.push(value)
    if (!OPENING.has(value.type)) break
  }
  return { ...result, stream: rejoined(opening, reader, broken) }
}

function rejoined(
  opening: readonly Part[],
  reader: ReadableStreamDefaultReader<Part>,
  broken: (error: unknown) => void,
): ReadableStream<Part> {
  return new ReadableStream<Part>({
    start: (controller) => {
      for (const part of opening) controller.enqueue(part)
    },
    pull: async (controller) => {
      const { done, value } = await reader.read()
      if (done) return controller.close()
      if (value.type === 'error') broken(value.error)
      controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
