/**
 * The Source: documents in collections that other services own, as the sweep reads and moves them. This file is the law of the
 * seam; there is no code here. A source knows nothing of backoffs, events or policies.
 *
 * - **Races are answers.** Every write is a compare-and-swap on what the caller read; `"lost"` changes nothing. Besides the services'
 *   own fields (status, attempts, last attempt) it compares `rev`, which every write of the sweep raises by one: so two sweepers
 *   never write over each other, and no write of a service is overwritten unseen.
 * - **One write, one document.** What one change sets is visible whole or not at all; there are no transactions over documents.
 * - **Acknowledged means durable**: for MongoDB by a majority and journaled, for SQLite synced.
 * - **Source time.** `now` is the source's clock; callers compare with nothing else.
 * - **Legacy documents** lack fields: no attempts is 0, no last attempt is none, no marks are the marks of a new document.
 * - A verb throws only when the source cannot be reached (`RepriseError` with code `source.unavailable`).
 */
import type { Kind } from '../failure/failure.ts'

export interface Source {
  /** The driver's name for messages: `mongodb`. */
  readonly name: string
  now(): Promise<number>
  /** Creates the indexes that the queries below need, or finds them there. Answers with those that could not be made. Idempotent. */
  prepare(shapes: readonly CollectionShape[]): Promise<readonly string[]>
  /** A page of documents, in the order asked for; the cursor goes on behind the last one, whatever became of those before. */
  find(shape: CollectionShape, query: DocumentQuery): Promise<DocumentPage>
  get(shape: CollectionShape, id: string): Promise<SourceDocument | undefined>
  count(shape: CollectionShape, where: Where): Promise<number>
  /** One answer per change, in their order. */
  change(shape: CollectionShape, changes: readonly DocumentChange[]): Promise<readonly ('ok' | 'lost')[]>
  /** Documents with a failure, by its fingerprint: those that failed for good and those that wait for their next attempt. */
  groups(shape: CollectionShape): Promise<readonly FailureGroup[]>
  /**
   * Moves documents to another collection of the same source: written there first, then removed here if they are as expected. A crash
   * between the two leaves both, and the next move of the same document ends it.
   */
  move(shape: CollectionShape, to: string, items: readonly Expected[]): Promise<readonly ('ok' | 'lost')[]>
  remove(shape: CollectionShape, items: readonly Expected[]): Promise<readonly ('ok' | 'lost')[]>
  /** A small value that outlives the process, such as how healthy a dependency was. */
  recall(name: string): Promise<Recalled | undefined>
  remember(name: string, value: string, expectRev: number): Promise<'ok' | 'lost'>
  /** What an operator did, for the audit. */
  note(note: SourceNote): Promise<void>
  notes(limit: number): Promise<readonly SourceNote[]>
  close(): Promise<void>
}

/** How a collection's documents are read. */
export interface CollectionShape {
  readonly name: string
  /** The field that events and operators name a document by. */
  readonly idField: string
  readonly statusField: string
  readonly attemptsField: string
  readonly lastAttemptField: string
  /** Absent: the time inside an ObjectId, or else when the sweep first saw it. */
  readonly createdField?: string
  /** Where the sweep keeps what only it writes. */
  readonly marksField: string
  /** How instants are stored. */
  readonly dates: 'date' | 'iso'
  readonly status: {
    /** Waiting for a service or in its hands. */
    readonly open: readonly string[]
    readonly done: readonly string[]
    /** What a document becomes that ran out of attempts. */
    readonly failed: string
    /** What a document becomes that is begun again. */
    readonly pending: string
  }
}

export interface SourceDocument {
  readonly id: string
  /** The driver's own name for it, handed back with a change. */
  readonly key: unknown
  readonly status: string
  readonly attempts: number
  readonly lastAttemptAt?: number
  readonly createdAt?: number
  readonly marks: Marks
  /** Raised by every write of the sweep; 0 for a document that it never wrote to. */
  readonly rev: number
  /** The whole document without the marks, as plain JSON. */
  readonly document: Readonly<Record<string, unknown>>
}

/** What the sweep keeps about a document, in the document. */
export interface Marks {
  /** An operator's reset begins the next one. */
  readonly generation: number
  /** Number of the last attempt in this generation that the sweep has sent; 0 when it sent none. */
  readonly delivered: number
  /** When the next attempt may go out: it failed, or an operator scheduled it. Absent while a service has it. */
  readonly dueAt?: number
  /** The last failure that was heard of, kept after the next attempt goes out. */
  readonly failure?: DocumentFailure
  /** The event to be sent for the attempt that is counted already. Gone once the broker has confirmed it. */
  readonly outbox?: OutboxEvent
  /** First seen then, for a document whose age nothing else tells. */
  readonly seenAt?: number
  /** Its service said that it failed for good, and why: the next pass ends it, and tells. */
  readonly ends?: string
  readonly endedAt?: number
  /** Why it ended, or who asked for what is due, in words. */
  readonly why?: string
  /** Earlier generations, newest first. */
  readonly past?: readonly PastGeneration[]
}

export interface DocumentFailure {
  readonly at: number
  readonly kind: Kind
  readonly code: string
  readonly message: string
  readonly advice: string
  readonly fingerprint: string
  /** How long the other side told us to wait. */
  readonly retryAfterMs?: number
  /** Of the event that told of it, so that the same event heard twice counts once. */
  readonly event?: string
}

export interface OutboxEvent {
  /** Stable over every resend of this attempt. */
  readonly id: string
  readonly topic: string
  /** The whole message, as it is sent. */
  readonly body: string
  /** Until then it is being sent by whoever wrote it; after that anybody may take it over. */
  readonly until: number
}

export interface PastGeneration {
  readonly generation: number
  readonly attempts: number
  readonly lastAttemptAt?: number
  readonly status: string
  readonly failure?: DocumentFailure
  readonly resetAt: number
  readonly by: string
}

/**
 * Which documents.
 * - `due`: open, and their next attempt may go out. `waiting`: open, and it may not yet.
 * - `silent`: open, nothing due and nothing to send, and no attempt since `before`; without any attempt, created before then. A document
 *   whose age is not known is among them, so that it can be marked as seen.
 * - `stuck`: those of the silent ones whose age is known. A document that nobody has looked at yet is none.
 * - `unsent`: an event that its sender did not get rid of until `before`.
 * - `failed`: ran out of attempts. `open`: all that are open.
 * - `processed`: done, with an attempt since. `troubled`: not done, with a failure since.
 */
export type Where = (
  | { readonly is: 'due'; readonly by: number }
  | { readonly is: 'waiting'; readonly after: number }
  | { readonly is: 'silent'; readonly before: number }
  | { readonly is: 'stuck'; readonly before: number }
  | { readonly is: 'unsent'; readonly before: number }
  | { readonly is: 'failed' }
  | { readonly is: 'open' }
  | { readonly is: 'processed'; readonly since: number }
  | { readonly is: 'troubled'; readonly since: number }
) & { readonly filter?: DocumentFilter }

/** What operators narrow a selection by. All of it must hold. */
export interface DocumentFilter {
  readonly ids?: readonly string[]
  readonly code?: string
  readonly fingerprint?: string
}

export interface DocumentQuery {
  readonly where: Where
  /** `oldest`: what waits longest comes first. `recent`: what was created last. */
  readonly order?: 'oldest' | 'recent'
  readonly limit: number
  readonly cursor?: string
}

export interface DocumentPage {
  readonly documents: readonly SourceDocument[]
  /** Absent when there is no more. */
  readonly cursor?: string
}

export interface Expected {
  readonly id: string
  readonly key: unknown
  readonly rev: number
  /** Compared when given. `null`: there must be none. */
  readonly status?: string
  readonly attempts?: number
  readonly lastAttemptAt?: number | null
}

export interface DocumentChange {
  readonly expect: Expected
  readonly status?: string
  readonly attempts?: number
  readonly lastAttemptAt?: number | null
  /** Absent: the marks stay as they are, and so does `rev`. */
  readonly marks?: Marks
}

export interface FailureGroup {
  readonly fingerprint: string
  readonly kind: Kind
  readonly code: string
  readonly advice: string
  /** One of their messages. */
  readonly message: string
  readonly failed: number
  readonly waiting: number
  readonly firstAt: number
  readonly lastAt: number
  /** Some of them, at most five. */
  readonly ids: readonly string[]
}

export interface Recalled {
  readonly value: string
  readonly rev: number
}

export interface SourceNote {
  readonly at: number
  readonly by: string
  readonly what: string
  readonly collection?: string
  readonly data?: Readonly<Record<string, string | number | boolean>>
}
