import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RepriseEvent } from '../run/event.ts'
import { memory } from '../stores/memory/index.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import { businessHours } from '../time/business-hours.ts'
import type { Sighting } from './breach.ts'
import { foldIncidents, type KeptNote } from './fold.ts'
import { createIncidents, isLate } from './incidents.ts'
import type { IncidentMessage } from './message.ts'
import { runbookOf, TRIGGERS } from './tiers.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** A Friday, 16:00 in Berlin. */
const FRIDAY = Date.parse('2026-11-20T15:00:00Z')

function world() {
  const clock = virtualClock({ startAt: FRIDAY })
  const store = memory({ clock })
  const events: RepriseEvent[] = []
  const messages: IncidentMessage[] = []
  let id = 0
  const make = () =>
    createIncidents({
      store,
      calendar: businessHours('Mon-Fri 09:00-17:00', { zone: 'Europe/Berlin' }),
      owners: { 'collection:archives': 'parsing', '4': 'Ada' },
      emit: (event) => events.push(event),
      deliver: async (message) => {
        if (!messages.some((each) => each.id === message.id)) messages.push(message)
      },
      ids: () => String(++id).padStart(6, '0'),
    })
  const incidents = make()
  const look = (...seen: Partial<Sighting>[]) => incidents.look(seen.map(sighting), { by: 'sweep' })
  return { clock, store, events, messages, incidents, make, look, names: () => events.map(({ name }) => name) }
}

const sighting = (seen: Partial<Sighting>): Sighting => ({
  subject: 'collection:archives',
  stuck: 0,
  oldestStuckMs: 0,
  exhausted: 0,
  failed: 0,
  isPartial: false,
  ...seen,
})

describe('what opens an incident', () => {
  test.each([
    ['50 stuck: none', { stuck: 50 }, []],
    ['51 stuck', { stuck: 51 }, [['stuck', 2]]],
    ['200 stuck: as 51', { stuck: 200 }, [['stuck', 2]]],
    [
      '201 stuck: one more, of the service’s team',
      { stuck: 201 },
      [
        ['stuck', 2],
        ['stuckMany', 3],
      ],
    ],
    [
      '1,000 stuck: as 201',
      { stuck: 1_000 },
      [
        ['stuck', 2],
        ['stuckMany', 3],
      ],
    ],
    [
      '1,001 stuck: the engineering lead too',
      { stuck: 1_001 },
      [
        ['stuck', 2],
        ['stuckMany', 3],
        ['stuckThousand', 4],
      ],
    ],
    ['one out of attempts', { exhausted: 1 }, [['exhausted', 3]]],
    ['1,000 failed: none', { failed: 1_000 }, []],
    ['1,001 failed', { failed: 1_001 }, [['failed', 4]]],
    ['stuck for a day: none yet', { stuck: 1, oldestStuckMs: DAY }, []],
    ['stuck for longer than a day', { stuck: 1, oldestStuckMs: DAY + 1 }, [['day', 2]]],
    ['stuck for a week: no more than that yet', { stuck: 1, oldestStuckMs: 7 * DAY }, [['day', 2]]],
    [
      'stuck for longer than a week',
      { stuck: 1, oldestStuckMs: 7 * DAY + 1 },
      [
        ['day', 2],
        ['week', 4],
      ],
    ],
    [
      'all at once',
      { stuck: 2_000, exhausted: 2, failed: 2_000, oldestStuckMs: 9 * DAY },
      TRIGGERS.map((each, index) => [each, [2, 3, 4, 3, 4, 2, 4][index]]),
    ],
  ])('%s', async (_name, seen, expected) => {
    const { look } = world()
    const { opened } = await look(seen)
    expect(opened.map(({ trigger, tier }) => [trigger, tier])).toEqual(expected)
  })

  test('owner and limits are those of its tier, business hours in the zone', async () => {
    const { look } = world()
    const { opened } = await look({ stuck: 60, failed: 2_000 })
    expect(opened).toMatchObject([
      { tier: 2, owner: 'parsing', respondBy: Date.parse('2026-11-23T11:00:00Z') },
      { tier: 4, owner: 'parsing', respondBy: FRIDAY + 5 * 60_000, resolveBy: FRIDAY + DAY },
    ])
    expect((await world().look({ subject: 'collection:threads', failed: 2_000 })).opened[0]?.owner).toBe('Ada')
  })

  test('the same breach again is the same incident, and its growth is noted', async () => {
    const { look, incidents, store } = world()
    await look({ stuck: 60 })
    for (const stuck of [70, 119, 120, 130, 199]) expect((await look({ stuck })).opened).toEqual([])
    const { incidents: open } = await incidents.list()
    expect(open).toMatchObject([{ value: 60, worst: 120 }])
    expect(await store.notes({})).toHaveLength(2)
  })

  test('two who see it at once open one, and one of them tells', async () => {
    const { make, names, incidents } = world()
    const [a, b] = [make(), make()]
    const seen = [sighting({ stuck: 60 })]
    const looked = await Promise.all([a.look(seen, { by: 'one' }), b.look(seen, { by: 'two' })])
    expect(looked.flatMap(({ opened }) => opened)).toHaveLength(1)
    expect(names()).toEqual(['incident.opened'])
    expect((await incidents.list()).incidents).toHaveLength(1)
  })
})

describe('a breach that grows past the next threshold', () => {
  test('is an incident of its own, whose limits begin then; each ends as its tier says', async () => {
    const { look, incidents, clock } = world()
    await look({ stuck: 60 })
    await clock.advance(3 * HOUR)
    const { opened } = await look({ stuck: 1_204 })
    expect(opened).toMatchObject([
      { trigger: 'stuckMany', tier: 3, owner: 'parsing', value: 1_204, respondBy: FRIDAY + 4 * HOUR },
      { trigger: 'stuckThousand', tier: 4, respondBy: FRIDAY + 3 * HOUR + 5 * 60_000 },
    ])
    expect((await look({ stuck: 1_300 })).opened).toEqual([])
    expect((await look({})).resolved.map(({ trigger }) => trigger)).toEqual(['stuck'])
    expect((await incidents.list()).incidents.map(({ trigger }) => trigger)).toEqual(['stuckThousand', 'stuckMany'])
  })

  test('every trigger has a runbook, for documents and for runs', () => {
    const page = readFileSync(new URL('../../docs/operating/runbooks.md', import.meta.url), 'utf8')
    const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, title]) => title?.toLowerCase())
    for (const trigger of TRIGGERS)
      for (const subject of ['collection:archives', 'task:read'])
        expect(headings, trigger).toContain(runbookOf({ trigger, subject }).split('#')[1])
  })
})

describe('what ends one', () => {
  test('tier 2 by itself, when it was seen whole and well', async () => {
    const { look, incidents, names } = world()
    await look({ stuck: 60 })
    await look({ stuck: 0, isPartial: true })
    await look({ subject: 'collection:threads' })
    expect((await incidents.list()).incidents).toHaveLength(1)
    const { resolved } = await look({ stuck: 10 })
    expect(resolved).toMatchObject([{ state: 'resolved', resolvedBy: 'sweep', note: 'The breach is over.' }])
    expect(names()).toEqual(['incident.opened', 'incident.resolved'])
  })

  test('of a task without runs, when the whole store was looked at', async () => {
    const { incidents } = world()
    await incidents.look([sighting({ subject: 'task:a', stuck: 60 })], { by: 'work', whole: 'task:' })
    await incidents.look([], { by: 'work' })
    expect((await incidents.list()).incidents).toHaveLength(1)
    await incidents.look([], { by: 'work', whole: 'task:' })
    expect((await incidents.list()).incidents).toEqual([])
  })

  test('tiers 3 and 4 only by a person, with a note', async () => {
    const { look, incidents } = world()
    const { opened } = await look({ exhausted: 3, failed: 2_000 })
    expect((await look({})).resolved).toEqual([])
    const [id = ''] = opened.map((each) => each.id)
    await expect(incidents.resolve(id, 'ana', ' ')).rejects.toThrow('note has 0 characters')
    expect(await incidents.resolve(id, 'ana', 'Bad mailbox files; purged.')).toMatchObject({ answer: 'ok' })
    expect(await incidents.resolve(id, 'ben', 'again')).toMatchObject({
      answer: 'unchanged',
      incident: { resolvedBy: 'ana', note: 'Bad mailbox files; purged.' },
    })
    expect((await look({ exhausted: 1 })).opened).toHaveLength(1)
  })
})

describe('people', () => {
  test('acknowledge once, log, and are told when they are late', async () => {
    const { look, incidents, clock, names, events } = world()
    const { opened } = await look({ failed: 2_000 })
    const id = opened[0]?.id ?? ''
    await clock.advance(6 * 60_000)
    expect((await look({ failed: 2_000 })).overdue).toHaveLength(1)
    expect((await look({ failed: 2_000 })).overdue).toEqual([])
    expect(await incidents.acknowledge(id, 'ana')).toMatchObject({ answer: 'ok', incident: { state: 'acknowledged' } })
    expect(await incidents.acknowledge(id, 'ben')).toMatchObject({
      answer: 'unchanged',
      incident: { acknowledgedBy: 'ana' },
    })
    await incidents.log(id, 'ana', 'The parser of last week')
    await clock.advance(DAY)
    const { overdue } = await look({ failed: 2_000 })
    expect(overdue).toHaveLength(1)
    expect(events.at(-1)).toMatchObject({ name: 'incident.overdue', of: 'resolution', owner: 'parsing' })
    expect(names()).toEqual(['incident.opened', 'incident.overdue', 'incident.acknowledged', 'incident.overdue'])
    const found = await incidents.show(id.slice(0, 5))
    expect(found.log).toEqual([{ at: FRIDAY + 6 * 60_000, by: 'ana', text: 'The parser of last week' }])
    expect(isLate(found, clock.now())).toBe(true)
  })

  test('an id that is none is told', async () => {
    const { incidents, look } = world()
    await look({ stuck: 60, failed: 2_000 })
    await expect(incidents.show('nope')).rejects.toThrow('There is no incident "nope".')
    await expect(incidents.acknowledge('i-00', 'ana')).rejects.toThrow(
      'is the beginning of 2 incidents: i-000001, i-000002',
    )
  })
})

test('messages have one id each, whoever hands them on and how often', async () => {
  const { look, incidents, messages, clock, make } = world()
  const { opened } = await look({ exhausted: 1 })
  const id = opened[0]?.id ?? ''
  await clock.advance(2 * HOUR)
  await make().look([], { by: 'other' })
  await incidents.acknowledge(id, 'ana')
  await incidents.resolve(id, 'ana', 'Done.')
  await look({})
  expect(messages.map((message) => message.id)).toEqual(
    ['opened', 'late-response', 'acknowledged', 'resolved'].map((word) => `${id}/${word}`),
  )
  expect(messages[0]).toMatchObject({
    type: 'incident.opened',
    incident: {
      says: '1 document of archives ran out of attempts.',
      runbook: 'docs/operating/runbooks.md#maxretriesexceededcritical',
    },
  })
})

describe('any notes fold to something true', () => {
  const ids = fc.constantFrom('i-1', 'i-2', 'i-3')
  const notes = fc.array(
    fc.record({
      what: fc.constantFrom('opened', 'acknowledged', 'resolved', 'overdue', 'grew', 'logged', 'unknown'),
      id: ids,
      trigger: fc.constantFrom(...TRIGGERS),
      subject: fc.constantFrom('task:a', 'task:b'),
      by: fc.constantFrom('ana', 'ben'),
    }),
    { maxLength: 30 },
  )
  const kept = (
    list: readonly { what: string; id: string; trigger: string; subject: string; by: string }[],
  ): KeptNote[] =>
    list.map(({ what, by, ...data }, at) => ({
      at,
      by,
      what: `incident.${what}`,
      data: { ...data, tier: 3, value: 1, above: 0, owner: 'x', text: 't', of: 'response' },
    }))

  test('one open incident for a breach, resolved stays resolved, and more notes never take one away', () => {
    fc.assert(
      fc.property(notes, notes, (first, more) => {
        const before = foldIncidents(kept(first))
        const after = foldIncidents(kept([...first, ...more]))
        const open = after
          .filter(({ state }) => state !== 'resolved')
          .map(({ trigger, subject }) => `${trigger}/${subject}`)
        expect(new Set(open).size).toBe(open.length)
        for (const { id, state, resolvedAt } of before) {
          const later = after.find((each) => each.id === id)
          expect(later).toBeDefined()
          if (state === 'resolved') expect(later).toMatchObject({ state, resolvedAt })
        }
      }),
    )
  })
})
