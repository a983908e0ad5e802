/**
 * What a batch of simulations must have seen at least once, or it proves less than it seems: rare things, counted.
 */
import type { EventName } from '../../run/event.ts'
import type { State } from '../../run/run.ts'
import type { GateEvent } from './gate-story.ts'
import { FAULTS, type FaultKind, type History, only } from './history.ts'
import { gateStory, stories } from './story.ts'

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

const sites =
  (site: string): Counter =>
  (history) =>
    only(history, 'fault').filter((line) => line.site === site).length

const steps =
  (fits: (step: ReturnType<typeof allSteps>[number]) => boolean): Counter =>
  (history) =>
    allSteps(history).filter(fits).length

const allSteps = (history: History) => [...stories(history).values()].flatMap((story) => story.steps)

const gates =
  (event: GateEvent): Counter =>
  (history) =>
    gateStory(history).seen[event]

const decisions = (state: State): Counter =>
  steps(({ kind, before, after }) => kind === 'ended' && before?.holder?.isPerson === true && after.state === state)

/** Runs that somebody asked for again after they were pruned, and that were remembered by their keys. */
const prunedKeys: Counter = (history) => {
  const pruned = new Map<string, number>()
  for (const line of only(history, 'store')) {
    if (line.verb === 'prune') for (const id of line.pruned) pruned.set(id, line.seq)
  }
  return only(history, 'client').filter(
    ({ phase, run, created, seq }) =>
      phase === 'ok' && created === false && seq > (pruned.get(run ?? '') ?? Number.POSITIVE_INFINITY),
  ).length
}

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
  'taken by a person': steps(({ kind }) => kind === 'taken'),
  'lost to another person': (history) =>
    only(history, 'store').filter((line) => line.verb === 'take' && line.token === undefined).length,
  'a person went away': steps(({ kind }) => kind === 'returned'),
  'answered by a person': decisions('succeeded'),
  'sent back by a person': decisions('ready'),
  'rejected by a person': decisions('failed'),
  'cancelled out of a person’s hands': steps(
    ({ kind, before }) => kind === 'cancelled' && before?.holder?.isPerson === true,
  ),
  'fault of a take': sites('take'),
  'cancelled while running': steps(({ kind, before }) => kind === 'cancelled' && before?.holder !== undefined),
  'new generation': steps(({ kind }) => kind === 'again'),
  'key met its run': events('run.returned'),
  'key met other input': (history) => only(history, 'client').filter(({ phase }) => phase === 'conflict').length,
  'artifact reused': events('artifact.stored', ({ reused }: { reused: boolean }) => reused),
  'artifact clashed': (history) => only(history, 'artifact').filter(({ answer }) => answer === 'conflict').length,
  'budget used up': events('budget.refused'),
  'budget warned of': events('budget.warned'),
  'store recovered': events('store.recovered'),
  'step unblocked by its last need': steps(({ kind }) => kind === 'unblocked'),
  'step failed with its need': steps(({ kind, after }) => kind === 'endedByNeed' && after.state === 'failed'),
  'step skipped with its need': steps(({ kind, after }) => kind === 'endedByNeed' && after.state === 'cancelled'),
  'step waits for an operator': (history) =>
    [...stories(history).values()].filter(({ last, needs }) =>
      needs.some(
        ({ kind, open, needed }) =>
          last.state === 'blocked' && open && kind === 'wait' && needed.last.state === 'failed',
      ),
    ).length,
  'step begun again with its need': steps(({ kind, before }) => kind === 'again' && before?.byNeed === true),
  'flow met by its key': (history) =>
    only(history, 'client').filter(({ flowKey, created }) => flowKey !== undefined && created === false).length,
  'children joined': (history) => only(history, 'children').filter(({ joined }) => joined).length,
  'join failed by a child': events(
    'run.failed',
    ({ failure }: { failure: { code: string } }) => failure.code === 'join.child_failed',
  ),
  'begun with a success': steps(({ change }) => change?.type === 'end' && (change.children?.length ?? 0) > 0),
  'climber begun again below': steps(
    ({ kind, before, after }) => kind === 'again' && before?.lane.resource !== after.lane.resource,
  ),
  'held by an answer': events('hold.set'),
  'held by an operator': (history) => only(history, 'store').filter(({ verb }) => verb === 'hold').length,
  'released by an operator': (history) =>
    only(history, 'store').filter((line) => line.verb === 'release' && line.answer === 'ok').length,
  'probe went first': gates('probe'),
  'probe let the others in': gates('admitted'),
  'probe was told to wait': gates('refused'),
  'probe vanished': gates('vanished'),
  'let in along the ramp': gates('ramp'),
  'resource failing': gates('failing'),
  'retry of a failing resource': gates('retry'),
  'brought forward by an answer': gates('forward'),
  'held by what an answer said is left': gates('quota'),
  'key full': gates('keyFull'),
  'limit reached': gates('full'),
  'run moved in its order': steps(({ kind }) => kind === 'moved'),
  'run pruned': steps(({ kind }) => kind === 'pruned'),
  'key of a pruned run': prunedKeys,
  'fault of a flow’s submit': sites('createFlow'),
  'fault of a prune': sites('prune'),
  'fault of an operator’s act': (history) =>
    sites('steer')(history) + sites('reorder')(history) + sites('hold')(history),
  ...Object.fromEntries(
    [...FAULTS, 'pause', 'stop', 'poison'].map((kind) => [`fault: ${kind}`, faults(kind as FaultKind)]),
  ),
}

export const countsOf = (history: History): Counts =>
  Object.fromEntries(Object.entries(SOMETIMES).map(([name, count]) => [name, count(history)]))

export const addCounts = (a: Counts, b: Counts): Counts =>
  Object.fromEntries(Object.keys(SOMETIMES).map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]))
