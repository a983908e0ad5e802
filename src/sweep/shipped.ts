/**
 * The four collections of a document pipeline, as they come with Reprise: archives are parsed, messages chunked, chunks embedded,
 * threads summarised. Data only; change what differs in your pipeline.
 */
import type { CollectionInput } from './collection.ts'

type Fields = Readonly<Record<string, unknown>>

/** What tracking adds to a document is no business of the receiver. */
const TRACKING = new Set(['status', 'attemptCount', 'lastAttemptTime'])

const withoutTracking = (document: Fields): Fields =>
  Object.fromEntries(Object.entries(document).filter(([field]) => !TRACKING.has(field)))

/** One id, or a list of them, under any of these names. */
const idsUnder =
  (...names: readonly string[]) =>
  (data: Fields): readonly string[] =>
    names.flatMap((name) => data[name] ?? []).map(String)

export const archives: CollectionInput = {
  name: 'archives',
  idField: 'archive_id',
  maxAttempts: 3,
  event: { type: 'ArchiveIngested', topic: 'archive.ingested', data: withoutTracking },
  failures: { queue: 'parsing.failed', topics: ['parsing.failed'], ids: idsUnder('archive_id') },
  // Whoever waits for an archive waits for the newest.
  order: 'recent',
}

export const messages: CollectionInput = {
  name: 'messages',
  maxAttempts: 3,
  event: {
    type: 'JSONParsed',
    topic: 'json.parsed',
    data: ({ _id, archive_id }) => ({ archive_id, message_doc_ids: [_id] }),
  },
  failures: {
    queue: 'chunking.failed',
    topics: ['chunking.failed'],
    ids: idsUnder('message_doc_ids', 'message_doc_id'),
  },
}

export const chunks: CollectionInput = {
  name: 'chunks',
  maxAttempts: 5,
  event: {
    type: 'ChunksPrepared',
    topic: 'chunks.prepared',
    data: ({ _id, message_doc_id }) => ({ message_doc_ids: [message_doc_id], chunk_ids: [_id], chunk_count: 1 }),
  },
  failures: {
    queue: 'embedding.failed',
    topics: ['embedding.generation.failed'],
    ids: idsUnder('chunk_ids', 'chunk_id'),
  },
}

export const threads: CollectionInput = {
  name: 'threads',
  maxAttempts: 5,
  event: {
    type: 'SummarizationRequested',
    topic: 'summarization.requested',
    data: ({ _id }) => ({ thread_ids: [_id] }),
  },
  failures: {
    queue: 'summarization.failed',
    topics: ['summarization.failed'],
    ids: idsUnder('thread_ids', 'thread_id'),
  },
}

export const shippedCollections: readonly CollectionInput[] = [archives, messages, chunks, threads]
