import { describe, expect, it } from 'vitest'
import { archives, MINUTE, sweepWorld } from './sweep.fixtures.ts'
import { createSweep } from './sweep.ts'

describe('dynamic backoff', () => {
  it.each([1, 3])(
    'is well again when probes succeed, in a world where all takes its time: after %d passes',
    async (slow) => {
      const world = await sweepWorld([{ ...archives, maxAttempts: 50 }])
      const { clock, bus, source, report } = world
      const [{ shape }] = world.sweep.collections as [(typeof world.sweep.collections)[0]]
      const change: typeof source.change = async (...given) => {
        await clock.advance(20)
        return source.change(...given)
      }
      const sweep = createSweep({
        source: { ...source, change },
        bus,
        clock,
        collections: [{ ...archives, maxAttempts: 50 }],
      })
      const pass = async () => {
        await clock.advance(15 * MINUTE)
        return (await sweep.pass()).collections[0]
      }
      const begun = async () => {
        const taken = await bus.take('parsing', 1_000)
        for (const each of taken) await each.ack()
        return taken.map(({ body }) => String(JSON.parse(body).data.archive_id))
      }
      const ids = Array.from({ length: 40 }, (_, index) => `a-${index}`)
      await source.put(
        'archives',
        ids.map((id) => ({ id, attempts: 1, lastAttemptAt: clock.now(), createdAt: 0 })),
      )
      for (const id of ids) await report(id)
      expect(await pass()).toMatchObject({ health: 'sick', begun: 3 })
      for (const id of await begun()) await report(id)
      expect(await pass()).toMatchObject({ health: 'sick', begun: 3 })
      const recalled = await source.recall('health/archives')
      expect(JSON.parse(recalled?.value ?? '')).toMatchObject({ stretch: 4 })
      const probes = await begun()
      for (let passes = 1; passes < slow; passes++) expect(await pass()).toMatchObject({ health: 'sick' })
      for (const id of probes) {
        const found = await source.get(shape, id)
        if (found) await source.change(shape, [{ expect: { id, key: found.key, rev: found.rev }, status: 'processed' }])
      }
      expect(await pass()).toMatchObject({ health: 'well' })
    },
  )

  it('sends only probes while the dependency is sick, stretches delays, and all again when a probe succeeds', async () => {
    const { clock, source, bus, sweep, report, document, events } = await sweepWorld()
    const shape = sweep.collections[0]!.shape
    const ids = Array.from({ length: 40 }, (_, index) => `a-${index}`)
    await source.put(
      'archives',
      ids.map((id) => ({ id, attempts: 1, lastAttemptAt: clock.now(), createdAt: 0 })),
    )
    for (const id of ids) await report(id)
    await sweep.pass()
    await clock.advance(5 * MINUTE)
    expect((await sweep.pass()).collections[0]).toMatchObject({ health: 'sick', begun: 3, deferred: 37 })
    const probes = bus.peek('parsing').map(({ body }) => String(JSON.parse(body).data.archive_id))
    for (const id of probes) await report(id)
    await clock.advance(MINUTE)
    expect((await sweep.pass()).collections[0]).toMatchObject({ health: 'sick', begun: 3 })
    expect((await document(probes[0] ?? '')).marks.dueAt).toBeGreaterThan(clock.now() + 15 * MINUTE)
    const second = bus.peek('parsing').slice(3)
    for (const { body } of second) {
      const read = await document(String(JSON.parse(body).data.archive_id))
      await source.change(shape, [{ expect: { id: read.id, key: read.key, rev: read.rev }, status: 'processed' }])
    }
    await clock.advance(MINUTE)
    expect((await sweep.pass()).collections[0]).toMatchObject({ health: 'well', begun: 34, deferred: 0 })
    expect(
      events.filter(({ name }) => name === 'sweep.dependency').map((event) => 'state' in event && event.state),
    ).toEqual(['sick', 'well'])
  })
})
