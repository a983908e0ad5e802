/**
 * The part of the event catalogue that tells of holds. It is spread into the catalogue; nothing else reads it.
 */
import { entry, instant, maybe, text } from './event-entry.ts'

const WHAT = text('What is held: `resource:gemini:flash`, `task:summarize`, `category:import`.')

/** `resource:gemini:flash` is read as `gemini:flash`; the others keep their word. */
export const heldName = (what: string): string => what.replace(/^resource:/, '').replace(/^(task|category):/, '$1 ')

export const HOLD_EVENTS = {
  'hold.set': entry(
    'warn',
    'A task, resource or category is held for everyone: nobody claims from it before it ends.',
    {
      what: WHAT,
      until: maybe(instant('When it ends by itself; absent: when it is released.')),
      by: text('Who said so: the code of the failure that told how long, or an operator.'),
      message: text('In the words of the one who said so, masked.'),
      foundBy: maybe(text('The run that found out.')),
      worker: maybe(text('The worker that found out.')),
    },
    ({ what, until, by }, { time }) =>
      `${heldName(what)} is held for everyone ${until === undefined ? 'until it is released' : `until ${time(until)}`} (${by}).`,
  ),
  'hold.slowed': entry(
    'info',
    'An answer said that little may still be asked of a resource, or told a call to wait: it is held for a short while for everyone else.',
    {
      what: WHAT,
      until: instant('When it ends by itself.'),
      by: text('The header that said so, or the code of the failure that did.'),
      left: text('What is left, in words, or those of the refusal.'),
      foundBy: text('The run that got the answer.'),
      worker: text('Its worker.'),
    },
    ({ what, until, by, left }, { time }) =>
      `${heldName(what)} is slowed for everyone until ${time(until)}: ${left} (${by}).`,
  ),
  'hold.probe': entry(
    'info',
    'A hold has ended and one run goes first; how it ends decides for all others.',
    { what: WHAT, first: text('Id of the run that goes first.'), worker: text('The worker that executes it.') },
    ({ what, first }) => `${heldName(what)} may be open again: run ${first} goes first.`,
  ),
  'hold.released': entry(
    'info',
    'A hold is over: its probe got an answer, or an operator released it.',
    {
      what: WHAT,
      by: text('The run that went first, or the operator.'),
      worker: maybe(text('The worker of that run.')),
    },
    ({ what, by }) => `${heldName(what)} is open again (${by}).`,
  ),
} as const
