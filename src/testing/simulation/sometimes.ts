/**
 * What a batch of simulations must have seen at least once, or it proves less than it seems: rare things, counted.
 */
import type { EventName } from '../../run/event.ts'
import { FAULTS, type FaultKind, type History, only } from './history.ts'
import { stories } from './story.ts'

export type Counts = Readonly<Record<string, number>>

type Counter = (history: History) => number

const events =
  <Name extends EventName>(name: Name, fits: (event: never) => boolean = () => true): Counter =>
  (history) =>
    only(history, 'event').filter(({ event }) => event.name === name && fits(event as never)).length

const faults =
  (kind: FaultKind | 'crash' | 'pause' | 'stop' | 'poison'): Counter =>
  (history) =>
    only(history, 'fault').filter(({ fault }) => fault === kind).length

const steps =
  (fits: (step: ReturnType<typeof allSteps>[number]) => boolean): Counter =>
  (history) =>
    allSteps(history).filter(fits).length

const allSteps = (history: History) => [...stories(history).values()].flatMap((story) => story.steps)

/** Ends whose first answer was trouble: how often they had been stored all the same, and how often they had not. */
const doubtfulEnds =
  (fault: 'unknown' | 'unavailable'): Counter =>
  (history) =>
    only(history, 'fault').filter((line) => line.fault === fault && line.site === 'commit.end').length

export const SOMETIMES: Readonly<Record<string, Counter>> = {
  'lease lost': events('lease.lost'),
  'stale end refused': events('write.refused', ({ what }: { what: string }) => what === 'end'),
  'stale answer refused': events('write.refused', ({ what }: { what: string }) => what === 'answer'),
  'unknown end had been stored': doubtfulEnds('unknown'),
  'failed end had not been stored': doubtfulEnds('unavailable'),
  'claim asked again by its nonce': (history) => {
    const claims = only(history, 'store').flatMap((line) =>
      line.verb === 'claim' && line.runs.length > 0 ? [line.nonce] : [],
    )
    return claims.length - new Set(claims).size
  },
  'receipt of a late answer': events('call.receipt'),
  'receipt used': events('call.replayed', ({ late }: { late: boolean }) => late),
  'answer replayed': events('call.replayed'),
  'ambiguous send repeated': events('call.ambiguous', ({ recourse }: { recourse: string }) => recourse === 'again'),
  'ambiguous send to a person': events('call.ambiguous', ({ recourse }: { recourse: string }) => recourse === 'person'),
  'call repeated in its attempt': events('call.repeated'),
  'suspect after a shared crash': steps(({ kind, from }) => kind === 'lapsed' && from?.alone === false),
  'crash counted': steps(({ kind, from }) => kind === 'lapsed' && from?.alone === true),
  'crashes spent, to a person': events(
    'run.review',
    ({ why }: { why: { code: string } }) => why.code === 'person.lapses_spent',
  ),
  'released on stop': events('run.interrupted'),
  'given back unstarted': steps(({ change }) => change?.type === 'end' && change.unstarted === true),
  'suspended on a sleep': events('run.suspended', ({ on }: { on: string }) => on !== 'later'),
  'suspension swallowed': events('suspension.swallowed'),
  'told wait, not counted': events(
    'attempt.retried',
    ({ decision }: { decision: { entry?: string } }) => decision.entry === 'rateWaits',
  ),
  'errors spent': events('attempts.spent', ({ ledger }: { ledger: string }) => ledger === 'errors'),
  'climbed a rung': events('run.escalated'),
  'deadline passed': events(
    'run.failed',
    ({ failure }: { failure: { code: string } }) => failure.code === 'deadline.passed',
  ),
  'attempt timed out': events(
    'attempt.retried',
    ({ failure }: { failure: { code: string } }) => failure.code === 'attempt.timeout',
  ),
  'cancelled while running': steps(({ kind, before }) => kind === 'cancelled' && before?.holder !== undefined),
  'new generation': steps(({ kind }) => kind === 'again'),
  'key met its run': events('run.returned'),
  'key met other input': (history) => only(history, 'client').filter(({ phase }) => phase === 'conflict').length,
  'artifact reused': events('artifact.stored', ({ reused }: { reused: boolean }) => reused),
  'artifact clashed': (history) => only(history, 'artifact').filter(({ answer }) => answer === 'conflict').length,
  'budget used up': events('budget.refused'),
  'budget warned of': events('budget.warned'),
  'store recovered': events('store.recovered'),
  ...Object.fromEntries(
    [...FAULTS, 'pause', 'stop', 'poison'].map((kind) => [`fault: ${kind}`, faults(kind as FaultKind)]),
  ),
}

export const countsOf = (history: History): Counts =>
  Object.fromEntries(Object.entries(SOMETIMES).map(([name, count]) => [name, count(history)]))

export const addCounts = (a: Counts, b: Counts): Counts =>
  Object.fromEntries(Object.keys(SOMETIMES).map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]))
