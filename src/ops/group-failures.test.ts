import { describe, expect, test } from 'vitest'
import { toPerson } from '../engine/throwables.ts'
import { failure } from '../failure/own.ts'
import { bench } from './bench.fixtures.ts'
import { parseFilter } from './filter.ts'
import { groupFailures } from './group-failures.ts'

async function populated() {
  const world = bench()
  const { reprise, clock } = world
  const read = reprise.task('invoice.read', {}, (input) => {
    const { tenant, person } = input as { tenant?: number; person?: string }
    if (person === 'asked') throw toPerson('asked for')
    if (tenant === undefined) return 'right'
    throw failure({ kind: 'final', code: 'tenant.closed', message: `tenant ${tenant} is closed`, advice: 'Open it.' })
  })
  const other = reprise.task('other', {}, () => {
    throw failure({ kind: 'final', code: 'tenant.closed', message: 'tenant 1 is closed', advice: 'Open it.' })
  })
  for (let tenant = 1; tenant <= 7; tenant += 1) await reprise.submit(read, { tenant })
  await reprise.submit(read, {})
  await world.work()
  await clock.advance(60_000)
  await reprise.submit(read, { tenant: 8 })
  await reprise.submit(other, {})
  await world.work()
  const grouped = (text = '') => groupFailures(world.store, parseFilter(text, world.filterOptions()))
  return { ...world, read, grouped }
}

describe('groups of failed runs', () => {
  test('by task and fingerprint, largest first: ids and numbers in messages tell nothing apart', async () => {
    const { grouped, clock } = await populated()
    const { groups, now, partial } = await grouped()
    expect([now, partial]).toEqual([clock.now(), false])
    expect(groups).toMatchObject([
      {
        task: 'invoice.read',
        kind: 'final',
        code: 'tenant.closed',
        message: 'tenant 8 is closed',
        failed: 8,
        review: 0,
        ids: ['r9', 'r7', 'r6', 'r5', 'r4'],
      },
      { task: 'other', failed: 1, ids: ['r10'] },
    ])
    expect(groups[0]?.fingerprint).toBe(groups[1]?.fingerprint)
    expect((groups[0]?.lastAt ?? 0) - (groups[0]?.firstAt ?? 0)).toBe(60_000)
  })

  test('with a filter: of one task, since a time, of one state', async () => {
    const { grouped } = await populated()
    const sizes = async (text: string) => (await grouped(text)).groups.map(({ task, failed }) => `${task} ${failed}`)
    expect(await sizes('task:other')).toEqual(['other 1'])
    expect(await sizes('since:30s')).toEqual(['other 1', 'invoice.read 1'])
    expect(await sizes('state:review')).toEqual([])
    expect(await sizes('"tenant 3"')).toEqual(['invoice.read 1'])
    await expect(grouped('state:waiting')).rejects.toThrow(
      '"state:waiting" is not of groups. Allowed: state:failed, state:review, or none for both.',
    )
  })

  test('those with a person count too, and those that were only asked for do not', async () => {
    const { grouped, store, reprise, read, work } = await populated()
    const asked = await reprise.submit(read, { person: 'asked' })
    const desk = { type: 'person', name: 'desk', queue: 'desk', withinMs: 3_600_000 } as const
    const flash = { type: 'model', name: 'flash', attempts: 1 } as const
    const ask = reprise.task('ask', { policy: { name: 'asked', ladder: [flash, desk] } }, () => {
      throw failure({ kind: 'refused', code: 'app.refused', message: 'refused 7', advice: 'Ask.' })
    })
    const refused = await reprise.submit(ask, {})
    await work('idle')
    for (const { id } of [asked, refused]) expect((await store.get({ id }))?.state).toBe('review')
    const { groups } = await grouped('state:review')
    expect(groups).toMatchObject([{ code: 'app.refused', failed: 0, review: 1, ids: [refused.id] }])
    expect((await grouped()).groups).toHaveLength(3)
  })
})
