/**
 * The contract of the Bus port: one test per law, for any driver and any test runner.
 */
import assert from 'node:assert/strict'
import type { Bus, BusMessage } from '../ports/bus.ts'
import { inBackground } from '../time/background.ts'
import { systemClock } from '../time/clock.ts'
import type { TestFunctions } from './store-contract/index.ts'

export interface BusContract {
  readonly name: string
  /** A bus and another one on the same broker; for a bus inside one process, the same. Queue names are made unique by the laws. */
  readonly open: () => Promise<{ readonly bus: Bus; readonly other: Bus; readonly close: () => Promise<void> }>
}

let made = 0
const unique = (word: string): string => `${word}-${process.pid}-${++made}`

const message = (topic: string, id: string, body = `{"id":"${id}"}`): BusMessage => ({ id, topic, body })

async function drained(bus: Bus, queue: string): Promise<string[]> {
  const ids: string[] = []
  for (;;) {
    const taken = await bus.take(queue, 50)
    if (taken.length === 0) return ids
    for (const each of taken) {
      ids.push(each.id)
      await each.ack()
    }
  }
}

const laws: Readonly<Record<string, (bus: Bus, other: Bus) => Promise<void>>> = {
  'what is sent to a topic is in every queue that is bound to it, in order, with id and body': async (bus, other) => {
    const [topic, a, b] = [unique('t'), unique('a'), unique('b')]
    await bus.prepare([
      { queue: a, topics: [topic] },
      { queue: b, topics: [topic] },
    ])
    const sent = await bus.send(['1', '2', '3'].map((id) => message(topic, id)))
    assert.deepEqual(sent, ['sent', 'sent', 'sent'])
    assert.deepEqual(await drained(other, a), ['1', '2', '3'])
    const [first] = await other.take(b, 1)
    assert.equal(first?.body, '{"id":"1"}')
    assert.equal(first?.topic, topic)
    await first?.back()
  },
  'what no queue wants is unroutable, its neighbours are sent': async (bus) => {
    const [topic, queue] = [unique('t'), unique('q')]
    await bus.prepare([{ queue, topics: [topic] }])
    const answers = await bus.send([message(topic, '1'), message(unique('nowhere'), '2'), message(topic, '3')])
    assert.deepEqual(answers, ['sent', 'unroutable', 'sent'])
    assert.deepEqual(await drained(bus, queue), ['1', '3'])
  },
  'a queue is reached by its own name': async (bus) => {
    const queue = unique('q')
    await bus.prepare([{ queue, topics: [] }])
    assert.deepEqual(await bus.send([{ ...message(queue, '1'), to: 'queue' }]), ['sent'])
    assert.deepEqual(await drained(bus, queue), ['1'])
  },
  'what is given back comes again, and says so': async (bus) => {
    const queue = unique('q')
    await bus.prepare([{ queue, topics: [queue] }])
    await bus.send([message(queue, '1')])
    const [first] = await bus.take(queue, 5)
    assert.equal(first?.again, false)
    assert.deepEqual(await bus.take(queue, 5), [], 'what is taken is not given to another')
    await first?.back()
    const [second] = await untilSome(() => bus.take(queue, 5))
    assert.equal(second?.id, '1')
    assert.equal(second?.again, true)
    await second?.ack()
    assert.equal(await bus.depth(queue), 0)
  },
  'what is given back any number of times is kept': async (bus) => {
    const queue = unique('q')
    await bus.prepare([{ queue, topics: [queue] }])
    await bus.send([message(queue, '1')])
    for (let times = 0; times < 40; times++) {
      const [taken] = await untilSome(() => bus.take(queue, 5))
      assert.equal(taken?.id, '1')
      await taken?.back()
    }
  },
  'a queue that is not there holds nothing and breaks nothing': async (bus) => {
    const queue = unique('q')
    assert.deepEqual(await bus.take(queue, 5), [])
    assert.equal(await bus.depth(queue), undefined)
    await bus.prepare([{ queue, topics: [queue] }])
    await bus.prepare([{ queue, topics: [queue] }])
    assert.deepEqual(await bus.send([message(queue, '1')]), ['sent'])
    assert.equal(await untilSome(async () => ((await bus.depth(queue)) === 1 ? [1] : [])).then(([n]) => n), 1)
  },
  'a consumer gets everything once, and again what it refused': async (bus, other) => {
    const queue = unique('q')
    await bus.prepare([{ queue, topics: [queue] }])
    const seen: string[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const stop = await other.consume(queue, async ({ id }) => {
      seen.push(id)
      if (seen.length === 1) throw new Error('not now')
      if (seen.length === 4) resolve()
    })
    await bus.send(['1', '2', '3'].map((id) => message(queue, id)))
    await promise
    await stop()
    assert.deepEqual([...seen].sort(), ['1', '1', '2', '3'])
  },
  'hints reach who listens, by topic or by its beginning': async (bus, other) => {
    const word = unique('w')
    const heard: string[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const off = other.listen(`${word}.#`, (topic, body) => {
      heard.push(`${topic}=${body}`)
      resolve()
    })
    const again = inBackground(20, () => bus.tell(`${word}.a`, '1'))
    bus.tell(`${unique('x')}.a`, '2')
    await promise
    again()
    off()
    assert.equal(heard[0], `${word}.a=1`)
    assert.ok(heard.every((each) => each === `${word}.a=1`))
    const before = heard.length
    const later = Promise.withResolvers<void>()
    const offLater = other.listen(`${word}.b`, () => later.resolve())
    const telling = inBackground(20, () => bus.tell(`${word}.b`, '3'))
    await later.promise
    telling()
    offLater()
    assert.equal(heard.length, before, 'who has stopped hears nothing more')
  },
  'a thousand messages at once are all sent and all there': async (bus) => {
    const queue = unique('q')
    await bus.prepare([{ queue, topics: [queue] }])
    const ids = Array.from({ length: 1_000 }, (_, index) => String(index))
    const answers = await bus.send(ids.map((id) => message(queue, id)))
    assert.ok(answers.every((answer) => answer === 'sent'))
    assert.deepEqual((await drained(bus, queue)).sort(), [...ids].sort())
  },
}

/** A broker may take a moment to show what it has; a law that must hold in the end is asked a few times. */
async function untilSome<T>(ask: () => Promise<readonly T[]>): Promise<readonly T[]> {
  for (let tries = 0; tries < 200; tries++) {
    const found = await ask()
    if (found.length > 0) return found
    await systemClock.sleep(25)
  }
  return []
}

export function busContract(contract: BusContract, { describe, test }: TestFunctions): void {
  describe(`the contract of Bus: ${contract.name}`, () => {
    for (const [title, prove] of Object.entries(laws))
      test(title, async () => {
        const { bus, other, close } = await contract.open()
        try {
          await prove(bus, other)
        } finally {
          await close()
        }
      })
  })
}
