/**
 * The part of the event catalogue that tells of documents in other services' collections. It is spread into the catalogue; nothing
 * else reads it.
 */
import { formatDuration } from '../time/duration.ts'
import { count, entry, instant, maybe, millis, text, word } from './event-entry.ts'

const COLLECTION = text('The collection.')
const DOCUMENT = text('The document, by the collection’s id field.')

/** A text of somebody else, made into a sentence. */
const closed = (text: string) => (/[.!?…]$/.test(text) ? text : `${text}.`)

export const SWEEP_EVENTS = {
  'sweep.passed': entry(
    'info',
    'A pass over all collections is done.',
    {
      collections: count('How many were looked at.'),
      begun: count('Documents whose next attempt was sent.'),
      ended: count('Documents that ran out of attempts.'),
      waiting: count('Documents whose backoff has not passed.'),
      stuck: count('Documents that were found silent.'),
      errors: count('What went wrong, each counted once.'),
      ms: millis('How long it took.'),
    },
    ({ begun, ended, waiting, stuck, errors, ms }) =>
      `Swept in ${formatDuration(ms)}: ${begun} begun again, ${ended} failed for good, ${waiting} waiting, ${stuck} found stuck${errors > 0 ? `, ${errors} errors` : ''}.`,
  ),
  'sweep.begun': entry(
    'debug',
    'A document’s next attempt is counted and its event sent.',
    {
      collection: COLLECTION,
      document: DOCUMENT,
      attempt: count('Number of the attempt.'),
      message: text('Id of the event that was sent, the same for every resend; empty without a bus.'),
    },
    ({ collection, document, attempt }) => `${collection} ${document} begins attempt ${attempt}.`,
  ),
  'sweep.ended': entry(
    'error',
    'A document ran out of attempts and failed for good.',
    {
      collection: COLLECTION,
      document: DOCUMENT,
      attempts: count('Attempts that were made.'),
      lastAttemptAt: maybe(instant('When the last one began.')),
      lastError: maybe(text('What the last failure said, masked.')),
      code: maybe(text('Its code.')),
      reason: text('Why there is no other attempt.'),
    },
    ({ collection, document, attempts, lastError, reason }) =>
      closed(
        `${collection} ${document} failed for good after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${reason.replace(/\.$/, '')}${lastError === undefined ? '' : `; ${lastError}`}`,
      ),
  ),
  'sweep.dependency': entry(
    'warn',
    'What a collection’s service depends on fell sick or is well again.',
    {
      collection: COLLECTION,
      state: word(['sick', 'well'], '`sick`: only probes go out and delays are longer.'),
      processed: count('Documents that were processed, of those looked at.'),
      troubled: count('Documents that failed, of those looked at.'),
    },
    ({ collection, state, processed, troubled }) =>
      state === 'sick'
        ? `${collection}: only ${processed} of ${processed + troubled} were processed; until that is better only probes go out.`
        : `${collection} is well again: ${processed} of ${processed + troubled} were processed.`,
  ),
  'sweep.trouble': entry(
    'warn',
    'Something kept the sweep from doing a part of its work; the next pass goes on.',
    {
      collection: maybe(COLLECTION),
      type: text('What kind of trouble: `source.unavailable`, `bus.unavailable`, `unroutable`, `unreadable`, ….'),
      message: text('What it said, masked.'),
    },
    ({ collection, type, message }) =>
      closed(`${collection === undefined ? '' : `${collection}: `}${message} (${type})`),
  ),
} as const
