/**
 * An event as a value: the union that follows from the catalogue, its level and its sentence.
 * Logs, traces, metrics and `reprise.on` are fed with it; who emits it and who listens is not known here.
 */

import { say } from '../policy/say.ts'
import { clockTime } from '../time/zone.ts'
import { EVENTS } from './event-catalogue.ts'
import type { Level, RecordOf, Voice } from './event-entry.ts'

export type EventName = keyof typeof EVENTS

export const EVENT_NAMES = Object.keys(EVENTS) as readonly EventName[]

/** One event by its name. `at` is store time. */
export type EventOf<Name extends EventName> = {
  readonly [N in Name]: { readonly name: N; readonly at: number } & RecordOf<(typeof EVENTS)[N]['fields']>
}[Name]

/** Everything that can be told, discriminated by `name`. */
export type RepriseEvent = EventOf<EventName>

/** Where the engine hands its events to. It must not throw and must not be waited for. */
export type Emit = (event: RepriseEvent) => void

/** The catalogue's level; a handler's own words keep the level that it chose. */
export function levelOf(event: RepriseEvent): Level {
  return event.name === 'log' ? event.level : EVENTS[event.name].level
}

/** The event as one sentence. Instants are read in `zone`, UTC unless told. */
export function sentenceOf(event: RepriseEvent, zone = 'UTC'): string {
  const voice: Voice = {
    time: (at) => clockTime(at, zone, event.at),
    say: (why) => say(why, { now: event.at, zone }),
  }
  // The compiler cannot see that an entry and an event of the same name belong together.
  const { sentence } = EVENTS[event.name] as { readonly sentence: (event: RepriseEvent, voice: Voice) => string }
  return sentence(event, voice)
}
