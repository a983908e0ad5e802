import { afterAll, beforeAll, describe, test } from 'vitest'
import { memoryBus } from '../../src/bus/memory/index.ts'
import { rabbitmqBus } from '../../src/bus/rabbitmq/index.ts'
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
})
