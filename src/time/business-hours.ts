/**
 * Business hours in a named zone: when so much working time will have passed, and how much has.
 * Open and closed are by the clock on the wall, also where clocks are changed; time itself is counted as it passes.
 */
import { assertZone, instantOf, localTime } from './zone.ts'

export const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const

export type Weekday = (typeof WEEKDAYS)[number]

export interface BusinessHours {
  /** IANA name. */
  readonly zone: string
  readonly days: readonly Weekday[]
  /** Minutes after local midnight; at least one minute apart. */
  readonly opensMinute: number
  readonly closesMinute: number
  /** Local dates on which nobody works: `2026-12-25`. */
  readonly holidays: readonly string[]
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const DAY_MINUTES = 1_440

/** A calendar that is closed for longer than this is a mistake, and no loop goes on for ever because of it. */
const DAYS_MAX = 3_660

export const DEFAULT_HOURS = 'Mon-Fri 09:00-17:00'

const HOURS = /^([A-Z][a-z]{2})(?:-([A-Z][a-z]{2}))?((?:,[A-Z][a-z]{2})*) (\d{2}):(\d{2})-(\d{2}):(\d{2})$/
const DATE = /^\d{4}-\d{2}-\d{2}$/

/** Reads `Mon-Fri 09:00-17:00`. Throws a RangeError that names what is wrong. */
export function businessHours(
  text: string = DEFAULT_HOURS,
  { zone = 'UTC', holidays = [] }: { readonly zone?: string; readonly holidays?: readonly string[] } = {},
): BusinessHours {
  assertZone(zone)
  const [, first = '', last, more = '', ...clock] = HOURS.exec(text) ?? []
  const [fromHour = 0, fromMinute = 0, toHour = 0, toMinute = 0] = clock.map(Number)
  const days = [...span(first, last), ...more.split(',').slice(1)].map((word) => WEEKDAYS.find((day) => day === word))
  const opensMinute = fromHour * 60 + fromMinute
  const closesMinute = toHour * 60 + toMinute
  const isClock = fromMinute < 60 && toMinute < 60 && closesMinute <= DAY_MINUTES && opensMinute < closesMinute
  if (days.length === 0 || !isClock || days.includes(undefined))
    throw new RangeError(
      `hours: ${JSON.stringify(text)} is not allowed; allowed are days and a span of one day, such as "Mon-Fri 09:00-17:00" or "Mon,Wed 08:30-24:00"`,
    )
  for (const date of holidays)
    if (!DATE.test(date) || keyOf(Date.parse(`${date}T00:00:00Z`)) !== date)
      throw new RangeError(`holidays: ${JSON.stringify(date)} is not a date; allowed are dates such as "2026-12-25"`)
  return Object.freeze({
    zone,
    days: WEEKDAYS.filter((day) => days.includes(day)),
    opensMinute,
    closesMinute,
    holidays: Object.freeze([...holidays]),
  })
}

const DAY_WORDS: readonly string[] = WEEKDAYS

/** `Fri-Mon` goes over the weekend. */
function span(first: string, last: string | undefined): readonly string[] {
  const from = DAY_WORDS.indexOf(first)
  const to = last === undefined ? from : DAY_WORDS.indexOf(last)
  if (from < 0 || to < 0) return []
  const length = ((to - from + 7) % 7) + 1
  return Array.from({ length }, (_, index) => WEEKDAYS[(from + index) % 7] ?? '')
}

/** The first instant at which `ms` of business time have passed since `at`. With 0, the first instant of business from `at` on. */
export function afterBusinessTime(at: number, ms: number, hours: BusinessHours): number {
  checkInstant(at)
  if (!Number.isFinite(ms) || ms < 0) throw new RangeError(`ms: ${ms} is not allowed; allowed is 0 and more`)
  let left = ms
  for (const { opensAt, closesAt } of openings(at, hours)) {
    const begins = Math.max(at, opensAt)
    const room = closesAt - begins
    if (left < room || (left > 0 && left === room)) return begins + left
    left -= Math.max(0, room)
  }
  throw new RangeError(`hours: no ${ms} ms of business within ten years of ${at}; are all days holidays?`)
}

/** How much business time lies between two instants; negative when `to` is before `from`. */
export function businessTimeBetween(from: number, to: number, hours: BusinessHours): number {
  checkInstant(from)
  checkInstant(to)
  if (to < from) return -businessTimeBetween(to, from, hours)
  let sum = 0
  for (const { opensAt, closesAt } of openings(from, hours)) {
    if (opensAt >= to) return sum
    sum += Math.max(0, Math.min(closesAt, to) - Math.max(opensAt, from))
  }
  throw new RangeError(`hours: no opening within ten years of ${from}; are all days holidays?`)
}

/** Openings in order, from the one that may hold `at`. */
function* openings(
  at: number,
  hours: BusinessHours,
): Generator<{ readonly opensAt: number; readonly closesAt: number }> {
  const { zone, days, opensMinute, closesMinute, holidays } = hours
  const { year, month, day } = localTime(at, zone)
  const first = Date.UTC(year, month - 1, day)
  // A day earlier: where clocks are set back over midnight, an instant may still belong to the date before.
  for (let index = -1; index < DAYS_MAX; index++) {
    const date = first + index * DAY_MS
    const weekday = WEEKDAYS[new Date(date).getUTCDay()]
    if (weekday === undefined || !days.includes(weekday) || holidays.includes(keyOf(date))) continue
    const opensAt = instantOf(date + opensMinute * MINUTE_MS, zone)
    const closesAt = instantOf(date + closesMinute * MINUTE_MS, zone)
    if (closesAt > at) yield { opensAt, closesAt: Math.max(opensAt, closesAt) }
  }
}

const keyOf = (date: number): string => (Number.isFinite(date) ? new Date(date).toISOString().slice(0, 10) : '')

function checkInstant(at: number): void {
  // Years that Date.UTC does not read as they are need no business hours.
  if (!Number.isFinite(at) || at < 0 || at > 8e15)
    throw new RangeError(`at: ${at} is not an instant; allowed are epoch milliseconds from 1970 on`)
}
