/**
 * A sweeper in a process of its own, to be killed: `node test/chaos/sweep-process.ts '<SweeperSetup as JSON>'`.
 * Makes its passes and ends; where it dies before that is said by REPRISE_CRASH_AT.
 */
import { rabbitmqBus } from '../../src/bus/rabbitmq/index.ts'
import { mongodbSource } from '../../src/sources/mongodb/index.ts'
import { createSweep } from '../../src/sweep/sweep.ts'
import { systemClock } from '../../src/time/clock.ts'

export interface SweeperSetup {
  readonly mongodb: string
  readonly rabbitmq: string
  /** Names the collection, its queues and its topics. */
  readonly name: string
  readonly passes: number
  readonly pauseMs: number
  /** Short, so that a test of crashes need not wait; the product's own where nobody crashes. */
  readonly sendLeaseMs?: number
}

export const SEND_LEASE_MS = 400

export const collectionOf = (name: string) => ({
  name,
  idField: 'name',
  createdField: 'created',
  event: { type: 'Again', topic: `${name}.again` },
  failures: { queue: `${name}.failed`, topics: [`${name}.failed`] },
  deadLetter: `${name}_dead`,
})

export function sweeperOf({ mongodb, rabbitmq, name, sendLeaseMs = SEND_LEASE_MS }: SweeperSetup) {
  return createSweep({
    source: mongodbSource({ url: mongodb, database: 'chaos' }),
    bus: rabbitmqBus({ url: rabbitmq }),
    collections: [collectionOf(name)],
    sendLease: sendLeaseMs,
  })
}

if (import.meta.main) {
  const setup = JSON.parse(process.argv[2] ?? '{}') as SweeperSetup
  const sweep = sweeperOf(setup)
  for (let pass = 0; pass < setup.passes; pass++) {
    if (pass > 0) await systemClock.sleep(setup.pauseMs)
    process.stdout.write(`${JSON.stringify(await sweep.pass())}\n`)
  }
  await sweep.close()
}
