/**
 * Calendar windows in a named zone: which day or month an instant belongs to, and when it begins and ends.
 * Windows touch each other without gap or overlap, also where clocks are set forward or back at midnight.
 */
import { instantOf, localTime } from './zone.ts'

export type WindowUnit = 'day' | 'month'

export interface CalendarWindow {
  /** `2026-11-15` for a day, `2026-11` for a month. */
  readonly key: string
  readonly startsAt: number
  /** The first instant that no longer belongs to it. */
  readonly endsAt: number
}

const cache = new Map<string, CalendarWindow>()

/** Zones are named by operators, so there are few; the bound is for the day when they are not. */
const CACHE_MAX = 1_000

export function windowOf(unit: WindowUnit, at: number, zone = 'UTC'): CalendarWindow {
  if (unit !== 'day' && unit !== 'month') {
    throw new RangeError(`unit: ${JSON.stringify(unit)} is not a window; allowed are "day" and "month"`)
  }
  if (!Number.isFinite(at) || Math.abs(at) > 8.6e15) {
    throw new RangeError(`at: ${at} is not an instant; allowed are epoch milliseconds`)
  }
  const cacheKey = `${unit} ${zone}`
  const cached = cache.get(cacheKey)
  if (cached && at >= cached.startsAt && at < cached.endsAt) return cached
  const found = find(unit, at, zone)
  if (cache.size >= CACHE_MAX) cache.clear()
  cache.set(cacheKey, found)
  return found
}

function find(unit: WindowUnit, at: number, zone: string): CalendarWindow {
  const { year, month, day } = localTime(at, zone)
  const step = (by: number): Date =>
    unit === 'day' ? new Date(utc(year, month, day + by)) : new Date(utc(year, month + by, 1))
  // Where the clock is set back across midnight, the old date shows again after the new one. A window starts once, so
  // the instants between may belong to the neighbour of the window that their date names.
  for (const by of [0, 1, -1]) {
    const first = step(by)
    const startsAt = instantOf(first.getTime(), zone)
    const endsAt = instantOf(step(by + 1).getTime(), zone)
    if (at >= startsAt && at < endsAt) return Object.freeze({ key: keyOf(unit, first), startsAt, endsAt })
  }
  throw new Error(`no ${unit} in ${zone} holds ${at}; the zone's data contradicts itself`)
}

/** `Date.UTC` that takes years before 100 as they are. */
function utc(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month - 1, day)
}

function keyOf(unit: WindowUnit, date: Date): string {
  return date.toISOString().slice(0, unit === 'day' ? -14 : -17)
}
