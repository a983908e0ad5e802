/**
 * The walk: turns any thrown value into Evidence, outermost object first, within named bounds.
 * It knows the shapes errors come in, not what they mean; it never throws and never calls into the value except to read it.
 */
import {
  CHARS_MAX,
  cut,
  DEPTH_MAX,
  ITEMS_MAX,
  KEYS_MAX,
  NODES_MAX,
  TEXT_MAX,
  TEXTS_MAX,
  TOKEN_LENGTH_MAX,
} from './bounds.ts'
import { findEmbedded } from './embedded.ts'
import { type Evidence, emptyEvidence } from './evidence.ts'
import { delaysInHeaders, gatherHeaders, type HeaderMap, responseTime } from './headers.ts'
import { ownFailure } from './own.ts'
import { propertyOf, ROLE, type Role } from './property-roles.ts'
import { readDelayField, readNumber, readToken } from './read-property.ts'
import { speakerBit } from './rule.ts'

const HTML = speakerBit('html')

interface Node {
  readonly value: object
  readonly depth: number
}

/** Read on class instances beside their own keys: Response, DOMException and many SDK errors keep them on the prototype. */
const PROBES = [
  'name',
  'message',
  'cause',
  'code',
  'status',
  'statusCode',
  'statusText',
  'headers',
  'errors',
  'reason',
  'type',
  'error',
  'response',
] as const

export function gather(thrown: unknown, now: number | undefined): Evidence {
  const evidence = emptyEvidence(now)
  const queue: Node[] = []
  if (typeof thrown === 'object' || typeof thrown === 'function') {
    if (thrown !== null) queue.push({ value: thrown, depth: 0 })
  } else if (typeof thrown === 'string') addText(evidence, queue, thrown, 0)
  for (let i = 0; i < queue.length && i < NODES_MAX; i++) {
    const node = queue[i] as Node
    if (isSeen(queue, i)) continue
    try {
      visit(evidence, queue, node)
    } catch {
      // A proxy's trap threw; what was read before stands.
    }
    if (evidence.own !== undefined) return evidence
  }
  if (evidence.headers !== undefined) readHeaders(evidence, evidence.headers)
  for (const { field, value } of evidence.delayFields) readDelayField(evidence, field, value)
  return evidence
}

/** Cycles and shared causes: the queue itself remembers, and its bound keeps this small. */
function isSeen(queue: readonly Node[], at: number): boolean {
  const value = queue[at]?.value
  for (let i = 0; i < at; i++) if (queue[i]?.value === value) return true
  return false
}

function readHeaders(evidence: Evidence, headers: HeaderMap): void {
  const now = responseTime(headers) ?? evidence.now
  evidence.now = now
  for (const told of delaysInHeaders(headers, now)) evidence.told.push(told)
  const should = headers.get('x-should-retry')
  if (should === 'true' || should === 'false') evidence.retryable = should === 'true'
  const type = headers.get('x-amzn-errortype')
  if (type !== undefined) readToken(evidence, 'x-amzn-errortype', type.split(':')[0] ?? type)
}

function read(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
}

function visit(evidence: Evidence, queue: Node[], node: Node): void {
  const { value, depth } = node
  const own = ownFailure(value)
  if (own !== undefined) {
    evidence.own = own
    return
  }
  if (Array.isArray(value)) {
    const length = Math.min(value.length, ITEMS_MAX)
    for (let i = 0; i < length; i++) enqueue(evidence, queue, read(value, String(i)), depth)
    return
  }
  const keys = Object.keys(value)
  const count = Math.min(keys.length, KEYS_MAX)
  for (let i = 0; i < count; i++) {
    const key = keys[i] as string
    const property = propertyOf(key)
    if (property === undefined) continue
    evidence.speakers |= property.speakers
    if (property.role !== undefined) readProperty(evidence, queue, value, key, property.role, depth)
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return
  for (const key of PROBES) {
    if (!Object.hasOwn(value, key) || !Object.prototype.propertyIsEnumerable.call(value, key)) {
      readProperty(evidence, queue, value, key, propertyOf(key)?.role ?? ROLE.text, depth)
    }
  }
}

function readProperty(evidence: Evidence, queue: Node[], owner: object, key: string, role: Role, depth: number): void {
  const value = read(owner, key)
  if (value === undefined || value === null) return
  switch (typeof value) {
    case 'string':
      if (value.length === 0 || role === ROLE.child) return
      if (role === ROLE.delay) evidence.delayFields.push({ field: key, value })
      else if (role === ROLE.text) addText(evidence, queue, value, depth)
      else if (role === ROLE.body) {
        // `{ error: 'ratelimited' }`: one word is a code as much as a sentence.
        if (value.length < TOKEN_LENGTH_MAX && /^[A-Za-z][\w.:/-]*$/.test(value)) readToken(evidence, key, value, owner)
        addText(evidence, queue, value, depth)
      } else if (!readToken(evidence, key, value, owner)) addText(evidence, queue, value, depth)
      return
    case 'number':
      if (role === ROLE.delay) {
        if (!isOwnBackoff(owner, key)) evidence.delayFields.push({ field: key, value })
      } else if (role !== ROLE.text) readNumber(evidence, key, value, owner)
      return
    case 'boolean':
      if (role === ROLE.flag && evidence.retryable === undefined) evidence.retryable = value
      return
    case 'object':
      if (role === ROLE.headers) {
        evidence.headers ??= new Map()
        gatherHeaders(value, evidence.headers)
      } else if (role === ROLE.delay) evidence.delayFields.push({ field: key, value })
      else if (role === ROLE.labels) readLabels(evidence, key, value)
      else if (role === ROLE.flag) readRetryTrait(evidence, key, value)
      else enqueue(evidence, queue, value, depth)
      return
    case 'function':
      if (key === 'cause') enqueue(evidence, queue, value, depth)
  }
}

/** The second AWS SDK notes the pause it would itself have made: nobody told it. */
function isOwnBackoff(owner: object, key: string): boolean {
  return key === 'retryDelay' && (read(owner, 'requestId') !== undefined || read(owner, 'time') !== undefined)
}

/** The third AWS SDK: `$retryable: { throttling: true }` on errors that its model calls retryable. */
function readRetryTrait(evidence: Evidence, key: string, value: object): void {
  evidence.retryable ??= true
  if (read(value, 'throttling') === true) readToken(evidence, key, 'Throttling')
}

function readLabels(evidence: Evidence, key: string, value: object): void {
  const items: unknown[] = Array.isArray(value) ? value : value instanceof Set ? [...value] : []
  for (const item of items.slice(0, ITEMS_MAX)) if (typeof item === 'string') readToken(evidence, key, item)
}

function enqueue(evidence: Evidence, queue: Node[], value: unknown, depth: number): void {
  if (depth >= DEPTH_MAX) return
  if (typeof value === 'string') addText(evidence, queue, value, depth)
  else if ((typeof value === 'object' || typeof value === 'function') && value !== null) {
    if (queue.length < NODES_MAX) queue.push({ value, depth: depth + 1 })
  }
}

/** Keep a sentence; JSON inside it becomes a node of its own and is left out of the sentence. */
function addText(evidence: Evidence, queue: Node[], text: string, depth: number): void {
  if (evidence.texts.length >= TEXTS_MAX || evidence.chars >= CHARS_MAX) return
  let rest = text
  if (depth < DEPTH_MAX && text.includes('{')) {
    const embedded = findEmbedded(text)
    if (embedded !== undefined) {
      queue.push({ value: embedded.value, depth: depth + 1 })
      const before = text.slice(0, embedded.start)
      const after = text.slice(embedded.end, embedded.end + TEXT_MAX)
      rest = after.length > 0 ? `${before} ${after}` : before
    }
  }
  // The parser met a tag: a page came where JSON was due, which no word in the sentence says.
  if (rest.length < TEXT_MAX && rest.includes('<') && /token ['"]?</.test(rest)) evidence.speakers |= HTML
  if (rest.length > TEXT_MAX) rest = cut(rest, TEXT_MAX)
  rest = rest.trim()
  if (rest.length === 0) return
  // SDKs repeat the body's message behind a status: what an outer sentence says already says nothing new.
  for (const known of evidence.texts) if (known.includes(rest)) return
  evidence.chars += rest.length
  evidence.texts.push(rest)
}
