/**
 * Reads JSON out of strings that were never meant to be parsed: prefixes, Python dictionaries, raw newlines, cut ends.
 * It knows nothing of errors; it gives back the value and where in the text it stood.
 */
import { DEPTH_MAX, EMBEDDED_MAX, ITEMS_MAX, KEYS_MAX } from './bounds.ts'

export interface Embedded {
  readonly value: object
  readonly start: number
  readonly end: number
}

/** The reader's place; one object per call keeps the recursive functions small. */
interface Cursor {
  readonly text: string
  at: number
  /** Values read so far: bounds the work on nested rubbish. */
  values: number
}

const VALUES_MAX = 512

/** Find the first `{"` or `[{` (also `{'`, `{\"`) and read the value that starts there. */
export function findEmbedded(text: string): Embedded | undefined {
  const start = opening(text)
  if (start < 0) return undefined
  const whole = start === 0 && text.length <= EMBEDDED_MAX
  if (whole && text.endsWith(text[0] === '{' ? '}' : ']') && !breaksInString(text)) {
    try {
      const value: unknown = JSON.parse(text)
      if (typeof value === 'object' && value !== null) return { value, start: 0, end: text.length }
    } catch {
      // Not strict JSON: the lenient reader below takes what can be read.
    }
  }
  const source = text.length > start + EMBEDDED_MAX ? text.slice(0, start + EMBEDDED_MAX) : text
  // `{\"error\": …}` is JSON that was escaped once more than it was parsed.
  const escaped = source.charCodeAt(start + 1) === 92
  const cursor: Cursor = {
    text: escaped ? source.slice(0, start) + unescapeOnce(source.slice(start)) : source,
    at: start,
    values: 0,
  }
  const value = readValue(cursor, 0)
  if (typeof value !== 'object' || value === null) return undefined
  if (isEmpty(value)) return undefined
  return { value, start, end: escaped ? text.length : cursor.at }
}

/** A raw line break in a string is why most bodies are not strict JSON; finding it costs far less than the parser's exception. */
function breaksInString(text: string): boolean {
  if (!text.includes('\n')) return false
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 34) quoted = !quoted
    else if (code === 92) i++
    else if (code === 10 && quoted) return true
  }
  return false
}

const isEmpty = (value: object): boolean =>
  Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0

/** Index of the first character that opens something JSON-like, or -1. */
function opening(text: string): number {
  const limit = Math.min(text.length, EMBEDDED_MAX)
  for (let i = 0; i < limit; i++) {
    const code = text.charCodeAt(i)
    if (code !== 123 && code !== 91) continue
    let next = i + 1
    while (next < limit && isSpace(text.charCodeAt(next))) next++
    const follower = text.charCodeAt(next)
    if (code === 123) {
      const quote = follower === 92 ? next + 1 : next
      const quoted = text.charCodeAt(quote) === 34 || (follower === 39 && quote === next)
      // A key must follow: `'{', "…` in a parser's message opens nothing.
      if (quoted && startsKey(text.charCodeAt(quote + 1))) return i
    } else if (follower === 123) return i
  }
  return -1
}

const startsKey = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code === 36 || code === 64

const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9

function unescapeOnce(text: string): string {
  return text.replace(/\\(["\\/nrt])/g, (_, char: string) =>
    char === 'n' || char === 'r' || char === 't' ? ' ' : char,
  )
}

function skipSpace(cursor: Cursor): void {
  while (cursor.at < cursor.text.length && isSpace(cursor.text.charCodeAt(cursor.at))) cursor.at++
}

function readValue(cursor: Cursor, depth: number): unknown {
  skipSpace(cursor)
  if (++cursor.values > VALUES_MAX) {
    cursor.at = cursor.text.length
    return undefined
  }
  const code = cursor.text.charCodeAt(cursor.at)
  if (code === 123) return depth < DEPTH_MAX ? readObject(cursor, depth) : giveUp(cursor)
  if (code === 91) return depth < DEPTH_MAX ? readArray(cursor, depth) : giveUp(cursor)
  if (code === 34 || code === 39) return readString(cursor, code)
  return readBare(cursor)
}

function giveUp(cursor: Cursor): undefined {
  cursor.at = cursor.text.length
  return undefined
}

function readObject(cursor: Cursor, depth: number): Record<string, unknown> {
  const result: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  const { text } = cursor
  cursor.at++
  for (let keys = 0; cursor.at < text.length && keys < KEYS_MAX; ) {
    skipSpace(cursor)
    const code = text.charCodeAt(cursor.at)
    if (code === 125) {
      cursor.at++
      return result
    }
    if (code === 34 || code === 39) {
      const key = readString(cursor, code)
      skipSpace(cursor)
      if (text.charCodeAt(cursor.at) === 58) {
        cursor.at++
        const value = readValue(cursor, depth + 1)
        if (value !== undefined) result[key] = value
        keys++
      }
    } else cursor.at++
  }
  return result
}

function readArray(cursor: Cursor, depth: number): unknown[] {
  const result: unknown[] = []
  const { text } = cursor
  cursor.at++
  while (cursor.at < text.length) {
    skipSpace(cursor)
    const code = text.charCodeAt(cursor.at)
    if (code === 93) {
      cursor.at++
      return result
    }
    if (code === 44) {
      cursor.at++
      continue
    }
    const before = cursor.at
    const value = readValue(cursor, depth + 1)
    if (value !== undefined && result.length < ITEMS_MAX * 2) result.push(value)
    if (cursor.at === before) cursor.at++
  }
  return result
}

/**
 * A quoted string, ended by its quote when something that may follow a string follows it: people paste bodies
 * whose inner quotes were not escaped.
 */
function readString(cursor: Cursor, quote: number): string {
  const { text } = cursor
  let from = ++cursor.at
  let result = ''
  while (cursor.at < text.length) {
    const code = text.charCodeAt(cursor.at)
    if (code === 92) {
      result += text.slice(from, cursor.at)
      result += escapedChar(cursor)
      from = cursor.at
      continue
    }
    if (code === quote && mayEnd(text, cursor.at + 1)) {
      result += text.slice(from, cursor.at)
      cursor.at++
      return result
    }
    cursor.at++
  }
  return result + text.slice(from)
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: ' ', f: ' ' }

function escapedChar(cursor: Cursor): string {
  const char = cursor.text[cursor.at + 1] ?? ''
  if (char === 'u') {
    const hex = cursor.text.slice(cursor.at + 2, cursor.at + 6)
    if (/^[0-9a-fA-F]{4}$/.test(hex)) {
      cursor.at += 6
      return String.fromCharCode(Number.parseInt(hex, 16))
    }
  }
  cursor.at += 2
  return ESCAPES[char] ?? char
}

/** True when the quote before `at` may be a closing one: the next visible character is `,`, `:`, `}`, `]` or the end. */
function mayEnd(text: string, at: number): boolean {
  const limit = Math.min(text.length, at + 64)
  let i = at
  while (i < limit && isSpace(text.charCodeAt(i))) i++
  const code = text.charCodeAt(i)
  return i >= text.length || code === 44 || code === 58 || code === 125 || code === 93
}

/** Numbers and words: true, False, None, 429, `<Response …>`. */
function readBare(cursor: Cursor): unknown {
  const { text } = cursor
  const from = cursor.at
  while (cursor.at < text.length) {
    const code = text.charCodeAt(cursor.at)
    if (code === 44 || code === 125 || code === 93 || code === 10) break
    cursor.at++
  }
  const word = text.slice(from, cursor.at).trim()
  if (word === 'true' || word === 'True') return true
  if (word === 'false' || word === 'False') return false
  if (/^-?\d{1,16}(?:\.\d{1,16})?$/.test(word)) return Number(word)
  return undefined
}
