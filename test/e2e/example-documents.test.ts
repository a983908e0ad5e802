/**
 * The example of the four stages: every event delivered three times gives the same documents and one paid call each, and what a crash left
 * behind goes through the whole pipeline by one pass of the sweep.
 */
import { expect, test } from 'vitest'
import { type Pipeline, services, startPipeline } from '../../examples/documents/pipeline.ts'
import { memoryBus } from '../../src/bus/memory/index.ts'
import { sqliteSource } from '../../src/sources/sqlite/index.ts'
import { defineCollection } from '../../src/sweep/collection.ts'
import { shippedCollections } from '../../src/sweep/shipped.ts'
import { createSweep } from '../../src/sweep/sweep.ts'
import { virtualClock } from '../../src/testing/virtual-clock.ts'
import { turn } from '../../src/time/clock.ts'

const DAY = 86_400_000

/** Until no queue holds anything and nothing moves any more. */
async function settled(pipeline: Pipeline): Promise<void> {
  for (let quiet = 0; quiet < 20; ) {
    await turn()
    const depths = await Promise.all(services.map(({ queue }) => pipeline.bus.depth(queue)))
    quiet = depths.every((depth) => depth === 0) ? quiet + 1 : 0
  }
}

async function worldOf(deliveries: number) {
  const clock = virtualClock()
  const source = sqliteSource({ file: ':memory:', clock })
  const bus = memoryBus()
  const paid: string[] = []
  const pipeline: Pipeline = {
    source,
    bus: {
      ...bus,
      send: async (messages) =>
        (await bus.send(messages.flatMap((each) => Array(deliveries).fill(each)))).slice(0, messages.length),
    },
    summarise: async (archive) => {
      paid.push(archive)
      return `summary of ${archive}`
    },
    vectors: new Map(),
    summaries: new Map(),
  }
  const sweep = createSweep({ source, bus: pipeline.bus, collections: shippedCollections, clock })
  await sweep.prepare()
  await startPipeline(pipeline)
  const everything = async () => {
    const all: unknown[] = []
    for (const { shape } of shippedCollections.map(defineCollection))
      for (const status of ['pending', 'processing', 'processed', 'failed_max_retries']) {
        const only = { ...shape, status: { ...shape.status, open: [status] } }
        const page = await source.find(only, { where: { is: 'open' }, limit: 1_000 })
        all.push(...page.documents.map((each) => [shape.name, each.id, each.status, each.attempts, each.document]))
      }
    return { all, vectors: [...pipeline.vectors], summaries: [...pipeline.summaries] }
  }
  return { clock, source, pipeline, sweep, paid, everything }
}

async function played(deliveries: number) {
  const world = await worldOf(deliveries)
  const { clock, source, pipeline, sweep } = world
  await source.put('archives', [
    {
      id: 'a',
      createdAt: clock.now() - 2 * DAY,
      document: { text: 'Hello there\n---\nAnd a rather long answer to it, of two chunks' },
    },
    { id: 'b', createdAt: clock.now() - 2 * DAY, document: { text: 'Another archive' } },
    { id: 'bad', createdAt: clock.now() - 2 * DAY, document: { text: '' } },
  ])
  for (let pass = 0; pass < 6; pass++) {
    await sweep.pass()
    await settled(pipeline)
    await clock.advance(DAY / 12)
  }
  return { ...world, result: await world.everything() }
}

test('three deliveries of every event make the same documents as one, and one paid call for each summary', async () => {
  const [once, thrice] = [await played(1), await played(3)]
  expect(once.paid.sort()).toEqual(['a', 'b'])
  expect(thrice.paid.sort()).toEqual(['a', 'b'])
  expect(thrice.result).toEqual(once.result)
  const states = new Map<string, number>()
  for (const each of thrice.result.all as [string, string, string][])
    states.set(`${each[0]} ${each[2]}`, (states.get(`${each[0]} ${each[2]}`) ?? 0) + 1)
  expect(Object.fromEntries(states)).toEqual({
    'archives processed': 2,
    'archives failed_max_retries': 1,
    'messages processed': 3,
    'chunks processed': 4,
    'threads processed': 2,
  })
})
