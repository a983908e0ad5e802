/**
 * The Bus: messages between services, and hints between processes. This file is the law of the seam; there is no code here.
 *
 * - **Sent means kept.** `send` answers `"sent"` after the broker has confirmed the message and at least one queue has it;
 *   `"unroutable"` says that no queue wants it and nothing was kept; `"unknown"` that the connection broke before the answer.
 * - **At least once.** What is taken comes again unless it is acknowledged; receivers are idempotent by the message's id.
 * - **Hints may be lost**, late or false. Nothing correct depends on one: polling is the truth.
 * - A verb throws only when the broker cannot be reached (`RepriseError` with code `bus.unavailable`).
 */

export interface Bus {
  /** The driver's name for messages: `rabbitmq`. */
  readonly name: string
  /** Makes queues that are durable and get what is sent to their topics. Idempotent; a queue that exists is left as it is. */
  prepare(queues: readonly QueueShape[]): Promise<void>
  /** One answer per message, in their order. */
  send(messages: readonly BusMessage[]): Promise<readonly ('sent' | 'unroutable' | 'unknown')[]>
  /** Takes messages from a queue, at most `limit`, without waiting for more. Whoever takes settles each. */
  take(queue: string, limit: number): Promise<readonly Delivery[]>
  /** How many messages a queue holds; absent when there is no such queue. */
  depth(queue: string): Promise<number | undefined>
  /** Calls back with each message until stopped; acknowledged when the promise resolves, given back when it rejects. */
  consume(queue: string, handle: (message: BusMessage) => Promise<void>): Promise<() => Promise<void>>
  /** Tells everyone who listens to the topic now, and nobody later. Never throws and is not waited for. */
  tell(topic: string, body: string): void
  /** Listens to what is told from now on, by topic or, with a `#` at the end, by its beginning. Returns the way to stop. */
  listen(topic: string, hear: (topic: string, body: string) => void): () => void
  close(): Promise<void>
}

export interface QueueShape {
  readonly queue: string
  /** What it is bound to; none: only what is sent to it by its own name. */
  readonly topics: readonly string[]
}

export interface BusMessage {
  readonly id: string
  /** What queues are bound to: `archive.ingested`. With `to: "queue"` the queue's own name. */
  readonly topic: string
  readonly to?: 'queue'
  /** JSON text. */
  readonly body: string
}

export interface Delivery extends BusMessage {
  /** It was delivered before and not acknowledged. */
  readonly again: boolean
  /** Its sender gave it an id. If not, `id` is made of its content: the same wherever it is looked at, and equal for equal messages. */
  readonly isNamed: boolean
  ack(): Promise<void>
  /** Back to the queue. */
  back(): Promise<void>
}
