/**
 * The connection to RabbitMQ: the optional package, one connection that is made when needed and made anew after it broke, and its
 * errors in the words of the port. It knows no queue.
 */
import type { Channel, ChannelModel, ConfirmChannel } from 'amqplib'
import { maskSecrets } from '../../failure/mask-secrets.ts'
import { isRepriseError, RepriseError } from '../../failure/reprise-error.ts'
import type { Clock } from '../../time/clock.ts'

const PACKAGE = 'amqplib'

/** The broker and we tell each other that we are alive, so that a dead connection is noticed. */
const HEARTBEAT_S = 15
const CONNECT_MS = 10_000

/** Who may do without asks no more often for a broker that is away. */
const AWAY_MS = 1_000

export type Library = typeof import('amqplib')

async function loadLibrary(): Promise<Library> {
  try {
    return await import('amqplib')
  } catch (cause) {
    throw new RepriseError(
      'amqp.package',
      `The RabbitMQ bus needs the package ${PACKAGE}, which could not be loaded (${(cause as Error).message.split('\n')[0]}). Install it: npm install ${PACKAGE}`,
      { cause },
    )
  }
}

export interface Link {
  readonly model: ChannelModel
  /** Publishes with confirmation. */
  readonly out: ConfirmChannel
  /** Takes and settles. */
  readonly in: Channel
  /** Publishes what may be lost. */
  readonly hints: Channel
}

export class Connection {
  readonly #url: string
  readonly #clock: Clock
  #opening: Promise<Link> | undefined
  #closed = false
  #failedAt: number | undefined
  readonly #broken = new Set<() => void>()

  constructor(url: string, clock: Clock) {
    this.#url = url
    this.#clock = clock
  }

  get closed(): boolean {
    return this.#closed
  }

  /** The link, made when there is none. Rejects with `bus.unavailable`. */
  link(): Promise<Link> {
    if (this.#closed) return Promise.reject(new RepriseError('bus.unavailable', 'The bus was closed; open a new one.'))
    this.#opening ??= this.#open().catch((error) => {
      this.#opening = undefined
      this.#failedAt = this.#clock.monotonic()
      throw unavailable(this.#url, error)
    })
    return this.#opening
  }

  /** For what may be lost: while the broker was away a moment ago there is none, and nobody knocks again. */
  async linkIfThere(): Promise<Link | undefined> {
    const isAway = this.#failedAt !== undefined && this.#clock.monotonic() - this.#failedAt < AWAY_MS
    return isAway && !this.#opening ? undefined : this.link()
  }

  /** Calls back once, when the link of now has broken. */
  onBroken(hear: () => void): () => void {
    this.#broken.add(hear)
    return () => this.#broken.delete(hear)
  }

  async #open(): Promise<Link> {
    const amqp = await loadLibrary()
    const heartbeat = this.#url.includes('?') ? this.#url : `${this.#url}?heartbeat=${HEARTBEAT_S}`
    const model = await this.#intime(amqp.connect(heartbeat, { timeout: CONNECT_MS }))
    // Told by `close`, which follows; without a listener it would end the process.
    model.on('error', () => undefined)
    model.on('close', () => this.#break())
    const [out, taking, hints] = await Promise.all([
      model.createConfirmChannel(),
      model.createChannel(),
      model.createChannel(),
    ])
    for (const channel of [out, taking, hints]) {
      channel.on('error', () => undefined)
      // A channel that the broker closed cannot be used again: the whole link is made anew, which is rare and simple.
      channel.on('close', () => {
        this.#break()
        model.close().catch(() => undefined)
      })
    }
    return { model, out, in: taking, hints }
  }

  /** A broker that accepts and says nothing must not hold a pass for ever. */
  #intime<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(CONNECT_MS, () => reject(new Error(`no answer within ${CONNECT_MS} ms`)))
      promise.then(resolve, reject).finally(cancel)
    })
  }

  #break(): void {
    this.#opening = undefined
    const waiting = [...this.#broken]
    this.#broken.clear()
    for (const hear of waiting) hear()
  }

  /** A channel of one's own, for what may close it: asking for a queue that is not there does. */
  async scratch<T>(act: (channel: Channel) => Promise<T>): Promise<T> {
    const { model } = await this.link()
    const channel = await model.createChannel()
    channel.on('error', () => undefined)
    try {
      return await act(channel)
    } finally {
      await channel.close().catch(() => undefined)
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    const link = await this.#opening?.catch(() => undefined)
    this.#opening = undefined
    await link?.model.close().catch(() => undefined)
  }

  /** What was thrown, as the port tells it. */
  trouble(error: unknown): RepriseError {
    return unavailable(this.#url, error)
  }
}

function unavailable(url: string, cause: unknown): RepriseError {
  if (isRepriseError(cause)) return cause
  const message = maskSecrets(cause instanceof Error ? cause.message : String(cause))
  return new RepriseError(
    'bus.unavailable',
    `RabbitMQ at ${maskSecrets(url)} cannot be used now: ${message || (cause as { code?: string }).code || 'no answer'}. What was to be sent is kept and sent later.`,
    { cause },
  )
}

/** The broker's answer to a question about something that is not there. */
export const isMissing = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 404
