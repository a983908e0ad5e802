/**
 * The example of the four stages: every event delivered three times gives the same documents and one paid call each, and what a crash left
 * behind goes through the whole pipeline by one pass of the sweep.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { type Pipeline, services, startPipeline } from '../../examples/documents/pipeline.ts'
import { memoryBus } from '../../src/bus/memory/index.ts'
import { sqliteSource } from '../../src/sources/sqlite/index.ts'
import { type CollectionInput, defineCollection } from '../../src/sweep/collection.ts'
import { shippedCollections } from '../../src/sweep/shipped.ts'
import { createSweep } from '../../src/sweep/sweep.ts'
import { virtualClock } from '../../src/testing/virtual-clock.ts'
import { turn } from '../../src/time/clock.ts'

const DAY = 86_400_000
const EXAMPLE = new URL('../../examples/documents/', import.meta.url)

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

test('the lines of its README do what they say', async () => {
  const readme = readFileSync(new URL('README.md', EXAMPLE), 'utf8')
  const lines = [...(/```sh\n([\s\S]*?)```/.exec(readme)?.[1] ?? '').matchAll(/^(node|reprise) ([^#\n]+)/gm)]
  expect(lines).toHaveLength(6)
  const folder = mkdtempSync(join(tmpdir(), 'reprise-example-'))
  const file = join(folder, 'documents.db')
  const said: string[] = []
  for (const [, program, words = ''] of lines) {
    const source = ['--import', fileURLToPath(new URL('use-source.ts', import.meta.url))]
    const main = program === 'reprise' ? [fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))] : []
    const { stdout } = await promisify(execFile)(process.execPath, [...source, ...main, ...words.trim().split(' ')], {
      cwd: fileURLToPath(EXAMPLE),
      env: { PATH: process.env['PATH'], DOCUMENTS_DB: file },
    })
    said.push(stdout)
  }
  const [, look, passed, , failed, groups] = said
  expect(look).toMatch(/archives +2 +1 /)
  expect(passed).toMatch(/archives +2 +1 /)
  expect(failed).toContain('spent')
  expect(groups).toContain('sweep.silent')
  const source = sqliteSource({ file })
  const stateOf = async (collection: (typeof shippedCollections)[number], id: string) =>
    (await source.get(defineCollection(collection).shape, id))?.status
  const [archives, , , threads] = shippedCollections as [
    CollectionInput,
    CollectionInput,
    CollectionInput,
    CollectionInput,
  ]
  expect(await stateOf(archives, 'forgotten')).toBe('processed')
  expect(await stateOf(threads, 't-forgotten')).toBe('processed')
  expect(await stateOf(archives, 'spent')).toBe('failed_max_retries')
  expect(await stateOf(archives, 'fresh')).toBe('pending')
  await source.close()
  rmSync(folder, { recursive: true, force: true })
}, 60_000)
