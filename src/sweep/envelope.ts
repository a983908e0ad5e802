/**
 * Events as they travel: the envelope that the sweep sends and the one in which services report a failure.
 * Reading is forgiving, since other people's services write; what cannot be read at all is told as such.
 */
import { type ClassifyOptions, classify } from '../failure/classify.ts'
import { fingerprint } from '../failure/fingerprint.ts'
import type { DocumentFailure } from '../ports/source.ts'

/** The version of the envelope, as in `schemas/event.schema.json`. */
const ENVELOPE_VERSION = '1.0.0'

/** A document as JSON text is cut here: an event names a document, it does not carry a film. */
export const BODY_MAX = 1_000_000

export interface Beginning {
  readonly collection: string
  readonly id: string
  readonly attempt: number
  readonly generation: number
}

/** Stable over every resend of one attempt, and over every sweeper that may send it. */
export const eventId = ({ collection, id, generation, attempt }: Beginning): string =>
  `sweep/${collection}/${id}/${generation}.${attempt}`

export function eventBody(type: string, of: Beginning, data: Readonly<Record<string, unknown>>, at: number): string {
  return JSON.stringify({
    event_type: type,
    event_id: eventId(of),
    timestamp: new Date(at).toISOString(),
    version: ENVELOPE_VERSION,
    data,
    retry: { collection: of.collection, document_id: of.id, attempt: of.attempt, generation: of.generation },
  })
}

export interface HeardFailure {
  readonly failure: DocumentFailure
  readonly data: Readonly<Record<string, unknown>>
  /** Which attempt failed, when the service says so. */
  readonly attempt?: number
  readonly generation?: number
}

/**
 * A failure event; undefined when the text is none. `messageId` stands in when the event has no id of its own. Without either, what says
 * the same again cannot be told from the same again: it counts as news, because a failure that is missed costs a day.
 */
export function readFailure(
  body: string,
  messageId: string | undefined,
  now: number,
  options: Pick<ClassifyOptions, 'rules'> = {},
): HeardFailure | undefined {
  const event = parsed(body)
  if (event === undefined) return undefined
  const data = isRecord(event['data']) ? event['data'] : event
  const name = text(data['error_type']) ?? text(event['error_type'])
  const message = text(data['error_message']) ?? text(data['error']) ?? text(data['message']) ?? name
  if (message === undefined) return undefined
  const told = record(data['retry']) ?? record(event['retry'])
  const attempt = whole(told?.['attempt']) ?? whole(data['attempt'])
  const generation = whole(told?.['generation'])
  const code = data['error_code'] ?? data['code']
  const failure = failureOf({ name, message, code, retryAfter: data['retry_after'] }, now, options)
  const id = text(event['event_id']) ?? messageId
  return {
    data,
    failure: id === undefined ? failure : { ...failure, event: id.slice(0, 200) },
    ...(attempt === undefined ? {} : { attempt }),
    ...(generation === undefined ? {} : { generation }),
  }
}

/** Whatever was thrown or told, as it is kept in a document. */
export function failureOf(thrown: unknown, at: number, options: Pick<ClassifyOptions, 'rules'> = {}): DocumentFailure {
  const failure = classify(thrown, { now: at, ...options })
  const { kind, code, message, advice, retryAfterMs } = failure
  const known = { at, kind, code, message, advice, fingerprint: fingerprint(failure) }
  return retryAfterMs === undefined ? known : { ...known, retryAfterMs }
}

function parsed(body: string): Readonly<Record<string, unknown>> | undefined {
  if (body.length > BODY_MAX) return undefined
  try {
    return record(JSON.parse(body))
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const record = (value: unknown) => (isRecord(value) ? value : undefined)
const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
const whole = (value: unknown) => (Number.isInteger(value) && (value as number) >= 0 ? (value as number) : undefined)
