/**
 * The part of the event catalogue that tells of incidents. It is spread into the catalogue; nothing else reads it.
 */
import { formatDuration } from '../time/duration.ts'
import { count, entry, instant, maybe, millis, text, word } from './event-entry.ts'

const INCIDENT = {
  incident: text('Id of the incident.'),
  tier: count('Its tier, 1 to 4.'),
  subject: text('What it is about: `collection:archives`, `task:summarize`.'),
} as const

const OWNER = text('Whose it is.')

const closed = (words: string) => (/[.!?…]$/.test(words) ? words : `${words}.`)

export const INCIDENT_EVENTS = {
  'incident.opened': entry(
    'error',
    'A threshold was passed, and somebody has to look.',
    {
      ...INCIDENT,
      owner: OWNER,
      says: text('What was seen.'),
      respondBy: maybe(instant('When it is late if nobody has acknowledged it.')),
      resolveBy: maybe(instant('When it is late if it is not resolved.')),
    },
    ({ incident, tier, owner, says, respondBy }, { time }) =>
      `${says}. Incident ${incident}, tier ${tier}, ${owner}${respondBy === undefined ? '' : ` by ${time(respondBy)}`}.`,
  ),
  'incident.acknowledged': entry(
    'info',
    'Somebody looks after an incident.',
    { ...INCIDENT, by: text('Who.'), afterMs: millis('How long after it opened.') },
    ({ incident, by, afterMs }) => `Incident ${incident} is with ${by}, ${formatDuration(afterMs)} after it opened.`,
  ),
  'incident.overdue': entry(
    'error',
    'The owner of an incident is late. Told once for the response and once for the resolution.',
    {
      ...INCIDENT,
      owner: OWNER,
      of: word(['response', 'resolution'], 'What is late.'),
      since: instant('When it was due.'),
    },
    ({ incident, owner, of, since }, { time }) =>
      of === 'response'
        ? `Nobody has acknowledged incident ${incident}; ${owner} was due at ${time(since)}.`
        : `Incident ${incident} is not resolved; ${owner} was due at ${time(since)}.`,
  ),
  'incident.resolved': entry(
    'info',
    'An incident is over: a person said so, or at tier 2 the breach is gone.',
    {
      ...INCIDENT,
      by: text('Who resolved it.'),
      note: text('What they wrote.'),
      lastedMs: millis('From its opening.'),
    },
    ({ incident, by, note, lastedMs }) =>
      closed(`Incident ${incident} is resolved by ${by} after ${formatDuration(lastedMs)}: ${note}`),
  ),
} as const
