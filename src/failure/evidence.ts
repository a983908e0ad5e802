/**
 * The Evidence record: everything about a thrown value that a rule may look at, gathered in one bounded walk.
 * It holds facts, not judgements; which of them counts is decided by the rules.
 */
import type { Told } from './delay.ts'
import type { FactValue, Failure } from './failure.ts'
import type { HeaderMap } from './headers.ts'

/** A `field` is a status by name; a `body` is a number under `code`; `prose` was read from a sentence. */
export type Trust = 'field' | 'body' | 'prose'

export interface Status {
  readonly value: number
  readonly trust: Trust
}

export interface Token {
  readonly value: string
  /** The property it stood in: `code`, `name`, `reason`, `errorLabels`. */
  readonly field: string
}

export interface DelayField {
  readonly field: string
  readonly value: unknown
}

export interface Evidence {
  readonly statuses: Status[]
  readonly tokens: Token[]
  /** Sentences, outermost first, without the JSON that stood in them. */
  readonly texts: string[]
  headers: HeaderMap | undefined
  readonly told: Told[]
  /** Delay fields as found: they are read after the headers, whose Date may be needed. */
  readonly delayFields: DelayField[]
  readonly facts: Record<string, FactValue>
  /** What the SDK or server said about repeating. */
  retryable: boolean | undefined
  /** A Failure found inside: it was classified before, or thrown in our own words. */
  own: Failure | undefined
  /** `now` for absolute times: the response's own Date header, else the caller's. */
  now: number | undefined
  /** Bit set of those who seem to speak, see SPEAKERS. */
  speakers: number
  /** Characters of text gathered so far. */
  chars: number
}

export function emptyEvidence(now: number | undefined): Evidence {
  return {
    statuses: [],
    tokens: [],
    texts: [],
    headers: undefined,
    told: [],
    delayFields: [],
    facts: {},
    retryable: undefined,
    own: undefined,
    now,
    speakers: 0,
    chars: 0,
  }
}
