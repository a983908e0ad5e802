/**
 * The RabbitMQ bus: durable topology, quorum queues, confirmed and mandatory publishing, and a connection that comes back by itself.
 * Messages go through one topic exchange; hints through another that keeps nothing.
 */
import { createHash } from 'node:crypto'
import type { Channel, ConsumeMessage, GetMessage } from 'amqplib'
import { RepriseError } from '../../failure/reprise-error.ts'
import type { Bus, BusMessage, Delivery } from '../../ports/bus.ts'
import { type Clock, systemClock } from '../../time/clock.ts'
import { Connection, isMissing } from './connection.ts'
import { sendAll } from './send.ts'
import { standing } from './standing.ts'

export interface RabbitmqBusOptions {
  /** `amqp://user:password@host:5672/vhost`, or `amqps://`. */
  readonly url: string
  /** The topic exchange that services publish to. @default 'events' */
  readonly exchange?: string
  /** The exchange of hints. @default 'reprise.hints' */
  readonly hints?: string
  readonly clock?: Clock
}

/** Messages that a consumer holds at a time. */
const PREFETCH = 16

/**
 * From version 4 on RabbitMQ throws a message away that was given back twenty times. Looking into a queue gives back, and so does every
 * pass while the source is away: so the limit is set to what nobody reaches. Versions before 4 take no word for "without limit".
 */
const QUEUE = Object.freeze({ 'x-queue-type': 'quorum', 'x-delivery-limit': 1_000_000 })

export function rabbitmqBus(options: RabbitmqBusOptions): Bus {
  const { url, exchange = 'events', hints = 'reprise.hints', clock = systemClock } = options
  if (!/^amqps?:\/\//.test(url ?? '') || !URL.canParse(url))
    throw new RepriseError(
      'amqp.url',
      'url is not an address of RabbitMQ. Allowed: amqp://<user>:<password>@<host>:<port>/<vhost>.',
    )
  const connection = new Connection(url, clock)
  const stops = new Set<() => void>()
  const trouble = (error: unknown): never => {
    throw connection.trouble(error)
  }

  return {
    name: 'rabbitmq',
    async prepare(queues) {
      await connection.scratch((channel) => channel.assertExchange(exchange, 'topic', { durable: true })).catch(trouble)
      for (const { queue, topics } of queues) {
        const isThere = await exists(connection, queue).catch(trouble)
        await connection
          .scratch(async (channel) => {
            if (!isThere) await channel.assertQueue(queue, { durable: true, arguments: QUEUE })
            for (const topic of topics) await channel.bindQueue(queue, exchange, topic)
          })
          .catch(trouble)
      }
    },
    send: (messages) => sendAll(connection, clock, exchange, messages).catch(trouble),
    async take(queue, limit) {
      const { in: channel } = await connection.link()
      // Asked apart, because a queue that is not there closes the channel it is asked on.
      if (!(await exists(connection, queue).catch(trouble))) return []
      const taken: Delivery[] = []
      try {
        while (taken.length < limit) {
          const message = await channel.get(queue, { noAck: false })
          if (message === false) break
          taken.push(deliveryOf(message, channel))
        }
      } catch (error) {
        trouble(error)
      }
      return taken
    },
    async depth(queue) {
      try {
        return (await connection.scratch((channel) => channel.checkQueue(queue))).messageCount
      } catch (error) {
        return isMissing(error) ? undefined : trouble(error)
      }
    },
    async consume(queue, handle) {
      const under = new Set<Promise<void>>()
      let tag = ''
      let own: Channel | undefined
      const stand = standing(connection, clock, async ({ model }) => {
        const channel = await model.createChannel()
        channel.on('error', () => undefined)
        await channel.prefetch(PREFETCH)
        own = channel
        const consumed = await channel.consume(queue, (message) => {
          // A queue that was deleted says so with null; the next link looks for it again.
          if (message === null) return void model.close().catch(() => undefined)
          const { ack, back, again: _again, isNamed: _named, ...rest } = deliveryOf(message, channel)
          const done = handle(rest)
            .then(ack, back)
            .finally(() => under.delete(done))
          under.add(done)
        })
        tag = consumed.consumerTag
      })
      stops.add(stand.stop)
      await stand.first
      return async () => {
        stand.stop()
        stops.delete(stand.stop)
        await own?.cancel(tag).catch(() => undefined)
        await Promise.allSettled(under)
        await own?.close().catch(() => undefined)
      }
    },
    tell(topic, body) {
      void connection
        .linkIfThere()
        .then(async (link) => {
          if (!link) return
          const { hints: channel } = link
          await hintsReady(channel, hints)
          channel.publish(hints, topic, Buffer.from(body), { persistent: false })
        })
        .catch(() => undefined)
    },
    listen(topic, hear) {
      let listening: Channel | undefined
      let isOver = false
      const stand = standing(connection, clock, async ({ model, hints: channel }) => {
        await hintsReady(channel, hints)
        const own = await model.createChannel()
        own.on('error', () => undefined)
        listening = own
        const { queue } = await own.assertQueue('', { exclusive: true, autoDelete: true, durable: false })
        await own.bindQueue(queue, hints, topic)
        await own.consume(
          queue,
          (message) => {
            if (message && !isOver) hear(message.fields.routingKey, message.content.toString('utf8'))
          },
          { noAck: true },
        )
      })
      stops.add(stand.stop)
      return () => {
        isOver = true
        stand.stop()
        stops.delete(stand.stop)
        // Its queue goes with its channel; on a link that broke both are gone already.
        listening?.close().catch(() => undefined)
      }
    },
    async close() {
      for (const stop of stops) stop()
      stops.clear()
      await connection.close()
    },
  }
}

/** Once per channel, and so once per link. */
const ready = new WeakMap<Channel, Promise<unknown>>()

function hintsReady(channel: Channel, exchange: string): Promise<unknown> {
  let promise = ready.get(channel)
  if (!promise) {
    promise = channel.assertExchange(exchange, 'topic', { durable: true })
    ready.set(channel, promise)
  }
  return promise
}

async function exists(connection: Connection, queue: string): Promise<boolean> {
  try {
    await connection.scratch((channel) => channel.checkQueue(queue))
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

function deliveryOf(message: GetMessage | ConsumeMessage, channel: Channel): Delivery {
  const { properties, fields, content } = message
  const body = content.toString('utf8')
  const isNamed = properties.messageId !== undefined && properties.messageId !== ''
  const known: BusMessage = {
    id: isNamed
      ? String(properties.messageId)
      : `content-${createHash('sha256').update(content).digest('hex').slice(0, 24)}`,
    topic: fields.routingKey,
    body,
  }
  // On a link that broke meanwhile the broker has given the message to somebody else already.
  const settled = async (act: () => void) => {
    try {
      act()
    } catch {
      // It comes again, which receivers are made for.
    }
  }
  return {
    ...known,
    again: fields.redelivered,
    isNamed,
    ack: () => settled(() => channel.ack(message)),
    back: () => settled(() => channel.nack(message, false, true)),
  }
}
