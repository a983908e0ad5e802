/**
 * Our own words coming back: recognises a Failure in any form it travels (record, JSON copy, thrown error) and makes throwable ones.
 * It knows the record and its brand; it classifies nothing.
 */
import { FACT_MAX, MESSAGE_MAX } from './bounds.ts'
import { type FactValue, type Failure, KINDS, type Kind, type Layer } from './failure.ts'
import { safeText } from './mask-secrets.ts'
import { layerOf } from './rule.ts'

/** Registered globally so that two copies of the package understand each other. */
const BRAND = Symbol.for('reprise.failure')

const KIND_SET: ReadonlySet<unknown> = new Set(KINDS)
const FACTS_MAX = 16

/** What codes look like: `noun.case`, each part letters, digits, `_`, `-` or `/`; the domain's single words count too. */
export const CODE_SHAPE = /^[A-Za-z][A-Za-z0-9_-]*(?:[./][A-Za-z0-9_*-]+)*$/
export const CODE_LENGTH_MAX = 120

function read(value: object, key: PropertyKey): unknown {
  try {
    return (value as Record<PropertyKey, unknown>)[key]
  } catch {
    return undefined
  }
}

/** The Failure that `value` is or carries, made safe again; undefined when it is none. */
export function ownFailure(value: object): Failure | undefined {
  const branded = read(value, BRAND)
  if (typeof branded === 'object' && branded !== null) return sanitise(branded)
  return KIND_SET.has(read(value, 'kind')) ? sanitise(value) : undefined
}

function sanitise(value: object): Failure | undefined {
  const kind = read(value, 'kind')
  const code = read(value, 'code')
  const layer = read(value, 'layer')
  const message = read(value, 'message')
  const advice = read(value, 'advice')
  const rule = read(value, 'rule')
  const retryAfterMs = read(value, 'retryAfterMs')
  const facts = read(value, 'facts')
  const whole = KIND_SET.has(kind) && (layer === 'infrastructure' || layer === 'workflow')
  if (
    !whole ||
    typeof code !== 'string' ||
    typeof message !== 'string' ||
    typeof advice !== 'string' ||
    typeof rule !== 'string'
  )
    return undefined
  const told = typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs) && retryAfterMs >= 0
  const safeFacts = typeof facts === 'object' && facts !== null ? sanitiseFacts(facts) : undefined
  return {
    kind: kind as Kind,
    code: code.slice(0, CODE_LENGTH_MAX),
    layer,
    message: safeText(message, MESSAGE_MAX),
    advice: safeText(advice, MESSAGE_MAX),
    rule: rule.slice(0, CODE_LENGTH_MAX),
    ...(told ? { retryAfterMs } : {}),
    ...(safeFacts ? { facts: safeFacts } : {}),
  }
}

function sanitiseFacts(facts: object): Record<string, FactValue> | undefined {
  const safe: Record<string, FactValue> = {}
  let count = 0
  for (const key of Object.keys(facts)) {
    if (count === FACTS_MAX) break
    if (key === '__proto__' || key.length > 64) continue
    const value = read(facts, key)
    if (typeof value === 'string') safe[key] = safeText(value, FACT_MAX)
    else if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) safe[key] = value
    else continue
    count++
  }
  return count > 0 ? safe : undefined
}

export interface FailureInput {
  readonly kind: Kind
  readonly code: string
  readonly message?: string
  readonly retryAfterMs?: number
  readonly advice?: string
  readonly layer?: Layer
  readonly facts?: Readonly<Record<string, FactValue>>
  readonly cause?: unknown
}

/** An Error that carries a Failure; throw it to speak in our vocabulary. */
export interface FailureError extends Error {
  readonly failure: Failure
  toJSON(): Failure
}

const ADVICE: Readonly<Record<Kind, string>> = {
  transient: 'Wait a little and try again; if it keeps failing, look at the service that was called.',
  rate_limited: 'Wait until the limit resets, or ask for a higher one.',
  syntax: 'Ask again with the parse error, or repair the answer locally.',
  semantic: 'Ask again with the rejected fields, or use a stronger model.',
  refused: 'Have a person look at the input; the same call will be refused again.',
  final: 'Change the request or the configuration; repeating it cannot help.',
  conflict: 'Nothing: someone else did it first.',
  exhausted: 'Raise the limit, wait for its window, or hand the work to a person.',
  interrupted: 'Nothing: the work starts again soon.',
}

function refuse(field: string, value: unknown, allowed: string): never {
  throw new TypeError(`failure(): ${field} is ${describe(value)}, allowed: ${allowed}`)
}

/** A short, safe rendering of a wrong value for an error message. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(safeText(value, 60))
  if (typeof value === 'number' || typeof value === 'boolean' || value === undefined || value === null)
    return String(value)
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}

/**
 * Make a throwable failure: `throw failure({ kind: 'semantic', code: 'invoice.total', message: '…' })`.
 * `classify` gives back exactly this Failure, also through wrappers, JSON and a second copy of the package.
 */
export function failure(input: FailureInput): FailureError {
  if (typeof input !== 'object' || input === null) refuse('input', input, 'an object with kind and code')
  const { kind, code, message, retryAfterMs, advice, layer, facts } = input
  if (!KIND_SET.has(kind)) refuse('kind', kind, KINDS.join(', '))
  if (typeof code !== 'string' || code.length > CODE_LENGTH_MAX || !CODE_SHAPE.test(code)) {
    refuse('code', code, `a name such as "invoice.total", at most ${CODE_LENGTH_MAX} characters`)
  }
  if (message !== undefined && typeof message !== 'string') refuse('message', message, 'a string')
  if (advice !== undefined && typeof advice !== 'string') refuse('advice', advice, 'a string')
  if (layer !== undefined && layer !== 'infrastructure' && layer !== 'workflow')
    refuse('layer', layer, 'infrastructure, workflow')
  if (
    retryAfterMs !== undefined &&
    !(typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs) && retryAfterMs >= 0)
  ) {
    refuse('retryAfterMs', retryAfterMs, 'a finite number of milliseconds, 0 or more')
  }
  if (facts !== undefined && (typeof facts !== 'object' || facts === null || Array.isArray(facts)))
    refuse('facts', facts, 'a flat object')
  const record = sanitise({
    kind,
    code,
    layer: layer ?? layerOf(kind),
    message: message ?? code,
    retryAfterMs,
    advice: advice ?? ADVICE[kind],
    rule: 'own/thrown',
    facts,
  }) as Failure
  const error = new Error(record.message, 'cause' in input ? { cause: input.cause } : undefined)
  error.name = 'FailureError'
  Object.defineProperties(error, {
    [BRAND]: { value: record },
    failure: { value: record },
    code: { value: record.code },
    toJSON: { value: () => record },
  })
  return error as FailureError
}

/** The Failure that a thrown `failure(…)` carries, if it is one. */
export function failureOf(error: unknown): Failure | undefined {
  return (typeof error === 'object' && error !== null) || typeof error === 'function' ? ownFailure(error) : undefined
}
