/**
 * Reads the few response headers that matter, from any shape headers come in: Headers, Map, plain objects, pairs, flat lists.
 * It knows header names and nothing of kinds or rules.
 */
import { KEYS_MAX } from './bounds.ts'
import { parseHttpDate, parseIsoTime, parseReset, parseRetryAfter, type Told } from './delay.ts'

export type HeaderMap = Map<string, string>

/** Only these are ever looked at, so that cookies and keys in other headers stay where they are. */
const WANTED =
  /^(?:retry-after(?:-ms)?|x-retry-after|x-ms-retry-after-ms|date|x-should-retry|server|content-type|.*ratelimit.*|.*rate-limit.*|grpc-status|grpc-message|retry-pushback-ms|x-amzn-errortype)$/

function put(into: HeaderMap, name: unknown, value: unknown): void {
  if (typeof name !== 'string' || name.length > 80) return
  const key = name.toLowerCase()
  if (!WANTED.test(key)) return
  const one: unknown = Array.isArray(value) ? value[0] : value
  if (typeof one === 'string') into.set(key, one.slice(0, 256))
  else if (typeof one === 'number') into.set(key, String(one))
}

/** Gather the wanted headers of `source` into `into`. Never throws: hostile objects contribute what they gave before they threw. */
export function gatherHeaders(source: object, into: HeaderMap): void {
  try {
    if (Array.isArray(source)) {
      const flat = typeof source[0] === 'string'
      const step = flat ? 2 : 1
      for (let i = 0; i < source.length && i < KEYS_MAX * 2; i += step) {
        const pair: unknown = flat ? [source[i], source[i + 1]] : source[i]
        if (Array.isArray(pair)) put(into, pair[0], pair[1])
      }
      return
    }
    const each: unknown = (source as { forEach?: unknown }).forEach
    if (typeof each === 'function') {
      let seen = 0
      each.call(source, (value: unknown, name: unknown) => {
        if (seen++ < KEYS_MAX) put(into, name, value)
      })
      return
    }
    let seen = 0
    for (const name of Object.keys(source)) {
      if (seen++ === KEYS_MAX) break
      put(into, name, (source as Record<string, unknown>)[name])
    }
  } catch {
    // A getter or a proxy threw; what was read stands.
  }
}

/** The time of the response by its own `Date` header: a truer "now" for its own absolute times than any other clock. */
export function responseTime(headers: HeaderMap): number | undefined {
  const date = headers.get('date')
  return date === undefined ? undefined : parseHttpDate(date)
}

const remainderOf = (name: string): string => name.replace('reset-after', 'remaining').replace('reset', 'remaining')

/** All delays that the headers tell. */
export function delaysInHeaders(headers: HeaderMap, now: number | undefined): Told[] {
  const told: Told[] = []
  const tell = (ms: number | undefined, source: Told['source'], from: string): void => {
    if (ms !== undefined) told.push({ ms, source, from })
  }
  for (const [name, value] of headers) {
    if (name === 'retry-after-ms' || name === 'x-ms-retry-after-ms' || name === 'retry-pushback-ms') {
      if (/^\d{1,12}(?:\.\d{1,6})?$/.test(value)) tell(Math.round(Number(value)), 'header', name)
    } else if (name === 'retry-after' || name === 'x-retry-after') {
      tell(parseRetryAfter(value, now), 'header', name)
    } else if (name.includes('reset') && /rate-?limit/.test(name)) {
      const remaining = headers.get(remainderOf(name))
      // Room left in this limit: it is not the one that said no.
      if (remaining !== undefined && Number(remaining) > 0) continue
      const reset = name.startsWith('anthropic-') ? isoDelay(value, now) : parseReset(value, now)
      tell(reset, remaining === undefined ? 'reset' : 'bucket', name)
    }
  }
  // The exact form wins over the rounded one that is sent beside it.
  return headers.has('retry-after-ms') ? told.filter((one) => one.from !== 'retry-after') : told
}

function isoDelay(value: string, now: number | undefined): number | undefined {
  const at = parseIsoTime(value)
  return at === undefined ? parseReset(value, now) : now === undefined ? undefined : Math.max(0, Math.round(at - now))
}
