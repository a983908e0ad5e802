/**
 * An instant as it is typed: epoch milliseconds or ISO 8601 with its zone, as milliseconds.
 * A date without a zone is refused, since the same words would mean another time on another machine.
 */
import { usageError } from './cli-error.ts'
import { shown } from './terminal/text.ts'

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?(?:Z|([+-])(\d\d):?(\d\d)))?$/i
const DAYS_IN_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const
const EPOCH_MAX = 8_640_000_000_000_000

export function parseInstant(text: string): number {
  if (/^\d{1,16}$/.test(text) && Number(text) <= EPOCH_MAX) return Number(text)
  const at = isoToEpochMs(text)
  if (at !== undefined) return at
  throw usageError(
    `${shown(text)} is not an instant.`,
    'Epoch milliseconds, or ISO 8601 with its zone: 2026-11-15T14:02:10Z.',
  )
}

function isoToEpochMs(text: string): number | undefined {
  const parts = ISO.exec(text)
  if (!parts) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  const longest = DAYS_IN_MONTH[month - 1]
  if (longest === undefined || day < 1 || day > longest || hour > 23 || minute > 59 || second > 59) return undefined
  if (month === 2 && day === 29 && !isLeap(year)) return undefined
  const ms = Number((parts[7] ?? '').padEnd(3, '0') || 0)
  const offset = (Number(parts[9] ?? 0) * 60 + Number(parts[10] ?? 0)) * (parts[8] === '-' ? -1 : 1)
  return (((daysSince1970(year, month, day) * 24 + hour) * 60 + minute - offset) * 60 + second) * 1_000 + ms
}

const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0

/** Counts whole years up to March, so that the leap day is the last of its year. */
function daysSince1970(year: number, month: number, day: number): number {
  const fromMarch = (month + 9) % 12
  const y = month <= 2 ? year - 1 : year
  const days = 365 * y + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400)
  return days + Math.floor((153 * fromMarch + 2) / 5) + day - 1 - 719_468
}
