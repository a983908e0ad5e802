/**
 * What a provider's format must be able to do: read a request, and write replies and errors as that provider does.
 * Formats know nothing of documents, scripts or dice.
 */
import type { Fault } from './fault.ts'
import type { Question, Reply } from './question.ts'

export interface WireRequest {
  /** Path and query as they came, without the host. */
  readonly path: string
  readonly body: unknown
}

export interface WireResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

export interface Stamp {
  /** Distinct per request. */
  readonly id: string
  /** Epoch milliseconds. */
  readonly at: number
}

export interface Wire {
  /** The question, or undefined when the path is not of this format. Throws a RangeError when the body is wrong. */
  read(request: WireRequest): Question | undefined
  reply(question: Question, reply: Reply, stamp: Stamp): WireResponse
  /** The error that this fault is in this format; undefined for faults of the answer or of the connection. */
  error(fault: Fault, question: Question): WireResponse | undefined
  /** The client's mistake. */
  refuse(status: 400 | 404 | 413, message: string): WireResponse
}

export function jsonResponse(status: number, body: unknown, headers?: Readonly<Record<string, string>>): WireResponse {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(body, null, 2),
  }
}

/** Server-sent events, one per value. */
export function eventStream(events: ReadonlyArray<{ readonly event?: string; readonly data: string }>): WireResponse {
  const lines = events.map(({ event, data }) => `${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`)
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: lines.join('') }
}

/** A streamed answer comes in pieces of about this length. */
const PIECE_CHARACTERS = 80

export function piecesOf(text: string): string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length; at += PIECE_CHARACTERS) pieces.push(text.slice(at, at + PIECE_CHARACTERS))
  return pieces
}

/** The page that a proxy answers with when what is behind it does not. */
export const BAD_GATEWAY: WireResponse = {
  status: 502,
  headers: { 'content-type': 'text/html' },
  body: '<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n',
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
