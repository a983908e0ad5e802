/**
 * The part of the event catalogue that tells of other people's clients and graphs: what an adapter repeats in silence, what it would
 * do, and what a client sends behind its back. It is spread into the catalogue; nothing else reads it.
 */
import { formatDuration } from '../time/duration.ts'
import { count, entry, failureField, maybe, millis, text, word } from './event-entry.ts'

/** An adapter also works outside of a run, so everything that names one may be absent. */
const WHERE = {
  run: maybe(text('Id of the run in whose attempt it happened.')),
  task: maybe(text('Name of its task.')),
  key: maybe(text('The key it was submitted with.')),
  generation: maybe(count('Generation of the run.')),
  attempt: maybe(count('Number of the execution.')),
  worker: maybe(text('The worker that executes it.')),
} as const

const CLIENT = {
  ...WHERE,
  sdk: text('The client: `bigquery`, `ai`, `fetch`, or a name that was given.'),
  operation: text('What was asked: `POST /queries`, `generate gemini-flash`.'),
} as const

const requests = (number: number) => (number === 1 ? '1 request' : `${number} requests`)

export const CLIENT_EVENTS = {
  'client.repeated': entry(
    'info',
    'A request of a client failed on infrastructure and its adapter repeats it, silent to the end user.',
    {
      ...CLIENT,
      take: count('Number of the send that failed.'),
      delayMs: millis('From now to the repeat.'),
      code: text('Code of the failure.'),
      failure: failureField('What went wrong.'),
    },
    ({ sdk, operation, code, take, delayMs }) =>
      `${sdk}, ${operation}: take ${take} failed (${code}); repeated ${delayMs > 0 ? `in ${formatDuration(delayMs)}` : 'at once'}.`,
  ),
  'client.failed': entry(
    'warn',
    'An adapter could not cure a failure: it leaves as one classified failure, with its cause.',
    { ...CLIENT, takes: count('Requests that it cost.'), failure: failureField('What went wrong.') },
    ({ sdk, operation, takes, failure }) =>
      `${sdk}, ${operation}: failed after ${requests(takes)} (${failure.code}). ${failure.advice}`,
  ),
  'client.observed': entry(
    'info',
    'In mode `observe` a request failed in the end. The client’s own retries stayed; this is what Reprise would have done.',
    {
      ...CLIENT,
      requests: count('Requests that the client sent.'),
      would: word(['retry', 'escalate', 'fail', 'ignore'], 'What Reprise would have done about the failure.'),
      delayMs: maybe(millis('How long it would have waited.')),
      failure: failureField('What went wrong.'),
    },
    ({ sdk, operation, requests: sent, would, delayMs, failure }) =>
      `${sdk}, ${operation}: ${failure.code} after ${requests(sent)} of the client’s own; Reprise would ${would}${
        delayMs === undefined ? '' : ` in ${formatDuration(delayMs)}`
      }.`,
  ),
  'client.hidden_retries': entry(
    'warn',
    'A client sent more requests than the journal shows: somebody else retries too.',
    {
      ...CLIENT,
      requests: count('Requests that were seen on the wire.'),
      shown: count('Requests that the journal shows.'),
      hidden: count('The difference: retries that nobody decided here.'),
    },
    ({ sdk, operation, requests: sent, shown, hidden }) =>
      `${sdk}, ${operation}: ${requests(sent)} on the wire, ${shown} shown: ${hidden} hidden. Switch the client’s own retries off.`,
  ),
  'node.failed': entry(
    'warn',
    'A node of a graph failed on something that its workflow must know: visible to the user, with the count and the next step.',
    {
      ...WHERE,
      node: text('The node.'),
      retry: count('Number of the attempt that failed, from 1.'),
      of: count('Attempts that the policy allows for this kind.'),
      next: word(['retry', 'repair', 'escalate', 'person', 'fail'], 'What follows.'),
      failure: failureField('What went wrong.'),
    },
    ({ node, retry, of, next, failure }) =>
      `${node}: attempt ${retry} of ${of} failed (${failure.code}): ${failure.message.trim().replace(/\.$/, '')}. Next: ${next}.`,
  ),
} as const
