/**
 * The faults that the simulator can play, as data: one entry each, with what goes over the wire in one sentence.
 * It does not know how any of them is written in a provider's format, nor how a client should understand it.
 */

/** Shown by `reprise sim --list` and in the guide, in this order. */
export const FAULTS = {
  ok: 'the right answer',
  'rate-limit': '429 that says how long to wait (RetryInfo; Retry-After)',
  'quota-day': '429 for the quota of the day',
  overloaded: '503, the model is overloaded',
  internal: '500, an internal error',
  'bad-gateway': '502 with a page of HTML where JSON was due',
  hang: 'no answer at all until the client gives up',
  reset: 'the connection is reset before the answer',
  torn: 'the connection is reset in the middle of the answer',
  truncated: 'the answer is cut in the middle, finish reason MAX_TOKENS',
  unclosed: 'JSON without its closing brackets, finish reason STOP',
  fenced: 'JSON inside a Markdown fence',
  sloppy: 'JSON with a comment, single quotes and a comma too many',
  prose: 'JSON with sentences around it',
  'no-json': 'sentences where JSON was due',
  'missing-fields': 'well-formed JSON without two of its required fields',
  'wrong-total': 'well-formed JSON whose total is wrong: the same wrong answer each time',
  'wrong-total-anew': 'well-formed JSON whose total is wrong: another wrong answer each time',
  'wrong-net': 'well-formed JSON whose net is not the sum of its lines',
  safety: 'the prompt is blocked by the safety filter',
  'safety-answer': 'the answer is withheld by the safety filter',
  empty: 'an answer without any text',
  'no-pages': '400, the document has no pages',
  'bad-key': '400, the API key is not valid',
  'unknown-model': '404, there is no such model',
} as const

export type FaultName = keyof typeof FAULTS

export const FAULT_NAMES = Object.keys(FAULTS) as readonly FaultName[]

export function isFaultName(value: unknown): value is FaultName {
  return typeof value === 'string' && Object.hasOwn(FAULTS, value)
}

/** One thing to play: a fault, and how long a `rate-limit` tells to wait. */
export interface Fault {
  readonly name: FaultName
  readonly retryAfterMs: number
}
