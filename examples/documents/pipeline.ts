/**
 * Four services of a document pipeline in one process: parse, chunk, embed, summarise. Each is safe when its event comes again: it skips
 * what exists, takes a duplicate for success, writes over what is equal, and looks before it pays.
 */
import { createHash } from 'node:crypto'
import type { MemoryBus } from 'reprise/bus/memory'
import type { SqliteSource } from 'reprise/sources/sqlite'
import {
  archives,
  type BusMessage,
  type CollectionInput,
  chunks,
  defineCollection,
  messages,
  threads,
  trackAttempt,
} from 'reprise/sweep'

export interface Pipeline {
  readonly source: SqliteSource
  readonly bus: MemoryBus
  /** Asks a model, which costs money. */
  readonly summarise: (text: string) => Promise<string>
  /** What the pipeline makes besides its documents; a vector store and a table of summaries in earnest. */
  readonly vectors: Map<string, readonly number[]>
  readonly summaries: Map<string, string>
}

interface Event {
  readonly data: Readonly<Record<string, unknown>>
  readonly retry?: { readonly attempt: number; readonly generation: number }
}

type Stage = (id: string, document: Readonly<Record<string, unknown>>, pipeline: Pipeline) => Promise<void>

interface Service {
  readonly queue: string
  readonly collection: CollectionInput
  /** The field of an event that names documents, one or a list. */
  readonly idName: string
  readonly work: Stage
}

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)

const tell = (bus: MemoryBus, topic: string, id: string, data: Event['data']) =>
  bus.send([{ id, topic, body: JSON.stringify({ event_id: id, data }) }])

/** Messages of an archive have ids made of their content: parsing again finds them there and adds nothing. */
const parse: Stage = async (id, { text }, { source, bus }) => {
  if (typeof text !== 'string' || text === '') throw new Error('the archive is empty')
  const found = text.split('\n---\n').map((body) => ({ id: `m-${shortHash(`${id}/${body}`)}`, body }))
  await source.put(
    'messages',
    found.map(({ id: message, body }) => ({ id: message, document: { archive_id: id, body } })),
  )
  for (const { id: message } of found)
    await tell(bus, 'json.parsed', `parsed/${message}`, { message_doc_ids: [message] })
}

/** `put` leaves a document alone whose id is there: a duplicate key is success. */
const chunk: Stage = async (id, { body, archive_id }, { source, bus }) => {
  const parts = String(body).match(/.{1,40}/gs) ?? []
  const made = parts.map((part, index) => ({
    id: `${id}-${index}`,
    document: { message_doc_id: id, archive_id, part },
  }))
  await source.put('chunks', made)
  await source.put('threads', [{ id: `t-${String(archive_id)}`, document: { archive_id } }])
  for (const { id: each } of made) await tell(bus, 'chunks.prepared', `chunked/${each}`, { chunk_ids: [each] })
  await tell(bus, 'summarization.requested', `summarise/${String(archive_id)}`, {
    thread_ids: [`t-${String(archive_id)}`],
  })
}

/** Written over: the same chunk has the same vector. */
const embed: Stage = async (id, { part }, { vectors }) => {
  vectors.set(id, [...String(part)].map((letter) => letter.charCodeAt(0) / 255).slice(0, 8))
}

/** Looks for the summary before it asks for one: an answer that is there is never paid for again. */
const summarise: Stage = async (id, { archive_id }, { summaries, summarise: ask }) => {
  if (!summaries.has(id)) summaries.set(id, await ask(String(archive_id)))
}

export const services: readonly Service[] = [
  { queue: 'parsing', collection: archives, idName: 'archive_id', work: parse },
  { queue: 'chunking', collection: messages, idName: 'message_doc_ids', work: chunk },
  { queue: 'embedding', collection: chunks, idName: 'chunk_ids', work: embed },
  { queue: 'summarization', collection: threads, idName: 'thread_ids', work: summarise },
]

/** Starts all four. Returns the way to stop them: what lies in their queues is worked off first, since it is gone with the process. */
export async function startPipeline(pipeline: Pipeline): Promise<() => Promise<void>> {
  const { bus } = pipeline
  let busy = 0
  await bus.prepare(services.map(({ queue, collection }) => ({ queue, topics: [collection.event.topic] })))
  const stops = await Promise.all(
    services.map((service) =>
      bus.consume(service.queue, async (message) => {
        busy += 1
        try {
          await handle(service, message, pipeline)
        } finally {
          busy -= 1
        }
      }),
    ),
  )
  const isIdle = async () => {
    const depths = await Promise.all(services.map(({ queue }) => bus.depth(queue)))
    return busy === 0 && depths.every((depth) => depth === 0)
  }
  return async () => {
    while (!(await isIdle())) await new Promise((resolve) => setImmediate(resolve))
    for (const stop of stops) await stop()
  }
}

/** What every service does around its work: the four writes, and a report when it failed. */
async function handle({ collection, idName, work }: Service, message: BusMessage, pipeline: Pipeline): Promise<void> {
  const { source, bus } = pipeline
  const { data, retry } = JSON.parse(message.body) as Event
  for (const id of [data[idName] ?? []].flat().map(String)) {
    const track = trackAttempt(source, id, collection)
    if ((await track.before(retry)) !== 'begin') continue
    try {
      const { document } = (await source.get(defineCollection(collection).shape, id)) ?? { document: {} }
      await work(id, document, pipeline)
      await track.success()
    } catch (error) {
      // Under the event's own id: an event that comes again reports its failure only once.
      await tell(bus, collection.failures?.topics?.[0] ?? '', `failed/${message.id}`, {
        [idName]: id,
        error_type: (error as Error).name,
        error_message: (error as Error).message,
        ...(retry ? { retry } : {}),
      })
    }
  }
}
