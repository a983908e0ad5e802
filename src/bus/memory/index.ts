/**
 * The bus inside one process: queues in memory with the laws of a broker, for tests, trying and single-process applications.
 * What it holds is gone with the process; the sweep's outbox is not.
 */
import type { Bus, BusMessage, Delivery } from '../../ports/bus.ts'
import { nextTurn } from '../../time/turn.ts'

interface Held {
  readonly message: BusMessage
  readonly again: boolean
}

interface Queue {
  readonly topics: Set<string>
  readonly waiting: Held[]
  readonly consumers: Set<(message: BusMessage) => Promise<void>>
}

export interface MemoryBus extends Bus {
  /** What lies in a queue, oldest first; nothing is taken. */
  peek(queue: string): readonly BusMessage[]
}

export function memoryBus(): MemoryBus {
  const queues = new Map<string, Queue>()
  const listeners = new Set<{ readonly topic: string; readonly hear: (topic: string, body: string) => void }>()

  const queueOf = (name: string): Queue => {
    let queue = queues.get(name)
    if (!queue) {
      queue = { topics: new Set(), waiting: [], consumers: new Set() }
      queues.set(name, queue)
    }
    return queue
  }

  const route = (message: BusMessage): readonly Queue[] => {
    if (message.to === 'queue') {
      const queue = queues.get(message.topic)
      return queue ? [queue] : []
    }
    return [...queues.values()].filter(({ topics }) => topics.has(message.topic))
  }

  /** Consumers take turns; a message that one gives back waits for the next turn, so that a bad one does not spin. */
  const pump = (queue: Queue): void => {
    for (const handle of queue.consumers) {
      const held = queue.waiting.shift()
      if (!held) return
      queue.consumers.delete(handle)
      handle(held.message)
        .catch(() => queue.waiting.push({ message: held.message, again: true }))
        .finally(() => {
          if (!stopped.has(handle)) queue.consumers.add(handle)
          nextTurn(() => pump(queue))
        })
    }
  }
  const stopped = new WeakSet<(message: BusMessage) => Promise<void>>()

  return {
    name: 'memory',
    async prepare(shapes) {
      for (const { queue, topics } of shapes) for (const topic of [queue, ...topics]) queueOf(queue).topics.add(topic)
    },
    async send(messages) {
      return messages.map((message) => {
        const found = route(message)
        for (const queue of found) {
          queue.waiting.push({ message, again: false })
          nextTurn(() => pump(queue))
        }
        return found.length > 0 ? 'sent' : 'unroutable'
      })
    },
    async take(name, limit) {
      const queue = queues.get(name)
      return (queue?.waiting.splice(0, limit) ?? []).map(({ message, again }): Delivery => {
        let open = true
        return {
          ...message,
          again,
          isNamed: true,
          async ack() {
            open = false
          },
          async back() {
            if (open) queue?.waiting.push({ message, again: true })
            open = false
          },
        }
      })
    },
    depth: async (name) => queues.get(name)?.waiting.length,
    async consume(name, handle) {
      const queue = queueOf(name)
      const consumer = (message: BusMessage) => handle(message)
      queue.consumers.add(consumer)
      nextTurn(() => pump(queue))
      return async () => {
        stopped.add(consumer)
        queue.consumers.delete(consumer)
      }
    },
    tell(topic, body) {
      for (const { topic: wanted, hear } of listeners) if (matches(wanted, topic)) nextTurn(() => hear(topic, body))
    },
    listen(topic, hear) {
      const listener = { topic, hear }
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    peek: (name) => queues.get(name)?.waiting.map(({ message }) => message) ?? [],
    async close() {
      for (const queue of queues.values()) queue.consumers.clear()
      listeners.clear()
    },
  }
}

const matches = (wanted: string, topic: string) =>
  wanted.endsWith('#') ? topic.startsWith(wanted.slice(0, -1)) : wanted === topic
