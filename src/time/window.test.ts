import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { windowOf } from './window.ts'
import { clockTime, localTime, zoneName } from './zone.ts'

const at = (iso: string) => Date.parse(iso)
const HOUR = 3_600_000

describe('windowOf', () => {
  it('gives days and months in UTC', () => {
    expect(windowOf('day', at('2026-11-15T13:00:00Z'))).toEqual({
      key: '2026-11-15',
      startsAt: at('2026-11-15T00:00:00Z'),
      endsAt: at('2026-11-16T00:00:00Z'),
    })
    expect(windowOf('month', at('2026-12-31T23:59:59.999Z'))).toEqual({
      key: '2026-12',
      startsAt: at('2026-12-01T00:00:00Z'),
      endsAt: at('2027-01-01T00:00:00Z'),
    })
  })

  it('has days of 23 and 25 hours where clocks change', () => {
    const spring = windowOf('day', at('2026-03-29T12:00:00Z'), 'Europe/Berlin')
    expect([spring.key, spring.startsAt, (spring.endsAt - spring.startsAt) / HOUR]).toEqual([
      '2026-03-29',
      at('2026-03-28T23:00:00Z'),
      23,
    ])
    const autumn = windowOf('day', at('2026-10-25T12:00:00Z'), 'Europe/Berlin')
    expect((autumn.endsAt - autumn.startsAt) / HOUR).toBe(25)
  })

  it('starts a day late where midnight is skipped', () => {
    // Cairo goes from 23:59:59 to 01:00:00 on the last Friday of April.
    const day = windowOf('day', at('2026-04-24T10:00:00Z'), 'Africa/Cairo')
    expect([day.key, day.startsAt]).toEqual(['2026-04-24', at('2026-04-23T22:00:00Z')])
    expect(localTime(day.startsAt, 'Africa/Cairo').hour).toBe(1)
  })

  it('skips the day that Samoa left out', () => {
    const before = windowOf('day', at('2011-12-29T12:00:00Z') + 21 * HOUR, 'Pacific/Apia')
    expect(before.key).toBe('2011-12-29')
    expect(windowOf('day', before.endsAt, 'Pacific/Apia').key).toBe('2011-12-31')
  })

  it('keeps one window where the clock is set back across midnight', () => {
    // St. John's changed at 00:01 until 2011: for 59 minutes the old date showed again.
    const change = at('2010-11-07T02:31:00Z')
    expect(localTime(change - 30_000, 'America/St_Johns').day).toBe(7)
    expect(localTime(change + 1_000, 'America/St_Johns').day).toBe(6)
    expect(windowOf('day', change - 30_000, 'America/St_Johns')).toEqual(
      windowOf('day', change + 1_000, 'America/St_Johns'),
    )
  })

  it('touches its neighbours without gap or overlap, everywhere', () => {
    const zones = [
      'UTC',
      'Europe/Berlin',
      'America/St_Johns',
      'Africa/Cairo',
      'Pacific/Apia',
      'Asia/Kathmandu',
      'Pacific/Kiritimati',
      'America/Havana',
    ]
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.constantFrom('day' as const, 'month' as const),
        fc.integer({ min: at('1990-01-01T00:00:00Z'), max: at('2037-01-01T00:00:00Z') }),
        (zone, unit, now) => {
          const window = windowOf(unit, now, zone)
          expect(window.startsAt <= now && now < window.endsAt).toBe(true)
          const next = windowOf(unit, window.endsAt, zone)
          expect(next.startsAt).toBe(window.endsAt)
          expect(next.key > window.key).toBe(true)
          expect(windowOf(unit, window.startsAt, zone)).toEqual(window)
          expect(windowOf(unit, window.endsAt - 1, zone)).toEqual(window)
        },
      ),
      { numRuns: 150 },
    )
  })

  it('refuses what is no zone, no unit and no instant', () => {
    expect(() => windowOf('day', 0, 'Europe/Bern1')).toThrow(
      'zone: "Europe/Bern1" is not a time zone; allowed are IANA names',
    )
    expect(() => windowOf('week' as 'day', 0)).toThrow('unit: "week" is not a window; allowed are "day" and "month"')
    expect(() => windowOf('day', Number.NaN)).toThrow('at: NaN is not an instant')
  })
})

describe('clockTime', () => {
  const now = at('2026-11-15T13:00:00Z')
  it('leaves out what is known', () => {
    expect(clockTime(at('2026-11-15T14:02:10Z'), 'UTC', now)).toBe('14:02:10')
    expect(clockTime(at('2026-11-15T14:02:10Z'), 'Europe/Berlin', now)).toBe('15:02:10')
    expect(clockTime(at('2026-11-16T00:00:00Z'), 'UTC', now)).toBe('00:00 on 16 Nov')
    expect(clockTime(at('2027-01-01T00:00:00Z'), 'UTC', now)).toBe('00:00 on 1 Jan 2027')
    expect(clockTime(at('2026-11-15T14:02:10Z'), 'UTC')).toBe('14:02:10 on 15 Nov 2026')
    expect(clockTime(Number.NaN, 'UTC')).toBe('no known time')
    expect(zoneName('America/Sao_Paulo')).toBe('Sao Paulo')
  })
})
