import { describe, expect, it } from 'vitest'
import { seededDice } from '../time/dice.ts'
import { sweepGroups } from './groups.ts'
import { actOn, type ExportLine, exportDocuments, purgeExported } from './operate.ts'
import { peekQueue, purgeQueue, queueDepths, requeueQueue } from './queues.ts'
import { DAY, HOUR, MINUTE, type SweepWorld, sweepWorld } from './sweep.fixtures.ts'

const ana = { by: 'ana', dryRun: false }

async function failedWorld(
  count = 3,
): Promise<SweepWorld & { readonly collection: SweepWorld['sweep']['collections'][0] }> {
  const world = await sweepWorld()
  const { clock, source, sweep } = world
  const lastAttemptAt = clock.now() - HOUR
  const ids = Array.from({ length: count }, (_, index) => `a-${index}`)
  await source.put(
    'archives',
    ids.map((id) => ({ id, attempts: 3, lastAttemptAt, createdAt: 0 })),
  )
  // As many went well, so that what is begun again is not kept back for a sick dependency.
  await source.put(
    'archives',
    ids.map((id) => ({ id: `well-${id}`, status: 'processed', attempts: 1, lastAttemptAt: clock.now(), createdAt: 0 })),
  )
  for (const [index, id] of ids.entries())
    await world.report(id, index === 0 ? 'connect ECONNREFUSED 10.0.0.7:27017' : `file ${index} is corrupt`)
  await sweep.pass()
  return { ...world, collection: sweep.collections[0]! }
}

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

describe('verbs over documents', () => {
  it('reset begins the next generation, keeps what was, and spreads what is due', async () => {
    const { clock, sweep, bus, document, collection } = await failedWorld(200)
    const spreadMs = 10 * MINUTE
    const acted = await actOn(sweep, 'reset', { collection }, { ...ana, spreadMs, dice: seededDice(1) })
    expect(acted).toMatchObject({ matched: 200, done: 200, lost: 0 })
    const reset = await document('a-1')
    expect(reset).toMatchObject({ status: 'pending', attempts: 0, marks: { generation: 2, delivered: 0 } })
    expect(reset.lastAttemptAt).toBeUndefined()
    expect(reset.marks.past).toMatchObject([{ generation: 1, attempts: 3, status: 'failed_max_retries', by: 'ana' }])
    await clock.advance(MINUTE)
    const early = (await sweep.pass()).collections[0]?.begun ?? 0
    expect(early).toBeGreaterThan(0)
    expect(early).toBeLessThan(60)
    await clock.advance(spreadMs)
    await sweep.pass()
    expect(bus.peek('parsing')).toHaveLength(200)
    expect(bus.peek('parsing').every(({ id }) => id.endsWith('/2.1'))).toBe(true)
    expect(await sweep.source.notes(5)).toMatchObject([{ by: 'ana', what: 'reset', data: { done: 200 } }])
  })

  it('schedule sends nothing before its time', async () => {
    const { clock, sweep, bus, document, collection } = await failedWorld()
    const at = clock.now() + 2 * DAY
    await actOn(sweep, 'schedule', { collection, filter: { ids: ['a-1'] } }, { ...ana, at })
    await clock.advance(2 * DAY - 1)
    await sweep.pass()
    expect(bus.peek('parsing')).toHaveLength(0)
    await clock.advance(1)
    await sweep.pass()
    expect(bus.peek('parsing')).toHaveLength(1)
    expect(await document('a-1')).toMatchObject({ attempts: 1, marks: { generation: 2 } })
    expect(await document('a-2')).toMatchObject({ status: 'failed_max_retries' })
  })

  it('requeue makes an open document due now and keeps its count', async () => {
    const { clock, source, sweep, document } = await sweepWorld()
    await source.put('archives', [{ id: 'a', attempts: 1, lastAttemptAt: clock.now(), createdAt: 0 }])
    await actOn(sweep, 'requeue', { collection: sweep.collections[0]!, of: 'open', filter: { ids: ['a'] } }, ana)
    await sweep.pass()
    expect(await document('a')).toMatchObject({ attempts: 2, marks: { generation: 1 } })
  })

  it('requeue and schedule give a document another attempt that has none left, and never end it', async () => {
    const { clock, source, sweep, bus, document } = await sweepWorld()
    const [collection] = sweep.collections as [SweepWorld['sweep']['collections'][0]]
    const spent = { attempts: 3, lastAttemptAt: clock.now() - HOUR, createdAt: 0 }
    await source.put('archives', [
      { id: 'a', ...spent },
      { id: 'b', ...spent },
    ])
    await actOn(sweep, 'requeue', { collection, of: 'open', filter: { ids: ['a'] } }, ana)
    await actOn(sweep, 'schedule', { collection, of: 'open', filter: { ids: ['b'] } }, { ...ana, at: clock.now() })
    expect((await sweep.pass()).collections[0]).toMatchObject({ begun: 2, ended: 0 })
    expect(bus.peek('parsing')).toHaveLength(2)
    for (const id of ['a', 'b'])
      expect(await document(id)).toMatchObject({
        status: 'pending',
        attempts: 1,
        marks: { generation: 2, past: [{ attempts: 3 }] },
      })
  })

  it('a look changes nothing and says how many', async () => {
    const { sweep, document, collection } = await failedWorld()
    const acted = await actOn(sweep, 'reset', { collection, filter: { code: 'network.*' } }, { ...ana, dryRun: true })
    expect(acted).toMatchObject({ matched: 1, done: 0, ids: ['a-0'] })
    expect(await document('a-0')).toMatchObject({ status: 'failed_max_retries' })
    expect(await sweep.source.notes(5)).toEqual([])
  })

  it('purge deletes only what an export named and nobody changed since', async () => {
    const { sweep, source, collection } = await failedWorld()
    const lines: ExportLine[] = await all(exportDocuments(sweep, { collection }))
    expect(lines.map(({ id }) => id)).toEqual(['a-0', 'a-1', 'a-2'])
    await actOn(sweep, 'reset', { collection, filter: { ids: ['a-1'] } }, ana)
    const named = lines.filter(({ id }) => id !== 'a-2')
    expect(await purgeExported(sweep, collection, named, { ...ana, dryRun: true })).toMatchObject({
      matched: 1,
      done: 0,
    })
    expect(await purgeExported(sweep, collection, named, ana)).toMatchObject({ matched: 1, done: 1, lost: 1 })
    expect(await source.get(collection.shape, 'a-0')).toBeUndefined()
    expect(await source.get(collection.shape, 'a-1')).toBeDefined()
    expect(await source.get(collection.shape, 'a-2')).toBeDefined()
  })

  it('purge leaves a document alone that failed again since the export', async () => {
    const { sweep, source, collection, document } = await failedWorld(1)
    const lines: ExportLine[] = await all(exportDocuments(sweep, { collection }))
    const { id, key, rev, marks } = await document('a-0')
    await source.change(collection.shape, [{ expect: { id, key, rev }, marks: { ...marks, why: 'failed once more' } }])
    expect(await purgeExported(sweep, collection, lines, ana)).toMatchObject({ matched: 0, done: 0, lost: 1 })
    expect(await document('a-0')).toMatchObject({ status: 'failed_max_retries' })
  })

  it('purge leaves a document alone that its service wrote to since the export', async () => {
    const { sweep, clock, source, collection, document } = await failedWorld(2)
    const lines: ExportLine[] = await all(exportDocuments(sweep, { collection }))
    const { id, key, rev } = await document('a-0')
    await source.change(collection.shape, [{ expect: { id, key, rev }, attempts: 4, lastAttemptAt: clock.now() }])
    expect(await purgeExported(sweep, collection, lines, ana)).toMatchObject({ matched: 1, done: 1, lost: 1 })
    expect(await document('a-0')).toMatchObject({ attempts: 4 })
  })

  it('purge refuses an export of another collection', async () => {
    const { sweep, collection } = await failedWorld(1)
    const [line] = (await all(exportDocuments(sweep, { collection }))) as [ExportLine]
    const purging = purgeExported(sweep, collection, [line, { ...line, collection: 'messages' }], ana)
    await expect(purging).rejects.toThrow('The export is of messages, not of archives')
    expect(await all(exportDocuments(sweep, { collection }))).toHaveLength(1)
  })

  it('groups know documents that ended in silence, and a collection that is not there', async () => {
    const { clock, source, sweep } = await sweepWorld()
    await source.put('archives', [{ id: 'a', attempts: 3, lastAttemptAt: clock.now() - 2 * DAY, createdAt: 0 }])
    await sweep.pass()
    expect(await sweepGroups(sweep)).toMatchObject([
      { failed: 1, waiting: 0, code: 'sweep.silent', lastAt: clock.now() - 2 * DAY, ids: ['a'] },
    ])
    await expect(sweepGroups(sweep, 'archivs')).rejects.toThrow('There is no collection "archivs". Allowed: archives.')
  })

  it('groups tell the same failure once, with advice', async () => {
    const { sweep } = await failedWorld(30)
    const groups = await sweepGroups(sweep)
    expect(groups).toHaveLength(2)
    expect(groups[0]).toMatchObject({
      collection: 'archives',
      failed: 29,
      code: 'unknown',
      message: 'file 1 is corrupt',
    })
    expect(groups[1]).toMatchObject({ failed: 1, code: 'network.refused' })
    expect(groups[1]?.advice).not.toBe('')
  })
})

describe('tools for failed queues', () => {
  it('list, export and purge by what was exported; the rest stays', async () => {
    const { sweep, bus, report } = await sweepWorld()
    await report('a')
    await report('b')
    expect(await queueDepths(sweep)).toContainEqual({ queue: 'parsing.failed', messages: 2 })
    const {
      lines: [first],
    } = await peekQueue(sweep, 'parsing.failed')
    expect((await peekQueue(sweep, 'parsing.failed', 1)).beyond).toBe(1)
    expect(await bus.depth('parsing.failed')).toBe(2)
    const named = [first!, { ...first!, id: 'another' }]
    expect(await purgeQueue(sweep, 'parsing.failed', named, { ...ana, dryRun: true })).toMatchObject({
      matched: 1,
      done: 0,
    })
    expect(await purgeQueue(sweep, 'parsing.failed', named, ana)).toMatchObject({ matched: 1, done: 1, left: 1 })
    expect(await bus.depth('parsing.failed')).toBe(1)
  })

  it('requeue makes the documents due and empties the queue of them', async () => {
    const { clock, source, sweep, bus, report, document } = await sweepWorld()
    await source.put('archives', [{ id: 'a', attempts: 3, lastAttemptAt: clock.now(), createdAt: 0 }])
    await report('a')
    await bus.send([{ id: 'bad', topic: 'parsing.failed', body: '{' }])
    expect(await requeueQueue(sweep, 'parsing.failed', ana)).toMatchObject({ matched: 1, done: 1, left: 1 })
    expect((await document('a')).marks.dueAt).toBe(clock.now())
    expect((await sweep.pass()).collections[0]).toMatchObject({ begun: 1, ended: 0 })
    await expect(requeueQueue(sweep, 'nobody', ana)).rejects.toThrow('Allowed: parsing.failed')
  })

  it('requeue leaves a message in its queue whose document is not there', async () => {
    const { sweep, bus, report } = await sweepWorld()
    await report('nobody')
    expect(await requeueQueue(sweep, 'parsing.failed', ana)).toMatchObject({ matched: 0, done: 0, left: 1 })
    expect(await bus.depth('parsing.failed')).toBe(1)
  })
})
