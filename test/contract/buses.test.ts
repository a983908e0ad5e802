import { mkdtempSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import amqp from 'amqplib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memoryBus } from '../../src/bus/memory/index.ts'
import { rabbitmqBus } from '../../src/bus/rabbitmq/index.ts'
import { createReprise } from '../../src/engine/reprise.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { busContract } from '../../src/testing/bus-contract.ts'
import { noRabbit, type RabbitService, rabbitService } from '../services/rabbitmq.ts'

busContract(
  {
    name: 'memory',
    open: async () => {
      const bus = memoryBus()
      return { bus, other: bus, close: () => bus.close() }
    },
  },
  { describe, test },
)

describe('RabbitMQ', () => {
  const reason = noRabbit()
  let service: RabbitService | undefined
  beforeAll(async () => {
    if (reason === undefined) service = await rabbitService()
  }, 180_000)
  afterAll(() => service?.dispose())

  busContract(
    {
      name: 'rabbitmq',
      open: async () => {
        if (!service) throw new Error('there is no broker')
        const [bus, other] = [rabbitmqBus({ url: service.url }), rabbitmqBus({ url: service.url })]
        return { bus, other, close: async () => void (await Promise.all([bus.close(), other.close()])) }
      },
    },
    { describe, test: (name, body) => test(name, async (context) => (reason ? context.skip(reason) : body())) },
  )

  test('hints do not knock without end at a broker that is away', async () => {
    let knocks = 0
    const away = createServer((socket) => {
      knocks += 1
      socket.destroy()
    })
    await new Promise<void>((resolve) => away.listen(0, '127.0.0.1', resolve))
    const bus = rabbitmqBus({ url: `amqp://127.0.0.1:${(away.address() as AddressInfo).port}` })
    for (let times = 0; times < 100; times++) {
      bus.tell('x', '{}')
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    await bus.close()
    away.close()
    expect(knocks).toBeGreaterThan(0)
    expect(knocks).toBeLessThan(5)
  })

  test('a message without an id is named by its content, wherever and whenever it is taken', async (context) => {
    if (reason !== undefined || !service) return context.skip(reason ?? 'there is no broker')
    const [bus, other] = [rabbitmqBus({ url: service.url }), rabbitmqBus({ url: service.url })]
    await bus.prepare([{ queue: 'nameless', topics: [] }])
    const link = await amqp.connect(service.url)
    const channel = await link.createConfirmChannel()
    for (const body of ['one', 'two']) channel.sendToQueue('nameless', Buffer.from(body))
    await channel.waitForConfirms()
    const [first] = await bus.take('nameless', 1)
    expect(first).toMatchObject({ body: 'one', isNamed: false })
    const [second] = await other.take('nameless', 1)
    expect(second).toMatchObject({ body: 'two', isNamed: false })
    expect(second?.id).not.toBe(first?.id)
    await first?.back()
    await expect.poll(async () => (await other.take('nameless', 1))[0]?.id, { timeout: 10_000 }).toBe(first?.id)
    await link.close()
    await Promise.all([bus.close(), other.close()])
  })

  test('makes queues that throw nothing away, whatever the default of the broker is', async (context) => {
    if (reason !== undefined || !service) return context.skip(reason ?? 'there is no broker')
    const bus = rabbitmqBus({ url: service.url })
    await bus.prepare([{ queue: 'kept', topics: [] }])
    const link = await amqp.connect(service.url)
    const declared = async (args: Readonly<Record<string, unknown>>) => {
      const channel = await link.createChannel()
      channel.on('error', () => undefined)
      // A broker refuses to declare a queue that is there with other arguments.
      return channel.assertQueue('kept', { durable: true, arguments: args }).then(
        () => 'the same',
        () => 'other',
      )
    }
    expect(await declared({ 'x-queue-type': 'quorum', 'x-delivery-limit': 1_000_000 })).toBe('the same')
    expect(await declared({ 'x-queue-type': 'quorum' })).toBe('other')
    await link.close()
    await bus.close()
  })

  test('wakes a worker of the engine whose own polls are an hour apart, and carries events out', async (context) => {
    if (reason !== undefined || !service) return context.skip(reason ?? 'there is no broker')
    const { url } = service
    const file = join(mkdtempSync(join(tmpdir(), 'reprise-bus-')), 'reprise.db')
    const made = () => createReprise({ store: sqlite({ file, watchMs: 0 }), bus: rabbitmqBus({ url }) })
    const [submitting, working, listening] = [made(), made(), rabbitmqBus({ url })]
    const heard: string[] = []
    listening.listen('reprise.event.#', (topic) => heard.push(topic))
    const task = working.task('greet', {}, async (input) => input)
    working.work({ pollMs: '1h' })
    // Until it stands: a listener that is not there yet misses a hint, which is what hints are like.
    await expect
      .poll(
        async () => {
          await submitting.submit(task, {})
          return heard
        },
        { timeout: 20_000, interval: 300 },
      )
      .toEqual(expect.arrayContaining(['reprise.event.run.submitted', 'reprise.event.run.succeeded']))
    await Promise.all([submitting.close(), working.close(), listening.close()])
  })
})
