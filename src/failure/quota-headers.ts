/**
 * What an answer says about how much may still be asked: the `…ratelimit-remaining…` headers of OpenAI, Anthropic, GitHub and the
 * IETF's drafts. It reads numbers and knows nothing of what is done about them.
 */
import { parseReset } from './delay.ts'
import { gatherHeaders, type HeaderMap, responseTime } from './headers.ts'

export interface QuotaTold {
  /** The header that said so. */
  readonly by: string
  /** What is counted: calls, or something that a call uses an unknown amount of. */
  readonly unit: 'requests' | 'tokens'
  readonly remaining: number
  readonly limit?: number
  /** Until it is full again. */
  readonly resetMs: number
}

/** Limits per minute and day, of requests and of tokens: no service tells more. */
const QUOTAS_MAX = 8

/** Headers, a `Response`, or anything that has `headers`; what is none of these tells nothing. Never throws. */
export function quotasIn(source: unknown, now: number): QuotaTold[] {
  const headers = headersOf(source)
  const at = responseTime(headers) ?? now
  const told: QuotaTold[] = []
  for (const [name, value] of headers) {
    if (told.length === QUOTAS_MAX) break
    if (name === 'ratelimit' || name === 'x-ratelimit') told.push(...inOneLine(name, value))
    else if (name.includes('remaining')) told.push(...ofName(headers, name, value, at))
  }
  return told
}

function headersOf(source: unknown): HeaderMap {
  const headers: HeaderMap = new Map()
  try {
    const given = source as { readonly headers?: unknown; readonly response?: { readonly headers?: unknown } } | null
    for (const each of [given?.headers, given?.response?.headers, given])
      if (typeof each === 'object' && each !== null && headers.size === 0) gatherHeaders(each, headers)
  } catch {
    // A getter threw: it tells nothing.
  }
  return headers
}

function ofName(headers: HeaderMap, name: string, value: string, now: number): QuotaTold[] {
  const remaining = count(value)
  const reset = headers.get(name.replace('remaining', 'reset')) ?? headers.get(name.replace('remaining', 'reset-after'))
  const resetMs = reset === undefined ? undefined : parseReset(reset, now)
  return quota(name, remaining, count(headers.get(name.replace('remaining', 'limit'))), resetMs)
}

/** `limit=100, remaining=50, reset=30` and `"default";r=50;t=30`. */
function inOneLine(name: string, value: string): QuotaTold[] {
  const field = (pattern: RegExp) => count(pattern.exec(value)?.[1])
  const seconds = field(/\b(?:reset|t)=(\d{1,12})/)
  const remaining = field(/\b(?:remaining|r)=(\d{1,15})/)
  return quota(name, remaining, field(/\b(?:limit|q)=(\d{1,15})/), seconds === undefined ? undefined : seconds * 1_000)
}

function quota(
  by: string,
  remaining: number | undefined,
  limit: number | undefined,
  resetMs: number | undefined,
): QuotaTold[] {
  if (remaining === undefined || resetMs === undefined) return []
  const unit = /token|cost|unit/.test(by) ? 'tokens' : 'requests'
  return [{ by, unit, remaining, resetMs, ...(limit === undefined ? {} : { limit }) }]
}

const count = (text: string | undefined): number | undefined =>
  text !== undefined && /^\s*\d{1,15}(?:[,;].*)?$/.test(text) ? Number.parseInt(text, 10) : undefined
