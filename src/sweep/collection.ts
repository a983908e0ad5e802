/**
 * A collection under the sweep's care: how its documents are read, how patient it is with them, and which event begins them again.
 * Checked once, at the door; a mistake is told with the field, the value and what is allowed.
 */
import { checkBackoff, exponential } from '../policy/backoff.ts'
import type { PolicyInput } from '../policy/complete-policy.ts'
import { definePolicy } from '../policy/define-policy.ts'
import type { Policy } from '../policy/policy.ts'
import { documents as documentsPreset, type PresetName, presets } from '../policy/presets.ts'
import type { CollectionShape } from '../ports/source.ts'
import { type Duration, parseDuration } from '../time/duration.ts'

export interface CollectionInput {
  readonly name: string
  /** The field that events and operators name a document by. @default '_id' */
  readonly idField?: string
  /** @default 'status' */
  readonly statusField?: string
  /** @default 'attemptCount' */
  readonly attemptsField?: string
  /** @default 'lastAttemptTime' */
  readonly lastAttemptField?: string
  /** Absent: the time inside an ObjectId, else when the sweep first saw the document. */
  readonly createdField?: string
  /** Where the sweep keeps what only it writes. @default 'reprise' */
  readonly marksField?: string
  /** How the services store instants. @default 'date' */
  readonly dates?: 'date' | 'iso'
  readonly status?: {
    /** @default ['pending', 'processing'] */
    readonly open?: readonly string[]
    /** @default ['processed'] */
    readonly done?: readonly string[]
    /** @default 'failed_max_retries' */
    readonly failed?: string
    /** @default 'pending' */
    readonly pending?: string
  }
  /** Deliveries, the first included. @default 3 */
  readonly maxAttempts?: number
  /** @default '5m' */
  readonly baseDelay?: Duration
  /** @default '60m' */
  readonly maxDelay?: Duration
  /** Without a sign of life for so long, a document is taken for lost. @default '24h' */
  readonly stuckAge?: Duration
  /** What each kind of failure is worth, over the numbers above. */
  readonly policy?: PolicyInput | PresetName
  /** The event that begins a document again. */
  readonly event: {
    readonly type: string
    /** What queues are bound to. */
    readonly topic: string
    /** The event's `data`. The document by its id field unless given. */
    readonly data?: (document: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>
  }
  /** Where services report failures. Absent: only silence is noticed. */
  readonly failures?: {
    readonly queue: string
    readonly topics?: readonly string[]
    /** Ids of the documents that an event's `data` names. The value of the id field unless given. */
    readonly ids?: (data: Readonly<Record<string, unknown>>) => readonly string[]
  }
  /**
   * Who counts attempts. `sweep`: it counts each delivery once. `service`: the service counts when it begins; the sweep counts its
   * deliveries beside that, so that a service that never begins is bounded too. @default 'sweep'
   */
  readonly countedBy?: 'sweep' | 'service'
  /** @default 'oldest' */
  readonly order?: 'oldest' | 'recent'
  /** Documents begun again in one pass, at most. @default 1000 */
  readonly limit?: number
  /** Documents that failed for good are moved to this collection. Absent: they stay. */
  readonly deadLetter?: string
}

export interface Collection {
  readonly shape: CollectionShape
  readonly policy: Policy
  readonly stuckAgeMs: number
  readonly event: Required<CollectionInput['event']>
  readonly failures?: Required<NonNullable<CollectionInput['failures']>>
  readonly countedBy: 'sweep' | 'service'
  readonly order: 'oldest' | 'recent'
  readonly limit: number
  readonly deadLetter?: string
}

const FIELDS: readonly string[] = [
  'name',
  'idField',
  'statusField',
  'attemptsField',
  'lastAttemptField',
  'createdField',
  'marksField',
  'dates',
  'status',
  'maxAttempts',
  'baseDelay',
  'maxDelay',
  'stuckAge',
  'policy',
  'event',
  'failures',
  'countedBy',
  'order',
  'limit',
  'deadLetter',
] satisfies (keyof CollectionInput)[]

/** The fields of its parts. */
const PARTS = {
  status: ['open', 'done', 'failed', 'pending'],
  event: ['type', 'topic', 'data'],
  failures: ['queue', 'topics', 'ids'],
} as const

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,119}$/
const FIELD = /^[A-Za-z_][A-Za-z0-9_.-]{0,119}$/
const WORD_MAX = 200
export const ATTEMPTS_MAX = 100
const LIMIT_MAX = 1_000_000
const STUCK_MIN_MS = 1_000

export function defineCollection(input: CollectionInput): Collection {
  if (typeof input !== 'object' || input === null)
    refuse('collections[]', input, 'a collection, such as { name, event: { type, topic } }')
  const at = `collections.${String(input.name)}`
  onlyFields(input, FIELDS, at)
  for (const [part, fields] of Object.entries(PARTS)) {
    const given = input[part as keyof typeof PARTS]
    if (given !== undefined) onlyFields(given, fields, `${at}.${part}`)
  }
  matching(input.name, NAME, 'collections[].name', 'a name of letters, digits, "_", "." and "-"')
  const fieldNamed = (name: keyof CollectionInput, fallback: string) =>
    matching((input[name] as string | undefined) ?? fallback, FIELD, `${at}.${name}`, 'the name of a field')
  const idField = fieldNamed('idField', '_id')
  const { createdField, event, failures, deadLetter } = input
  callable(event?.data, `${at}.event.data`)
  callable(failures?.ids, `${at}.failures.ids`)
  if (createdField !== undefined) matching(createdField, FIELD, `${at}.createdField`, 'the name of a field')
  if (deadLetter !== undefined) matching(deadLetter, NAME, `${at}.deadLetter`, 'the name of a collection')
  if (deadLetter === input.name) refuse(`${at}.deadLetter`, deadLetter, 'another collection than its own')
  const byId = (record: Readonly<Record<string, unknown>>) => record[idField] ?? nested(record, idField)
  return Object.freeze({
    shape: {
      name: input.name,
      idField,
      statusField: fieldNamed('statusField', 'status'),
      attemptsField: fieldNamed('attemptsField', 'attemptCount'),
      lastAttemptField: fieldNamed('lastAttemptField', 'lastAttemptTime'),
      ...(createdField === undefined ? {} : { createdField }),
      marksField: fieldNamed('marksField', 'reprise'),
      dates: oneOf(input.dates ?? 'date', ['date', 'iso'], `${at}.dates`),
      status: statusesOf(input, at),
    },
    policy: policyOf(input, at),
    stuckAgeMs: stuckAgeOf(input, at),
    event: {
      type: word(event?.type, `${at}.event.type`),
      topic: word(event?.topic, `${at}.event.topic`),
      data: event.data ?? ((document) => ({ [idField]: byId(document) })),
    },
    ...(failures === undefined
      ? {}
      : {
          failures: {
            queue: word(failures.queue, `${at}.failures.queue`),
            topics: words(failures.topics ?? [], `${at}.failures.topics`),
            ids: failures.ids ?? ((data) => (byId(data) === undefined ? [] : [String(byId(data))])),
          },
        }),
    countedBy: oneOf(input.countedBy ?? 'sweep', ['sweep', 'service'], `${at}.countedBy`),
    order: oneOf(input.order ?? 'oldest', ['oldest', 'recent'], `${at}.order`),
    limit: whole(input.limit ?? 1_000, 1, LIMIT_MAX, `${at}.limit`),
    ...(deadLetter === undefined ? {} : { deadLetter }),
  })
}

function statusesOf({ status = {} }: CollectionInput, at: string): CollectionShape['status'] {
  const open = status.open ?? ['pending', 'processing']
  const done = status.done ?? ['processed']
  const failed = status.failed ?? 'failed_max_retries'
  const pending = status.pending ?? open[0] ?? 'pending'
  for (const [field, list] of Object.entries({ open, done }))
    if (!Array.isArray(list) || list.length === 0) refuse(`${at}.status.${field}`, list, 'a list of status names')
  const all = [...open, ...done, failed]
  for (const name of all) word(name, `${at}.status`)
  if (new Set(all).size < all.length) refuse(`${at}.status`, all.join(', '), 'each status name in one place only')
  if (!open.includes(pending)) refuse(`${at}.status.pending`, pending, `one of the open ones: ${open.join(', ')}`)
  return { open, done, failed, pending }
}

/** The numbers of a collection as a policy; a policy that was given goes before them, kind by kind. */
function policyOf(input: CollectionInput, at: string): Policy {
  const maxAttempts = whole(input.maxAttempts ?? 3, 1, ATTEMPTS_MAX, `${at}.maxAttempts`)
  const base = parseDuration(input.baseDelay ?? '5m', `${at}.baseDelay`)
  const cap = parseDuration(input.maxDelay ?? '60m', `${at}.maxDelay`)
  if (cap < base) refuse(`${at}.maxDelay`, input.maxDelay, `at least the base delay, ${base} ms`)
  const backoff = checkBackoff(exponential({ base, cap, jitter: 'none' }), `${at}.backoff`)
  const again = { recourse: 'retry', maxAttempts, backoff, whenSpent: 'fail' } as const
  const numbers: PolicyInput = {
    name: input.name,
    maxAttempts,
    unknownMaxAttempts: maxAttempts,
    kinds: {
      rate_limited: again,
      transient: again,
      syntax: again,
      semantic: again,
      interrupted: again,
    },
  }
  const own = definePolicy(numbers, documentsPreset)
  if (input.policy === undefined) return own
  if (typeof input.policy !== 'string') return definePolicy(input.policy, own)
  if (!Object.hasOwn(presets, input.policy))
    refuse(`${at}.policy`, input.policy, `a policy, or one of ${Object.keys(presets).join(', ')}`)
  return presets[input.policy]
}

/** Without any age at all everything is stuck always, and every pass would cost every document an attempt. */
function stuckAgeOf({ stuckAge = '24h' }: CollectionInput, at: string): number {
  const ms = parseDuration(stuckAge, `${at}.stuckAge`)
  return ms >= STUCK_MIN_MS ? ms : refuse(`${at}.stuckAge`, stuckAge, '1s and more')
}

/** A value by its path. */
const nested = (record: Readonly<Record<string, unknown>>, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, part) =>
        typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[part] : undefined,
      record,
    )

function onlyFields(given: object, fields: readonly string[], at: string): void {
  if (typeof given !== 'object' || given === null) refuse(at, given, `an object of ${fields.join(', ')}`)
  for (const field of Object.keys(given))
    if (!fields.includes(field)) throw new RangeError(`${at}.${field} is not a field; allowed are ${fields.join(', ')}`)
}

function callable(value: unknown, field: string): void {
  if (value !== undefined && typeof value !== 'function') refuse(field, value, 'a function')
}

function words(value: unknown, field: string): readonly string[] {
  if (!Array.isArray(value)) return refuse(field, value, 'a list of words')
  return value.map((each) => word(each, field))
}

function matching(value: unknown, pattern: RegExp, field: string, allowed: string): string {
  return typeof value === 'string' && pattern.test(value) && !value.includes('__proto__')
    ? value
    : refuse(field, value, allowed)
}

function word(value: unknown, field: string): string {
  const isWord = typeof value === 'string' && value !== '' && value.length <= WORD_MAX && !/[\s\p{Cc}]/u.test(value)
  return isWord ? value : refuse(field, value, `a word of 1 to ${WORD_MAX} characters without spaces`)
}

function oneOf<const Word extends string>(value: unknown, words: readonly Word[], field: string): Word {
  return words.find((each) => each === value) ?? refuse(field, value, words.join(' or '))
}

function whole(value: unknown, min: number, max: number, field: string): number {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max
    ? (value as number)
    : refuse(field, value, `a whole number from ${min} to ${max}`)
}

function refuse(field: string, value: unknown, allowed: string): never {
  throw new RangeError(`${field}: ${JSON.stringify(value) ?? 'nothing'} is not allowed; allowed is ${allowed}`)
}
