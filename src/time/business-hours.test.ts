import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { afterBusinessTime, businessHours, businessTimeBetween } from './business-hours.ts'

const HOUR = 3_600_000
const at = (text: string) => Date.parse(text)
const iso = (instant: number) => new Date(instant).toISOString()

const berlin = businessHours('Mon-Fri 09:00-17:00', { zone: 'Europe/Berlin', holidays: ['2026-12-25'] })

describe('four business hours', () => {
  test.each([
    ['in the morning: the same day', '2026-11-16T09:00:00Z', '2026-11-16T13:00:00.000Z'],
    ['in the afternoon: over the night', '2026-11-16T14:00:00Z', '2026-11-17T10:00:00.000Z'],
    ['before opening: from nine', '2026-11-16T03:00:00Z', '2026-11-16T12:00:00.000Z'],
    ['at closing time: from the next day’s nine', '2026-11-16T16:00:00Z', '2026-11-17T12:00:00.000Z'],
    ['on Friday at four: Monday', '2026-11-20T15:00:00Z', '2026-11-23T11:00:00.000Z'],
    ['on Sunday: Monday', '2026-11-22T12:00:00Z', '2026-11-23T12:00:00.000Z'],
    ['over a holiday and a weekend', '2026-12-24T15:00:00Z', '2026-12-28T11:00:00.000Z'],
    ['over the weekend on which clocks are set back', '2026-10-23T14:00:00Z', '2026-10-26T11:00:00.000Z'],
    ['over the weekend on which they are set forward', '2026-03-27T15:00:00Z', '2026-03-30T10:00:00.000Z'],
  ])('%s', (_name, from, until) => {
    expect(iso(afterBusinessTime(at(from), 4 * HOUR, berlin))).toBe(until)
    expect(businessTimeBetween(at(from), at(until), berlin)).toBe(4 * HOUR)
  })

  test('exactly what is left of a day ends at closing time', () => {
    expect(iso(afterBusinessTime(at('2026-11-16T12:00:00Z'), 4 * HOUR, berlin))).toBe('2026-11-16T16:00:00.000Z')
  })

  test('none: now, or when business opens', () => {
    expect(iso(afterBusinessTime(at('2026-11-16T12:00:00Z'), 0, berlin))).toBe('2026-11-16T12:00:00.000Z')
    expect(iso(afterBusinessTime(at('2026-11-16T16:00:00Z'), 0, berlin))).toBe('2026-11-17T08:00:00.000Z')
  })
})

describe('hours', () => {
  test.each([
    ['Mon-Fri 09:00-17:00', ['Mon', 'Tue', 'Wed', 'Thu', 'Fri']],
    ['Sat-Mon 00:00-24:00', ['Sun', 'Mon', 'Sat']],
    ['Mon,Wed 08:30-12:15', ['Mon', 'Wed']],
    ['Tue 08:30-12:15', ['Tue']],
  ])('%s', (text, days) => expect(businessHours(text).days).toEqual(days))

  test.each(['', '9-17', 'Mon-Fry 09:00-17:00', 'Mon-Fri 17:00-09:00', 'Mon-Fri 09:00-25:00', 'Mon-Fri 09:70-17:00'])(
    '%j is refused',
    (text) => expect(() => businessHours(text)).toThrow(/^hours: .* is not allowed; allowed are days/),
  )

  test('a zone or a holiday that is none is refused by name', () => {
    expect(() => businessHours(undefined, { zone: 'Mars/Olympus' })).toThrow('zone: "Mars/Olympus" is not a time zone')
    expect(() => businessHours(undefined, { holidays: ['2026-02-30'] })).toThrow('holidays: "2026-02-30" is not a date')
  })

  test('a calendar without a working day is told, not searched for ever', () => {
    const never = { ...berlin, days: [] }
    expect(() => afterBusinessTime(0, 1, never)).toThrow('are all days holidays?')
  })
})

describe('for any zone, hours and instant', () => {
  const zones = [
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'America/Sao_Paulo',
    'Asia/Kathmandu',
    'Australia/Lord_Howe',
  ]
  const calendars = fc
    .record({
      zone: fc.constantFrom(...zones, 'Africa/Cairo', 'Pacific/Apia'),
      first: fc.integer({ min: 0, max: 6 }),
      length: fc.integer({ min: 0, max: 6 }),
      opens: fc.integer({ min: 0, max: 1_260 }),
      minutes: fc.integer({ min: 180, max: 1_440 }),
    })
    .map(({ zone, first, length, opens, minutes }) => {
      const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
      const clock = (minute: number) =>
        `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
      const closes = clock(Math.min(1_440, opens + minutes))
      return businessHours(`${days[first]}-${days[(first + length) % 7]} ${clock(opens)}-${closes}`, { zone })
    })
  const instants = fc.integer({ min: at('2009-01-01T00:00:00Z'), max: at('2031-01-01T00:00:00Z') })
  const spans = fc.integer({ min: 0, max: 20 * HOUR })

  test('what was added is what lies between', () => {
    fc.assert(
      fc.property(calendars, instants, spans, (hours, from, ms) => {
        expect(businessTimeBetween(from, afterBusinessTime(from, ms, hours), hours)).toBe(ms)
      }),
      { numRuns: 150 },
    )
  })

  test('a later start never ends earlier, and more never ends sooner', () => {
    fc.assert(
      fc.property(calendars, instants, spans, spans, (hours, from, more, ms) => {
        const until = afterBusinessTime(from, ms, hours)
        expect(afterBusinessTime(from + more, ms, hours)).toBeGreaterThanOrEqual(until)
        expect(afterBusinessTime(from, ms + more, hours)).toBeGreaterThanOrEqual(until)
        expect(until).toBeGreaterThanOrEqual(from)
      }),
      { numRuns: 150 },
    )
  })

  test('a week of a zone that changes its clocks at night has forty hours', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000 }), (week) => {
        const monday = at('2009-01-05T12:00:00Z') + week * 7 * 24 * HOUR
        const plain = businessHours(undefined, { zone: 'Europe/Berlin' })
        expect(businessTimeBetween(monday, monday + 7 * 24 * HOUR, plain)).toBeGreaterThanOrEqual(39 * HOUR)
        const sunday = monday - 36 * HOUR
        expect(businessTimeBetween(sunday, sunday + 6 * 24 * HOUR, plain)).toBe(40 * HOUR)
      }),
      { numRuns: 60 },
    )
  })
})
