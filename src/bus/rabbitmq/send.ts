/**
 * Publishing with certainty: each message is confirmed by the broker, returned because no queue wants it, or of unknown fate because the
 * connection broke. Windows keep what is under way small.
 */
import type { ConfirmChannel, Message } from 'amqplib'
import type { BusMessage } from '../../ports/bus.ts'
import type { Clock } from '../../time/clock.ts'
import type { Connection } from './connection.ts'

export type Sent = 'sent' | 'unroutable' | 'unknown'

/** Messages under way at a time. */
const WINDOW = 256

/** A confirmation that takes longer is none: shorter than the time that an event belongs to its sender. */
const CONFIRM_MS = 30_000

let sends = 0

export async function sendAll(
  connection: Connection,
  clock: Clock,
  exchange: string,
  messages: readonly BusMessage[],
): Promise<readonly Sent[]> {
  const answers: Sent[] = []
  for (let from = 0; from < messages.length; from += WINDOW) {
    const window = messages.slice(from, from + WINDOW)
    try {
      const { out } = await connection.link()
      const got = await sendWindow(connection, out, clock, exchange, window)
      answers.push(...got)
      if (got.includes('unknown')) break
    } catch (error) {
      // What went before is known; the rest was not sent, or nobody knows.
      if (from === 0) throw error
      break
    }
  }
  while (answers.length < messages.length) answers.push('unknown')
  return answers
}

function sendWindow(
  connection: Connection,
  channel: ConfirmChannel,
  clock: Clock,
  exchange: string,
  messages: readonly BusMessage[],
): Promise<Sent[]> {
  return new Promise((resolve) => {
    const answers = new Map<string, Sent>()
    const names = messages.map(() => `${++sends}`)
    const returned = new Set<string>()
    // The broker returns a message before it confirms it.
    const onReturn = ({ properties }: Message) => returned.add(String(properties.correlationId))
    let open = messages.length
    const finish = () => {
      cancel()
      unbroken()
      channel.off('return', onReturn)
      resolve(names.map((name) => answers.get(name) ?? 'unknown'))
    }
    const settle = (name: string, answer: Sent) => {
      if (answers.has(name)) return
      answers.set(name, answer)
      open -= 1
      if (open === 0) finish()
    }
    const cancel = clock.after(CONFIRM_MS, finish)
    const unbroken = connection.onBroken(finish)
    channel.on('return', onReturn)
    messages.forEach(({ id, topic, to, body }, index) => {
      const name = names[index] as string
      const options = {
        persistent: true,
        mandatory: true,
        messageId: id,
        correlationId: name,
        contentType: 'application/json',
      }
      try {
        channel.publish(to === 'queue' ? '' : exchange, topic, Buffer.from(body), options, (error) => {
          settle(name, error ? 'unknown' : returned.has(name) ? 'unroutable' : 'sent')
        })
      } catch {
        settle(name, 'unknown')
      }
    })
    if (messages.length === 0) finish()
  })
}
