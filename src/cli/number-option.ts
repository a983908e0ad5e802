/**
 * Option values that are numbers, lengths of time or instants: what is not one is told with what is allowed.
 */
import { parseDuration } from '../time/duration.ts'
import { usageError } from './cli-error.ts'
import { parseInstant } from './instant.ts'
import { shown } from './terminal/text.ts'

export function wholeNumberOf(flag: string, min: number, max: number): (value: string) => number {
  return (value) => {
    const number = /^-?\d{1,9}$/.test(value) ? Number(value) : Number.NaN
    if (number >= min && number <= max) return number
    throw usageError(`${flag} ${shown(value)} is not allowed.`, `A whole number from ${min} to ${max}.`)
  }
}

export function amountOf(flag: string): (value: string) => number {
  return (value) => {
    const number = /^\d{1,9}(?:\.\d{1,9})?$/.test(value) ? Number(value) : Number.NaN
    if (number >= 0) return number
    throw usageError(`${flag} ${shown(value)} is not an amount.`, 'US dollars, such as 0.25.')
  }
}

export function durationOf(flag: string): (value: string) => number {
  return (value) => {
    try {
      return parseDuration(/^\d+$/.test(value) ? Number(value) : value, flag)
    } catch {
      throw usageError(
        `${flag} ${shown(value)} is not a duration.`,
        'Milliseconds, or text such as 500ms, 30s, 1m30s, 24h, 7d.',
      )
    }
  }
}

/** A duration from now stays a duration, because only the store knows what now is; all else is an instant. */
export function momentOf(flag: string): (value: string) => number | string {
  return (value) => {
    try {
      if (/^\d+(?:\.\d+)?[a-z]/.test(value)) {
        parseDuration(value, flag)
        return value
      }
      return parseInstant(value)
    } catch {
      throw usageError(
        `${flag} ${shown(value)} is neither a duration nor an instant.`,
        'A duration from now (10m, 2h), epoch milliseconds, or ISO 8601 with its zone: 2026-11-15T14:02:10Z.',
      )
    }
  }
}
