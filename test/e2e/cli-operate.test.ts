/**
 * The commands that steer a store, in process: what they change, what they leave alone, and how they tell it.
 */
import { describe, expect, test } from 'vitest'
import { liveInDurableWorld, reprise, store, world } from './durable-commands.fixtures.ts'

liveInDurableWorld()

describe('retry and cancel', () => {
  test('a filter only looks until --yes is added', async () => {
    await reprise(['retry', '--where', 'state:failed'])
    expect(await store.get({ id: 'r3' })).toMatchObject({ state: 'failed', generation: 1 })
    await reprise(['retry', '--where', 'state:failed', '--yes'])
    expect(await store.get({ id: 'r3' })).toMatchObject({
      state: 'ready',
      generation: 2,
      why: { params: { by: 'ann' } },
    })
    expect(await store.notes({ limit: 1 })).toMatchObject([{ by: 'ann', what: 'retry.many', data: { done: 1 } }])
  })

  test('named runs are done at once, unless --dry-run; by whom can be told', async () => {
    await reprise(['cancel', 'bob', '--dry-run'])
    expect(await store.get({ id: 'r2' })).toMatchObject({ state: 'waiting' })
    await reprise(['cancel', 'bob', 'greet/eve', '--by', 'night shift'])
    expect(await store.get({ id: 'r2' })).toMatchObject({ state: 'cancelled', why: { params: { by: 'night shift' } } })
    expect(await store.get({ id: 'r7' })).toMatchObject({ state: 'cancelled' })
  })

  test('a slip in the last name leaves the first one untouched', async () => {
    const { exit, err } = await reprise(['cancel', 'r2', 'r999'])
    expect(exit).toBe(1)
    expect(err).toContain('No run r999.')
    expect(await store.get({ id: 'r2' })).toMatchObject({ state: 'waiting' })
  })

  test.each([
    [['retry'], 'There is nothing to retry'],
    [['cancel', 'r2', '--where', 'state:failed'], 'Either runs or --where'],
    [['cancel', 'r2', '--yes', '--dry-run'], 'Either --yes or --dry-run'],
    [['retry', '--where', 'stat:failed'], '"stat:failed" is not understood'],
    [['cancel', 'r2', '--by', ''], '--by is empty'],
  ])('%s is asked wrongly', async (words, message) => {
    const { exit, err } = await reprise(words)
    expect(exit).toBe(2)
    expect(err).toContain(message)
  })
})

describe('groups', () => {
  test('failed runs and those with a person, by what is wrong, as data', async () => {
    const { objects, exit } = await reprise(['groups', '--json'])
    expect(exit).toBe(0)
    const groups = objects()
    expect(groups.length).toBeGreaterThan(0)
    const { runs } = await store.find({ states: ['failed', 'review'], limit: 100 })
    const counted = groups.reduce((sum, group) => sum + Number(group['failed']) + Number(group['review']), 0)
    expect(counted).toBe(runs.filter((run) => run.failure).length)
    for (const group of groups) expect(group).toMatchObject({ task: expect.any(String), now: world.clock.now() })
  })

  test.each([
    [['groups', 'state:waiting'], '"state:waiting" is not of groups'],
    [['groups', '--source', 'elsewhere'], '--source is not known'],
    [['groups', '--source', 'runs', '--collection', 'archives'], '--collection is of the sweep'],
    [['groups', '--source', 'sweep', 'task:greet'], 'A query is for runs'],
  ])('%s is asked wrongly', async (words, message) => {
    const { exit, err } = await reprise(words)
    expect(exit).toBe(2)
    expect(err).toContain(message)
  })
})

describe('reprioritise and reschedule', () => {
  test('another priority, with its history and its note', async () => {
    const { objects } = await reprise(['reprioritise', 'r7', '--to', '-5', '--json'])
    expect(objects()).toMatchObject([{ verb: 'reprioritise', dryRun: false, done: 1, skipped: [] }])
    expect(await store.get({ id: 'r7' })).toMatchObject({ state: 'ready', priority: -5 })
    expect((await store.attempts('r7')).at(-1)).toMatchObject({ outcome: 'operator', worker: 'ann' })
    expect((await reprise(['show', 'r7'])).out).toContain('Priority 5 → -5 by ann')
    expect(await store.verify()).toEqual([])
  })

  test('another time, from now or an instant, and the story tells it', async () => {
    const at = world.clock.now() + 7_200_000
    await reprise(['reschedule', 'r5', 'r7', '--at', String(at)])
    for (const id of ['r5', 'r7']) expect(await store.get({ id })).toMatchObject({ state: 'waiting', dueAt: at })
    expect((await reprise(['show', 'r7'])).out).toContain('Rescheduled by ann')
    await reprise(['reschedule', 'r5', '--in', '0s'])
    expect((await store.get({ id: 'r5' }))?.state).toBe('ready')
    expect((await reprise(['verify', '--decisions'])).exit).toBe(0)
  })

  test('a filter only looks until it is told', async () => {
    const { objects } = await reprise(['reschedule', '--where', 'state:waiting', '--in', '1h', '--json'])
    expect(objects()).toMatchObject([{ dryRun: true, eligible: 3, done: 0 }])
    expect(await store.notes({})).toEqual([])
  })

  test('a run in a worker’s hands is left alone', async () => {
    await store.claim({ worker: 'w', nonce: 'n', limit: 9, leaseMs: 60_000, alone: false, tasks: ['greet'] })
    const { exit, out } = await reprise(['reprioritise', 'r7', '--to', '1'])
    expect([exit, out]).toEqual([1, expect.stringContaining('r7 is left as it is: it is running.')])
  })

  test.each([
    [['reprioritise', 'r7'], 'Which priority?'],
    [['reprioritise', 'r7', '--to', '5000'], '--to 5000 is not allowed'],
    [['reschedule', 'r7'], 'When? Give either --at or --in.'],
    [['reschedule', 'r7', '--in', '1h', '--at', '1'], 'When? Give either --at or --in.'],
    [['reschedule', 'r7', '--in', 'soon'], '--in soon is not a duration'],
  ])('%j is asked wrongly', async (words, message) => {
    const { exit, err } = await reprise(words)
    expect([exit, err]).toEqual([2, expect.stringContaining(message)])
  })
})

describe('holds', () => {
  test('are listed, set and released, and a run says that it is held for everyone', async () => {
    expect((await reprise(['holds'])).err + (await reprise(['holds'])).out).toContain(
      'No hold. Nobody is told to wait.',
    )
    const set = await reprise(['holds', 'set', 'task:greet', '--for', '1h', '--why', 'new prompt'])
    expect(set.exit).toBe(0)
    const [listed] = (await store.holds()).holds
    expect(listed).toMatchObject({ what: 'task:greet', by: 'ann', why: 'new prompt', phase: 'held', waiting: 1 })
    const list = (await reprise(['holds'])).out
    expect(list).toMatch(/task:greet .*ann .*new prompt/)
    expect((await reprise(['show', 'r7'])).out.replace(/\s+/g, ' ')).toContain('Held for everyone.')
    expect((await reprise(['holds', 'release', 'task:greet'])).exit).toBe(0)
    expect((await store.holds()).holds).toEqual([])
    expect((await reprise(['holds', 'release', 'task:greet'])).exit).toBe(1)
    expect((await store.notes({})).slice(-2).map(({ by, what }) => `${by} ${what}`)).toEqual([
      'ann hold.set',
      'ann hold.released',
    ])
  })

  test.each([
    [['holds', 'stop'], 'not a verb of holds'],
    [['holds', 'set'], 'nothing to set'],
    [['holds', '--for', '1h'], '--for belongs to set'],
    [['holds', 'release', 'task:greet', '--why', 'x'], '--why belongs to set'],
    [['holds', 'set', 'task:greet'], 'needs a reason'],
    [['holds', 'set', 'flash', '--why', 'x'], 'cannot be held'],
    [['holds', 'set', 'task:greet', '--why', 'x', '--for', 'soon'], '--for'],
  ])('%j is refused and says what is allowed', async (words, says) => {
    const { exit, err } = await reprise(words)
    expect(exit).toBe(2)
    expect(err).toContain(says)
    expect((await store.holds()).holds).toEqual([])
  })
})
