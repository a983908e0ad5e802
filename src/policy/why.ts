/**
 * The closed catalogue of reasons: every code with its parameters, for decisions, waits, ends and events of a run.
 * Only data that can be stored; `say` knows the sentences. Times are epoch milliseconds and end in `At` or `until`.
 */

/** Why a run cannot stay where it is. The same reason may lead to the next rung, to a person or to the end. */
export interface Reasons {
  /** Same failure, same answer twice. */
  no_progress: { readonly message: string }
  /** The corrections of a rung are used. */
  repairs_spent: { readonly used: number; readonly max: number; readonly on?: string; readonly message: string }
  /** All counted attempts are used; with `kind`, those of one kind or `unknown`. */
  errors_spent: { readonly used: number; readonly max: number; readonly kind?: string; readonly message: string }
  rate_waits_spent: { readonly used: number; readonly max: number; readonly message: string }
  lapses_spent: { readonly used: number; readonly max: number }
  /** One of our own limits: a budget, a window. */
  exhausted: { readonly message: string; readonly until?: number }
  refused: { readonly message: string }
  final: { readonly message: string; readonly advice: string }
  /** The policy gives this kind no second try here. */
  policy: { readonly kind: string; readonly message: string }
  /** A ladder has decided about this answer already. */
  asked: { readonly message: string }
  /** Too little time is left for a repair. */
  time_short: { readonly leftMs: number; readonly reserveMs: number; readonly message: string }
}

type Moves = {
  [Code in keyof Reasons as `next.${Code}`]: Reasons[Code] & { readonly to: string }
} & {
  [Code in keyof Reasons as `person.${Code}`]: Reasons[Code] & { readonly to: string; readonly withinMs?: number }
} & {
  [Code in keyof Reasons as `end.${Code}`]: Reasons[Code]
}

interface Ends {
  /** The next start would be at or past the deadline. */
  'end.deadline': { readonly deadlineAt: number; readonly at: number; readonly message: string }
  /** Told to wait longer than a call may. */
  'end.told_too_long': { readonly toldMs: number; readonly maxMs: number; readonly message: string }
  /** A day's quota is used, and a call cannot wait for tomorrow. */
  'end.quota_day': { readonly message: string }
  /** The handler suspended so often that it gets nowhere. */
  'end.suspensions_spent': { readonly max: number }
  /** An inner `retry` has spent its attempts on this very error. */
  'end.inner': { readonly attempts: number; readonly message: string }
  /** A step of a flow that asked to fail with its need. */
  'end.need_failed': { readonly step: string; readonly how: 'failed' | 'cancelled' }
  /** A benign race: nothing to do, nothing stored. */
  ignored: { readonly message: string }
}

interface Waits {
  /** Told by the other side, not counted. */
  'wait.told': {
    readonly until: number
    readonly used: number
    readonly max: number
    readonly resource?: string
    readonly toldBy?: string
  }
  /** Told by the other side, counted as an error. */
  'wait.told_counted': {
    readonly until: number
    readonly used: number
    readonly max: number
    readonly resource?: string
    readonly toldBy?: string
  }
  /** Our own backoff. `used` of `max` errors include this one. */
  'wait.backoff': {
    readonly attempt: number
    readonly at: number
    readonly backoff: string
    readonly dice: number
    readonly used: number
    readonly max: number
  }
  /** One of our own limits heals by itself. */
  'wait.window': { readonly until: number; readonly message: string; readonly used: number; readonly max: number }
  'wait.interrupted': { readonly at: number; readonly used: number; readonly max: number }
  'wait.lapsed': { readonly at: number; readonly used: number; readonly max: number }
  'ask.again': { readonly repair: number; readonly max: number; readonly image?: boolean }
}

/** What a run's story tells besides decisions. The engine and the ladder make these. */
interface Events {
  'run.blocked': { readonly needs: number; readonly first: string }
  /** A need has ended without success, and the step asked to wait for an operator. */
  'run.need_failed': { readonly step: string; readonly how: 'failed' | 'cancelled' }
  /** A step of a flow that asked to be skipped when its need does not succeed. */
  'run.skipped': { readonly step: string; readonly how: 'failed' | 'cancelled' }
  /** A parent waits for the end of the children of one join. */
  'run.joining': { readonly name: string; readonly children: number }
  'run.ready': { readonly since: number }
  'run.scheduled': { readonly at: number }
  /** Without `until`, until somebody releases it. */
  'run.held': { readonly resource: string; readonly until?: number; readonly others: number }
  /** So many runs of its concurrency key are out. */
  'run.parked': { readonly key: string; readonly max: number }
  'run.interrupted': { readonly worker: string; readonly cause?: string }
  'run.lapsed': { readonly silentMs: number; readonly worker: string; readonly used: number; readonly max: number }
  'run.with_person': { readonly queue: string; readonly until: number }
  'run.overdue': { readonly queue: string; readonly since: number }
  'run.cancelled': { readonly by: string }
  'run.succeeded': { readonly attempts: number }
  /** The handler sleeps, or asked to be called again later. */
  'run.sleeping': { readonly name: string; readonly until: number }
  'run.later': { readonly until: number; readonly reason?: string }
  /** The handler handed the run to a person. */
  'run.handed_over': { readonly queue: string; readonly reason: string; readonly until?: number }
  /** An operator's retry. */
  'run.again': { readonly by: string; readonly generation: number }
  /** An operator's other place in the order. */
  'run.reprioritised': { readonly by: string; readonly from: number; readonly to: number }
  'run.rescheduled': { readonly by: string; readonly at: number }
  /** What a reviewer did. `given`: the result outright, where no question was asked. */
  'review.answered': { readonly by: string; readonly how: 'accepted' | 'corrected' | 'given' }
  'review.sent_back': { readonly by: string; readonly to?: string; readonly hint?: string }
  'review.rejected': { readonly by: string; readonly reason: string }
  'answer.stored': { readonly paidAt: number }
  'write.stale': { readonly worker: string }
  /** A cap is reached; `next` says what is done about it. */
  'budget.spent': {
    readonly budget: string
    readonly window: 'day' | 'month'
    /** Calls when absent. */
    readonly unit?: 'calls' | 'usd'
    readonly used: number
    readonly cap: number
    readonly resetsAt: number
    readonly next: 'person' | 'rung' | 'wait'
  }
  /** An operator's verb over many runs is done. */
  'retried.many': { readonly count: number; readonly right: number; readonly wait: number; readonly skipped: number }
}

export type WhyParams = Moves & Ends & Waits & Events

export type WhyCode = keyof WhyParams

/** A reason as data: one of the catalogue's codes with its parameters. */
export type Why = { [Code in WhyCode]: { readonly code: Code; readonly params: WhyParams[Code] } }[WhyCode]
