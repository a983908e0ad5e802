/**
 * Reads told delays: durations, epochs, HTTP dates and ISO times, from headers, bodies and prose.
 * It never asks what time it is: absolute times are measured against a `now` that is handed in.
 */
import { DELAY_MAX_MS } from './bounds.ts'

/** Where a delay was told, best first; `chooseDelay` says why. */
export type DelaySource = 'header' | 'body' | 'bucket' | 'prose' | 'reset'

export interface Told {
  readonly ms: number
  readonly source: DelaySource
  /** The header, field or phrase that told it. */
  readonly from: string
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  msec: 1,
  msecs: 1,
  millis: 1,
  millisecond: 1,
  milliseconds: 1,
  s: 1_000,
  sec: 1_000,
  secs: 1_000,
  second: 1_000,
  seconds: 1_000,
  m: 60_000,
  min: 60_000,
  mins: 60_000,
  minute: 60_000,
  minutes: 60_000,
  h: 3_600_000,
  hr: 3_600_000,
  hrs: 3_600_000,
  hour: 3_600_000,
  hours: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  days: 86_400_000,
}

const PART =
  /(\d{1,12}(?:\.\d{1,12})?) ?(milliseconds?|millis|msecs?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![a-z])/giy
/** `1m30s` has no space and no border between its parts. */
const TIGHT = /(\d{1,12}(?:\.\d{1,12})?)(ms|s|m|h|d)(?=\d|$|[^a-z0-9])/giy

/** `1m30s`, `26s`, `36.4 seconds`, `1 hour and 5 minutes`, `6ms`: the duration at the start of the text, in whole milliseconds. */
export function durationAt(text: string, at: number): number | undefined {
  let total = 0
  let parts = 0
  for (; parts < 5; parts++) {
    TIGHT.lastIndex = at
    let part = TIGHT.exec(text)
    if (part === null) {
      PART.lastIndex = at
      part = PART.exec(text)
    }
    if (part === null) break
    total += Number(part[1]) * (UNIT_MS[(part[2] ?? '').toLowerCase()] ?? 0)
    at += part[0].length
    const joint = /^(?:,? and |, | )(?=\d)/.exec(text.slice(at, at + 8))
    if (joint) at += joint[0].length
  }
  return parts === 0 ? undefined : sane(Math.round(total))
}

/** A whole string that is a duration: `26s`, `1m30s`, `250ms`, `0.5s`. */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim()
  return /^\d[\d.a-z ]{0,40}$/i.test(trimmed) ? durationAt(trimmed, 0) : undefined
}

function sane(ms: number): number | undefined {
  return Number.isFinite(ms) && ms >= 0 && ms <= DELAY_MAX_MS ? ms : undefined
}

const MONTHS = 'janfebmaraprmayjunjulaugsepoctnovdec'

/** Days since 1970-01-01 of a civil date. */
function epochDays(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
}

function epochMs(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number | undefined {
  const valid = month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour < 24 && minute < 60 && second < 61
  return valid
    ? epochDays(year, month, day) * 86_400_000 + hour * 3_600_000 + minute * 60_000 + Math.round(second * 1_000)
    : undefined
}

const HTTP_DATE = /(\d{1,2})[ -]([A-Za-z]{3})[A-Za-z]{0,6}[ -](\d{4}) (\d{2}):(\d{2}):(\d{2}) (?:GMT|UTC)/

/** `Wed, 21 Oct 2015 07:28:00 GMT` as epoch milliseconds. */
export function parseHttpDate(text: string): number | undefined {
  const found = HTTP_DATE.exec(text.slice(0, 64))
  if (found === null) return undefined
  const month = MONTHS.indexOf((found[2] ?? '').toLowerCase())
  if (month < 0 || month % 3 !== 0) return undefined
  return epochMs(
    Number(found[3]),
    month / 3 + 1,
    Number(found[1]),
    Number(found[4]),
    Number(found[5]),
    Number(found[6]),
  )
}

const ISO =
  /(\d{4})-(\d{2})-(\d{2})(?:T| at | )(\d{2}):(\d{2})(?::(\d{2}(?:\.\d{1,9})?))? ?(Z|UTC|GMT|[+-]\d{2}:?\d{2})?/i

/** An ISO time as epoch milliseconds; without a zone it is read as UTC, as every API that omits it means. */
export function parseIsoTime(text: string): number | undefined {
  const found = ISO.exec(text.slice(0, 80))
  if (found === null) return undefined
  const at = epochMs(
    Number(found[1]),
    Number(found[2]),
    Number(found[3]),
    Number(found[4]),
    Number(found[5]),
    Number(found[6] ?? 0),
  )
  if (at === undefined) return undefined
  const zone = /^([+-])(\d{2}):?(\d{2})$/.exec(found[7] ?? '')
  if (zone === null) return at
  return at - (zone[1] === '-' ? -1 : 1) * (Number(zone[2]) * 3_600_000 + Number(zone[3]) * 60_000)
}

function until(at: number | undefined, now: number | undefined): number | undefined {
  return at === undefined || now === undefined ? undefined : sane(Math.max(0, Math.round(at - now)))
}

/** `Retry-After`: seconds (fractions occur) or an HTTP date. */
export function parseRetryAfter(text: string, now: number | undefined): number | undefined {
  const trimmed = text.trim()
  if (/^\d{1,10}(?:\.\d{1,6})?$/.test(trimmed)) return sane(Math.round(Number(trimmed) * 1_000))
  return parseDuration(trimmed) ?? until(parseHttpDate(trimmed) ?? parseIsoTime(trimmed), now)
}

/** Numbers past this are epochs, not delays: in seconds it is 2001, as a delay it is 31 years. */
const EPOCH_SECONDS_MIN = 1_000_000_000
const EPOCH_MS_MIN = EPOCH_SECONDS_MIN * 1_000

/** `x-ratelimit-reset*`: epoch seconds or milliseconds, seconds from now, `1m30s`, or an ISO time. */
export function parseReset(text: string, now: number | undefined): number | undefined {
  const trimmed = text.trim()
  if (!/^\d{1,16}(?:\.\d{1,6})?$/.test(trimmed))
    return parseDuration(trimmed) ?? until(parseIsoTime(trimmed) ?? parseHttpDate(trimmed), now)
  const value = Number(trimmed)
  if (value >= EPOCH_MS_MIN) return until(value, now)
  if (value >= EPOCH_SECONDS_MIN) return until(value * 1_000, now)
  return sane(Math.round(value * 1_000))
}

/** A delay in a body field. `unitMs` is what a bare number means there. */
export function parseField(value: unknown, unitMs: number, now: number | undefined): number | undefined {
  if (typeof value === 'number')
    return value >= EPOCH_SECONDS_MIN ? parseReset(String(value), now) : sane(Math.round(value * unitMs))
  if (typeof value === 'string') {
    if (/^\d{1,12}(?:\.\d{1,9})?$/.test(value)) return parseField(Number(value), unitMs, now)
    return parseDuration(value) ?? until(parseIsoTime(value) ?? parseHttpDate(value), now)
  }
  return undefined
}

/** A protobuf Duration: `{ seconds, nanos }`, either as numbers or as strings. */
export function protoDuration(seconds: unknown, nanos: unknown): number | undefined {
  const whole = Number(seconds ?? 0)
  const fraction = Number(nanos ?? 0)
  return sane(Math.round(whole * 1_000 + fraction / 1_000_000))
}

/** Phrases after which a delay is told. All quantifiers are bounded, so the search is linear. */
const TELLS =
  /\b(?:try(?:ing)? (?:this |your |the |that )?(?:request |call |it )?again|retry[-_ ]?after(?:[-_ ]?(?:ms|seconds|secs))?|retry(?:ing)?(?: (?:your|the|this) request)?|wait(?: for)?(?: at least| about| another)?|resets?|reset after|available(?: again)?|back off(?: for)?|next (?:request|attempt)(?: allowed)?|request this)\b(?: (?:will|should|after|in|for|at least|at|on|until|about|approximately|your|the|requests?|again|is|be|another|within)){0,6}[\s:="'(~]{0,6}(?:in |after )?/gi
const ABSOLUTE =
  /\b(?:try again|retry|resets?|until|available|regain access|come back|after|before)\b[^\d\n]{0,32}(?=\d{4}-\d{2}-\d{2}(?:T| at | )\d{2}:\d{2})/i
const BARE = /(\d{1,7}(?:\.\d{1,6})?)(?![\d.:\w-])/y

/** A delay told in a sentence: "try again in 1m30s", "retry after 33 seconds", "Retry-After: 30", "until 2026-01-02T03:04Z". */
export function delayInProse(text: string, now: number | undefined): number | undefined {
  TELLS.lastIndex = 0
  for (let tries = 0; tries < 8; tries++) {
    const tell = TELLS.exec(text)
    if (tell === null) break
    const at = TELLS.lastIndex
    const duration = durationAt(text, at)
    if (duration !== undefined) return duration
    // A bare number is seconds only after the header's own name; "retry 3 times" tells nothing.
    if (/retry[-_ ]?after/i.test(tell[0])) {
      BARE.lastIndex = at
      const bare = BARE.exec(text)
      if (bare !== null) return parseField(Number(bare[1]), /ms[\s:="'(~]*$/i.test(tell[0]) ? 1 : 1_000, now)
    }
  }
  const absolute = ABSOLUTE.exec(text)
  if (absolute === null) return undefined
  return until(parseIsoTime(text.slice(absolute.index + absolute[0].length)), now)
}

/** The order in which sources are believed. */
const ORDER: readonly DelaySource[] = ['header', 'body', 'bucket', 'prose', 'reset']

/**
 * Choose among told delays. `Retry-After` is addressed to this very request; RetryInfo and body fields are the same
 * told in the body; `bucket` is the reset of a limit that stands at zero, exact but not addressed to us; prose repeats
 * them rounded; `reset` is the reset of a limit whose remainder is not known and so the weakest. Within one source the
 * longest wait is right: all of the limits must have room.
 */
export function chooseDelay(told: readonly Told[], limited: boolean): Told | undefined {
  let best: Told | undefined
  for (const one of told) {
    // Limits are reported with every response; only a rate limit is about them.
    if (!limited && (one.source === 'bucket' || one.source === 'reset')) continue
    if (best === undefined) best = one
    else {
      const order = ORDER.indexOf(one.source) - ORDER.indexOf(best.source)
      if (order < 0 || (order === 0 && one.ms > best.ms)) best = one
    }
  }
  return best
}
