/**
 * Events as log lines: the structured fields and the sentence, at the level of the catalogue.
 * It knows pino's call shape and no logger: anything with four methods will do.
 */

import { levelOf, type RepriseEvent, sentenceOf } from '../run/event.ts'
import type { Level } from '../run/event-entry.ts'
import { processRedactor, type Redact } from './redact.ts'

/** What pino and its look-alikes have in common: fields first, the sentence second. */
export type EventLogger = {
  readonly [L in Level]: (fields: object, message: string) => void
} & {
  /** pino's; without it every event is handed over and the logger sorts. */
  readonly isLevelEnabled?: (level: Level) => boolean
}

export interface LogEventsOptions {
  /** IANA zone of the instants in sentences; UTC when absent. Fields always hold epoch milliseconds. */
  readonly zone?: string
  readonly redact?: Redact
}

/**
 * A listener that writes every event to `logger`.
 * @example reprise.on('*', logEvents(pino()))
 */
export function logEvents(logger: EventLogger, options: LogEventsOptions = {}): (event: RepriseEvent) => void {
  const { zone, redact = processRedactor() } = options
  return (event) => {
    const level = levelOf(event)
    if (logger.isLevelEnabled?.(level) === false) return
    const clean = redact(event)
    logger[level](fieldsOf(clean), sentenceOf(clean, zone))
  }
}

/** `level`, `name` and `msg` are the logger's own words, so an event's name is `event` and a handler's words are the message. */
function fieldsOf(event: RepriseEvent): object {
  if (event.name === 'log') {
    const { name, level: _level, message: _message, ...rest } = event
    return { event: name, ...rest }
  }
  const { name, ...rest } = event
  return { event: name, ...rest }
}
