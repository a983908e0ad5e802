/**
 * The part of the event catalogue that tells of people and what they are asked. It is spread into the catalogue; nothing else reads it.
 */
import { entry, instant, maybe, millis, text, word } from './event-entry.ts'
import { ATTEMPT, RUN } from './event-fields.ts'

const ASKING = {
  ...ATTEMPT,
  question: text('Name of the question inside the handler.'),
  queue: text('The desk that it lies on.'),
} as const

const ACT = {
  ...RUN,
  queue: text('The desk that it lies on.'),
  by: text('The person.'),
} as const

const WAITED = millis('How long the run waited for it, from the question to the act.')

export const REVIEW_EVENTS = {
  'review.asked': entry(
    'debug',
    'A handler asked a person and waits for the answer without holding a slot.',
    { ...ASKING, dueAt: maybe(instant('When the person is overdue.')) },
    ({ question, queue, dueAt }, { time }) =>
      `${question} is asked at ${queue}${dueAt === undefined ? '' : `, due by ${time(dueAt)}`}.`,
  ),
  'review.taken': entry(
    'info',
    'A person took a run in review: nobody else gets it until the lease ends.',
    { ...ACT, until: instant('When the lease ends.') },
    ({ run, by, until }, { time }) => `Run ${run} is in the hands of ${by} until ${time(until)}.`,
  ),
  'review.answered': entry(
    'info',
    'A person answered, and the run goes on with it.',
    {
      ...ACT,
      how: word(
        ['accepted', 'corrected', 'given'],
        'The draft as it is, another value, or the result outright where no question was asked.',
      ),
      waitedMs: WAITED,
    },
    ({ run, by, how }) =>
      how === 'given' ? `The result of run ${run} is given by ${by}.` : `The answer for run ${run} is ${how} by ${by}.`,
  ),
  'review.sent_back': entry(
    'info',
    'A person sent a run back to be tried again.',
    { ...ACT, to: maybe(text('The rung that it goes back to.')), waitedMs: WAITED },
    ({ run, by, to }) => `Run ${run} is sent back${to === undefined ? '' : ` to ${to}`} by ${by}.`,
  ),
  'review.rejected': entry(
    'warn',
    'A person rejected what a run is about: there is no right answer to it.',
    { ...ACT, reason: text('In the person’s words.'), waitedMs: WAITED },
    ({ run, by, reason }) => `Run ${run} is rejected by ${by}: ${reason.trim().replace(/\.$/, '')}.`,
  ),
  'review.overdue': entry(
    'warn',
    'Nobody answered in time, and the handler is told so.',
    { ...ASKING, since: instant('When it fell due.') },
    ({ question, queue, since }, { time }) => `${queue} has not answered ${question}; due since ${time(since)}.`,
  ),
} as const
