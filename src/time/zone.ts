/**
 * Wall-clock readings in a named IANA zone, and the check that a zone exists.
 * Knows calendars only; what a day or a month is used for is decided elsewhere.
 */

/** A reading of the wall clock in some zone. Months count from 1. */
export interface LocalTime {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
}

const HOUR_MS = 3_600_000

const formatters = new Map<string, Intl.DateTimeFormat>()

function formatterOf(zone: string): Intl.DateTimeFormat {
  let formatter = formatters.get(zone)
  if (!formatter) {
    try {
      formatter = new Intl.DateTimeFormat('en-US', {
        timeZone: zone,
        calendar: 'gregory',
        numberingSystem: 'latn',
        hourCycle: 'h23',
        era: 'short',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      })
    } catch (cause) {
      throw new RangeError(
        `zone: ${JSON.stringify(zone)} is not a time zone; allowed are IANA names such as "UTC" or "Europe/Berlin"`,
        { cause },
      )
    }
    formatters.set(zone, formatter)
  }
  return formatter
}

/** Throws a RangeError that names the value when the platform does not know the zone. */
export function assertZone(zone: string): void {
  formatterOf(zone)
}

export function localTime(at: number, zone: string): LocalTime {
  if (zone === 'UTC') return utcTime(at)
  const read: Record<string, number> = {}
  for (const { type, value } of formatterOf(zone).formatToParts(at)) read[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = read
  return { year, month, day, hour, minute, second }
}

/**
 * The instant from which the wall clock shows `wall` (its reading taken as UTC) or later: a time that is skipped comes when the clocks
 * have been changed. Where a time shows twice, the search settles on one of the two, and always on the same.
 */
export function instantOf(wall: number, zone: string): number {
  if (zone === 'UTC') return wall
  // No zone is further than 26 hours from UTC; offsets change on whole seconds, and both ends are whole seconds.
  let before = wall - 26 * HOUR_MS
  let reached = wall + 26 * HOUR_MS
  while (reached - before > 1_000) {
    const middle = before + Math.floor((reached - before) / 2_000) * 1_000
    if (wallOf(middle, zone) >= wall) reached = middle
    else before = middle
  }
  return reached
}

/** Years before 100 are taken as they are, which `Date.UTC` does not do. */
function wallOf(at: number, zone: string): number {
  const { year, month, day, hour, minute, second } = localTime(at, zone)
  return new Date(new Date(0).setUTCFullYear(year, month - 1, day)).setUTCHours(hour, minute, second)
}

function utcTime(at: number): LocalTime {
  const date = new Date(at)
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  }
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/**
 * Clock time as people read it: `14:02:10`, with the day when it is not today, with the year when it is not this one.
 * Whole minutes far from now lose nothing by dropping their seconds, so midnight reads `00:00`.
 */
export function clockTime(at: number, zone: string, now?: number): string {
  if (!Number.isFinite(at) || Math.abs(at) > 8.64e15) return 'no known time'
  const time = localTime(at, zone)
  const today = now === undefined ? undefined : localTime(now, zone)
  const clock = `${two(time.hour)}:${two(time.minute)}`
  const exact = time.second === 0 && time.minute === 0 ? clock : `${clock}:${two(time.second)}`
  if (today && today.year === time.year && today.month === time.month && today.day === time.day) return exact
  const year = today && today.year === time.year ? '' : ` ${time.year}`
  return `${exact} on ${time.day} ${MONTHS[time.month - 1]}${year}`
}

/** How a zone is named in a sentence: `Berlin` for Europe/Berlin, `UTC` for UTC. */
export function zoneName(zone: string): string {
  return zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ')
}

const two = (value: number) => String(value).padStart(2, '0')
