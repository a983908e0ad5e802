/**
 * The part of the event catalogue that tells of ladders: who was asked, what was refused and why, who answered in the end. It is
 * spread into the catalogue; metrics count it, and nothing else reads it.
 */
import type { Kind } from '../failure/failure.ts'
import { count, entry, maybe, text, texts, usd, word, yes } from './event-entry.ts'
import { ATTEMPT } from './event-fields.ts'

const ASK = {
  ...ATTEMPT,
  ask: text('Name of the ask inside the handler.'),
  document: text('Hash of what is asked about: the same in all events of one document.'),
  rung: text('Name of the rung.'),
} as const

const TAKE = count('Number of the take on its rung, over all attempts.')

const WRONG = {
  syntax: 'cannot be read',
  empty: 'is empty',
  truncated: 'was cut off',
  semantic: 'does not pass the gate',
  refused: 'was refused by the provider (safety); never asked twice',
  bug: 'cannot be judged, because a rule threw',
} as const

/** The kind of failure that each of them is. */
export const REFUSAL_KINDS: Readonly<Record<keyof typeof WRONG, Kind>> = {
  syntax: 'syntax',
  empty: 'syntax',
  truncated: 'syntax',
  semantic: 'semantic',
  refused: 'refused',
  bug: 'final',
}

const REASONS = {
  spent: 'All its takes are used.',
  no_progress: 'Same failure, same answer: a third try cannot help.',
  refused: 'The provider refused: never asked twice.',
  exhausted: 'Its budget is used up.',
  bug: 'Its answer cannot be judged, because a rule threw.',
  overdue: 'Nobody there answered in time.',
  back: 'A person sent it back with a hint.',
  rejected: 'A person rejected it.',
} as const

const SOLVED = {
  first: 'at the first ask',
  repair: 'after a repair that cost nothing',
  correction: 'after a correction',
  rung: 'by a higher rung',
  person: 'by a person',
  nobody: 'by nobody',
} as const

const words = <Words extends object>(of: Words) => Object.keys(of) as unknown as readonly (keyof Words & string)[]

export const LADDER_EVENTS = {
  'model.asked': entry(
    'debug',
    'A model is asked: one physical send.',
    {
      ...ASK,
      model: text('Id of the model.'),
      take: TAKE,
      takesMax: count('Takes that the rung has.'),
      how: word(
        ['first', 'correct', 'climb', 'hint'],
        'For the first time, with the errors, after another rung, or with a person’s hint.',
      ),
      image: yes('Whether the image is shown.'),
    },
    ({ ask, rung, take, takesMax, how, image }) => {
      const shown = image ? ' and the image' : ''
      if (how === 'correct')
        return `${ask}: ${rung} is asked again with the error${shown}. Repair ${take - 1} of ${takesMax - 1}.`
      if (how === 'climb') return `${ask}: ${rung} is asked, with all earlier answers${shown}.`
      return how === 'hint'
        ? `${ask}: ${rung} is asked again with a person’s hint${shown}.`
        : `${ask}: ${rung} is asked.`
    },
  ),
  'answer.repaired': entry(
    'info',
    'An answer could be read after a repair here, without another call.',
    { ...ASK, take: TAKE },
    ({ ask, rung }) => `${ask}: the answer of ${rung} is repaired here; no call was needed.`,
  ),
  'answer.refused': entry(
    'info',
    'An answer is no result: it cannot be read, the gate said no, or the provider refused.',
    {
      ...ASK,
      take: TAKE,
      how: word(words(WRONG), 'What is wrong with it.'),
      codes: texts('Codes of its issues.'),
    },
    ({ ask, rung, how, codes }) => `${ask}: the answer of ${rung} ${WRONG[how]} (${codes.join(', ')}).`,
  ),
  'rung.left': entry(
    'info',
    'An ask goes on at another rung, and why.',
    {
      ...ASK,
      to: text('Name of the rung that it goes to.'),
      isPerson: yes('Whether a person is next.'),
      reason: word(words(REASONS), 'Why it cannot stay.'),
      code: maybe(text('Code of the last issue.')),
    },
    ({ ask, to, isPerson, reason }) =>
      `${ask}: ${isPerson ? 'a person is next' : 'next rung'}: ${to}. ${REASONS[reason]}`,
  ),
  'ask.ended': entry(
    'info',
    'An ask has its answer, or nobody has one. Told again when a run that a person answered is executed again.',
    {
      ...ASK,
      solvedBy: word(words(SOLVED), 'The recourse that got the answer.'),
      takes: count('Sends to models, over all attempts.'),
      costUsd: maybe(usd('What they cost.')),
    },
    ({ ask, rung, solvedBy, takes }) =>
      `${ask}: answered ${SOLVED[solvedBy]}${solvedBy === 'nobody' ? '' : ` (${rung})`}, ${takes} ${takes === 1 ? 'send' : 'sends'}.`,
  ),
} as const
