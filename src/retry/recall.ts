/**
 * Remembers how plain errors were classified: an outage throws the same error a thousand times, and it is the same failure
 * each time. Only what depends on nothing but its own primitive fields is remembered; everything else is classified anew.
 */
import { classify } from '../failure/classify.ts'
import type { Failure } from '../failure/failure.ts'

/** Distinct errors that are remembered; past it all is forgotten, because then they are not the same ones again. */
const REMEMBERED_MAX = 512
const KEY_MAX = 512

/** Errors that are a message and nothing else, by that message, whose hash the engine knows already; and the others. */
const byMessage = new Map<string, Failure>()
const byFields = new Map<string, Failure>()

/** Dates, clock times and epoch seconds: what they tell depends on when they are read. */
const MAY_TELL_TIME = /\d{4}-\d\d|\d:\d\d(?!\d)|\d{10}|GMT/

/** The same answer as `classify(thrown, { now })`. */
export function classifyAgain(thrown: unknown, now: number): Failure {
  if (typeof thrown !== 'object' || thrown === null) return classify(thrown, { now })
  const prototype: unknown = Object.getPrototypeOf(thrown)
  if (prototype !== Error.prototype && prototype !== TypeError.prototype) return classify(thrown, { now })
  const fields = Reflect.ownKeys(thrown)
  if (prototype === Error.prototype && fields.length === 2 && fields[0] === 'stack' && fields[1] === 'message') {
    const { message } = thrown as { message: unknown }
    if (typeof message === 'string') return recall(byMessage, message, thrown, now)
  }
  const key = keyOf(thrown, fields)
  if (key === undefined) return classify(thrown, { now })
  return recall(byFields, prototype === Error.prototype ? key : `TypeError${key}`, thrown, now)
}

function recall(known: Map<string, Failure>, key: string, thrown: unknown, now: number): Failure {
  const before = known.get(key)
  if (before) return before
  const failure = classify(thrown, { now })
  // A told delay may come from a time in a form not thought of above, and then it is another one a second later.
  const lasts = failure.retryAfterMs === undefined && !MAY_TELL_TIME.test(key)
  if (lasts && key.length <= KEY_MAX) {
    if (known.size >= REMEMBERED_MAX) known.clear()
    known.set(key, failure)
  }
  return failure
}

/** All fields and values, each with its length so that no two errors share a key. Undefined when one is no plain value. */
function keyOf(thrown: object, fields: readonly PropertyKey[]): string | undefined {
  let key = ''
  try {
    for (const field of fields) {
      if (field === 'stack') continue
      const value: unknown = (thrown as Record<PropertyKey, unknown>)[field]
      if (typeof field !== 'string' || (typeof value !== 'string' && typeof value !== 'number')) return undefined
      const text = String(value)
      key += `\n${field.length} ${field} ${typeof value} ${text.length} ${text}`
      if (key.length > KEY_MAX) return undefined
    }
  } catch {
    return undefined
  }
  return key
}
