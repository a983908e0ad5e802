/**
 * The part of the event catalogue that tells of budgets. It is spread into the catalogue; nothing else reads it.
 */
import type { Over } from './budget.ts'
import { count, entry, instant, maybe, text, usd, word } from './event-entry.ts'
import { CALL } from './event-fields.ts'

const BUDGET = {
  budget: text('Name of the budget; `run` is what a run itself may cost.'),
  window: word(['day', 'month', 'run'], 'The window of that limit.'),
  unit: word(['calls', 'usd'], 'What is limited.'),
  used: count('Spent in this window.'),
  reserved: count('Taken by calls that are under way.'),
  limit: count('The limit in force.'),
  resetsAt: maybe(instant('When the window ends; absent for a run’s own.')),
} as const

const WINDOW_WORDS = { day: 'today', month: 'this month', run: 'this run' } as const

const figure = (unit: Over['unit'], value: number): string => (unit === 'usd' ? money(value) : String(value))

/** Cents as cents; what is smaller keeps the digits that tell something. */
export const money = (value: number): string =>
  `$${value === 0 || value >= 0.1 ? value.toFixed(2) : String(Number(value.toPrecision(3)))}`

/** `pro is used up for today (50 of 50)`. */
export function usedUp({ budget, window, unit, used, reserved, limit }: Over): string {
  const name = window === 'run' ? 'What the run may cost' : budget
  return `${name} is used up for ${WINDOW_WORDS[window]} (${figure(unit, used + reserved)} of ${figure(unit, limit)})`
}

const NEXT = { person: 'To a person now', wait: 'It waits', failure: 'Not sent' } as const

export const BUDGET_EVENTS = {
  'budget.refused': entry(
    'warn',
    'A call was not sent, because a budget that it needs is used up.',
    {
      ...CALL,
      ...BUDGET,
      next: word(['person', 'wait', 'failure'], 'What the budget asks for; a ladder may know another rung.'),
    },
    ({ next, ...over }, { time }) => `${usedUp(over)}. ${NEXT[next]}${resets(over.resetsAt, time)}.`,
  ),
  'budget.warned': entry(
    'warn',
    'A reservation reached a share of a limit that is to be warned of, for the first time in this window.',
    {
      ...BUDGET,
      share: count('The share that is reached, 0.8 for 80 %.'),
      worker: maybe(text('The worker that reserved.')),
    },
    ({ share, budget, window, unit, used, reserved, limit, resetsAt }, { time }) =>
      `${budget} has used ${Math.round(share * 100)} % of its limit for ${WINDOW_WORDS[window]} (${figure(unit, used + reserved)} of ${figure(unit, limit)})${resets(resetsAt, time)}.`,
  ),
  'budget.overshot': entry(
    'warn',
    'A call cost more than the worst case that was reserved for it. It is recorded; a window that is above its limit lets in nothing more that costs.',
    {
      ...CALL,
      budget: text('Name of the budget.'),
      costUsd: usd('What it cost.'),
      reservedUsd: usd('What was reserved.'),
    },
    ({ call, budget, costUsd, reservedUsd }) =>
      `${call} cost ${money(costUsd)} where at most ${money(reservedUsd)} was expected: ${budget} may be above its limit.`,
  ),
} as const

const resets = (at: number | undefined, time: (at: number) => string): string =>
  at === undefined ? '' : `; the cap resets at ${time(at)}`
