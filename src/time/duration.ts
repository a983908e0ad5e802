/**
 * Lengths of time as people write and read them: "1m30s" in, `1 m 30 s` out.
 * Everything inside is milliseconds; no clock is looked at.
 */

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
type Unit = keyof typeof UNIT_MS

/** 100 years: past this a duration is a mistake, and sums of epoch times stay exact. */
export const DURATION_MAX_MS = 3_155_760_000_000

const FORM = /^(\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g
const TEXT_MAX = 64

/** A length of time: milliseconds, or text such as "250ms", "30s", "1m30s", "1.5h", "7d". */
export type Duration = number | string

/**
 * Milliseconds, a whole number. Throws a RangeError that names the field, the value and what is allowed.
 * @example parseDuration('1m30s') === 90_000
 */
export function parseDuration(value: unknown, field = 'duration'): number {
  const ms = typeof value === 'string' ? textToMs(value) : typeof value === 'number' ? value : Number.NaN
  if (!(ms >= 0 && ms <= DURATION_MAX_MS)) {
    throw new RangeError(
      `${field}: ${shown(value)} is not a duration; allowed are milliseconds from 0 to ${DURATION_MAX_MS} or text such as "500ms", "30s", "1m30s", "24h", "7d"`,
    )
  }
  return Math.round(ms)
}

function textToMs(text: string): number {
  if (text.length > TEXT_MAX || !FORM.test(text)) return Number.NaN
  let sum = 0
  let smaller = Number.POSITIVE_INFINITY
  for (const [, amount, unit] of text.matchAll(PART)) {
    const unitMs = UNIT_MS[unit as Unit]
    // "30s1m" and "1m1m" are slips of the pen rather than durations.
    if (unitMs >= smaller) return Number.NaN
    smaller = unitMs
    sum += Number(amount) * unitMs
  }
  return sum
}

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > TEXT_MAX ? `${value.slice(0, TEXT_MAX)}…` : value)
  return typeof value === 'number' || value === null || value === undefined ? String(value) : typeof value
}

/**
 * Two units at most, the smaller one in two digits so that columns keep still.
 * @example formatDuration(184_000) === '3 m 04 s'
 */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) return 'for ever'
  if (ms < 0) return `-${formatDuration(-ms)}`
  const whole = Math.round(ms)
  if (whole < 1_000) return `${whole} ms`
  const seconds = Math.round(whole / 1_000)
  if (seconds < 60) return whole < 10_000 && whole % 1_000 !== 0 ? `${(whole / 1_000).toFixed(1)} s` : `${seconds} s`
  if (seconds < 3_600) return twoUnits(seconds, 60, 'm', 's')
  const minutes = Math.round(seconds / 60)
  if (minutes < 1_440) return twoUnits(minutes, 60, 'h', 'm')
  return twoUnits(Math.round(minutes / 60), 24, 'd', 'h')
}

function twoUnits(total: number, perLarge: number, large: string, small: string): string {
  return `${Math.floor(total / perLarge)} ${large} ${String(total % perLarge).padStart(2, '0')} ${small}`
}

/** The shortest exact form, for figures in tables: `60 s`, `5 min`, `1 h`, `24 h`. */
export function briefDuration(ms: number): string {
  if (ms >= 172_800_000 && ms % 86_400_000 === 0) return `${ms / 86_400_000} d`
  if (ms >= 3_600_000 && ms % 3_600_000 === 0) return `${ms / 3_600_000} h`
  if (ms >= 120_000 && ms % 60_000 === 0) return `${ms / 60_000} min`
  if (ms >= 1_000 && ms % 100 === 0) return `${ms / 1_000} s`
  return `${ms} ms`
}
