/**
 * The Store: everything durable, behind one seam of a dozen verbs. This file is its law; the contract suite in `testing`
 * proves each law on each driver. There is no code here.
 *
 * Laws that hold for every verb:
 * - **Acknowledged means durable.** A promise resolves after the write would survive what the driver promises to survive.
 * - **Races are answers.** `"lost"`, `"exists"`, `"over"` are return values. A verb throws only when the store cannot be reached
 *   or its answer is unknown (`RepriseError` with code `store.unavailable` or `store.unknown`); after `store.unknown` the caller
 *   re-reads, because the write may have happened.
 * - **All or nothing.** What one call writes is visible whole or not at all.
 * - **Needs.** A need is open until the run that is needed has succeeded, or for a child of a join until it has ended. A run is
 *   `blocked` exactly while it has an open need. What ends a run, whichever verb that is, moves those that need it in the same write:
 *   the last open need fulfilled makes a blocked run ready; an end without success ends it as it asked (`fail`: failed, `skip`:
 *   cancelled, each with a reason that names the need and a row of history), and those that need it in turn; `wait` leaves it blocked.
 * - **Store time.** Instants are epoch milliseconds of the store's clock, never of the caller's; every answer that matters carries `now`.
 */
import type { Failure } from '../failure/failure.ts'
import type { Why } from '../policy/why.ts'
import type { Hold, HoldOrder, HoldTarget } from '../run/hold.ts'
import type { JournalEntry } from '../run/journal.ts'
import type { NeedPolicy } from '../run/need.ts'
import type { NextState } from '../run/next-state.ts'
import type { Quota } from '../run/quota.ts'
import type { AttemptRecord, ConcurrencyKey, Lane, Progress, Run, State } from '../run/run.ts'
import type { Act, Move, Pruned, PruneRequest, Taken, TakeRequest } from './act.ts'
import type { BudgetOrder, Budgets, BudgetWarning, Over, Overshoot, Reserve } from './budget.ts'
import type { Claim, ClaimRequest, Renewal, RenewRequest } from './claim.ts'
import type { FlowRef, FlowView, Links } from './flow-view.ts'
import type { Pulse, PulseQuery } from './pulse.ts'
import type { RunCriteria, RunPage, RunQuery, StateCount } from './query.ts'

export type { Act, Move, Pruned, PruneRequest, Taken, TakeRequest } from './act.ts'
export type { BudgetOrder, Budgets, BudgetView } from './budget.ts'
export type { Claim, ClaimedRun, ClaimRequest, Limit, Renewal, RenewRequest } from './claim.ts'
export type { FlowRef, FlowView, Link, Links, NeedLink } from './flow-view.ts'
export type { Pulse, PulseQuery, TaskPulse } from './pulse.ts'
export type { RunCriteria, RunPage, RunQuery, StateCount } from './query.ts'

export interface Store {
  /** The driver's name for messages: `sqlite`. */
  readonly name: string

  /**
   * Adds runs. A call is atomic: all of them or none.
   * - Idempotent by (task, key): the same fingerprint answers with the existing run and `created: false`, also under concurrent calls;
   *   another fingerprint answers `"conflict"` for that item and stores nothing of it.
   * - A key outlives its run: a pruned run's key still answers.
   * - `onExisting: "retry"` gives a failed or cancelled run generation + 1 instead of returning it as it is, with the new deadline.
   */
  create(runs: readonly NewRun[]): Promise<Created>

  /**
   * Adds runs inside a transaction of the application's own, on the application's connection, before it returns. The laws of
   * `create` hold, and the runs are there for others exactly if that transaction commits. It throws, and adds nothing, when no
   * transaction is open, when the connection leads elsewhere than to this store, or when the tables are missing.
   * Only for a store that lives in a database which an application can share; what `tx` is, is the driver's to say.
   */
  createIn?(tx: unknown, runs: readonly NewRun[]): Created

  /**
   * Adds a flow: all of its steps or none. Steps with needs begin blocked, the others as `create` begins them.
   * - Idempotent by (name, key) as `create` is by (task, key): the same fingerprint answers with the steps that are there, another
   *   with `"conflict"`.
   * - `onExisting: "retry"` gives every step that failed or was cancelled by itself generation + 1, as `steer` does. All that begin
   *   again have their new deadlines.
   */
  createFlow(flow: NewFlow): Promise<CreatedFlow>

  /**
   * Leases runs to a worker, in one step:
   * 1. Waiting runs that are due, and reviews that are overdue and that nobody has taken, become ready.
   * 2. Expired leases end. If the run was claimed `alone` that is a lapse: counted, with a history row. Otherwise nobody knows which
   *    of its neighbours was to blame: it becomes a suspect, and suspects are given out only to a claim that is `alone`.
   *    A suspect that lapses alone is confirmed: its lapse counts for both times.
   * 3. Ready runs of open lanes are given out by priority, submittedAt, id. Lanes that this worker does not serve cost nothing.
   *    A lane under a hold is not open. When the hold ends, one of its runs is given out as the probe, over all workers; while it is
   *    out no other is, and a probe whose lease is gone without a verdict is followed by another. After its verdict the others are
   *    given out along a ramp (`allowance`), and the hold is gone when a claim finds none of its runs left.
   *    When a resource answers again (a probe's verdict, a bucket that heals), runs that wait to try it again, and were claimed
   *    before that, become ready: the ramp lets them in, and no backoff of theirs is waited out.
   *    Limits are the claimer's, counts are the store's: live leases, and what was given out in the interval, over all workers.
   *    While most tries of a resource fail, retries of it are given out only as its bucket allows (`run/retry-bucket.ts`); a run
   *    that is passed over stays ready, and neither that nor any wait counts as an attempt. What is given out meanwhile says which
   *    resources fail (`failing`).
   *    A run with a concurrency key is given out only while fewer runs of its task and key are out than it allows. One that a claim
   *    meets while its key is full is parked: it waits without a due time, and no later claim looks at it. Whatever makes room (an
   *    end, a lapse, a cancel, a run given back or moved) wakes, in each lane, the next ones of the key that fit, in the same write.
   *    Ready runs go by `placeOf` (`run/place.ts`): priority, submittedAt, id, where a lower priority catches up by waiting.
   *
   * One token for the whole claim, higher than every token before. At most one live lease per run, always.
   * Repeating a claim with the same `nonce` answers with the same runs, so that an unknown outcome can be asked again.
   */
  claim(request: ClaimRequest): Promise<Claim>

  /** Extends leases that are still held. A run that is no longer mine is in `lost`; nothing about it changes. */
  renew(request: RenewRequest): Promise<Renewal>

  /**
   * The one way to write to a claimed run. Fenced: the run's live lease must carry `token`, else the answer is `"lost"`, nothing of the
   * change is visible, and the refused write is kept as a note. A late journal answer is kept as a receipt.
   * An expired lease that nobody has claimed since is still its owner's: time alone takes nothing away.
   * After the end of an attempt the lease is gone, and `endedBy` of the run equals the token: so an unknown outcome can be resolved.
   * An end may bring runs with it, `children` of its own or those of a `join`: they are created in the same write or not at all.
   */
  commit(change: Change): Promise<CommitAnswer>

  /**
   * Ends of different runs, each written or refused as `commit` would write or refuse it alone, with the answers at their places. If it
   * rejects, any of them may have been written. Offered by stores for which one call is cheaper than many.
   */
  commitAll?(ends: readonly EndChange[]): Promise<readonly CommitAnswer[]>

  /**
   * A person's lease on a run in review, by compare-and-swap on its generation, with a note. It stays in review; `renew` and `commit`
   * work with the token as a worker's do, and no worker gets it before the lease has ended, overdue or not. One that ends by itself
   * counts for nothing. Whoever has it may take it again, with a higher token; `"lost"` to others while that lease lives.
   * What a person has in hand is not out: it fills no limit and no concurrency key, and takes nothing of what a resource has left.
   */
  take(request: TakeRequest): Promise<Taken>

  /**
   * An operator's act on a run, by compare-and-swap on (generation, state): cancel steals the lease, retry adds a generation,
   * which begins in the lane that the run was submitted into, without the deadline that the one before it may have missed. In the same write, a retry gives generation + 1 to every
   * run that ended only because of this one, and to those that ended because of them: they are blocked again. A run that has another
   * need that ended without success stays as it is.
   * `"lost"` when the run is not as expected any more, or a retry could only end by its need again.
   */
  steer(act: Act): Promise<Committed>

  /**
   * Moves a run that waits for its turn: another priority, another due time, or both, by compare-and-swap as `steer`. A due time that has
   * come makes it ready, a later one makes it wait. With a history row and a note; nothing of its attempts and ledgers changes.
   * A due time is the operator's: the run waits for its resource no longer, and no answer brings it forward.
   * `"lost"` when the run is not as expected any more, is neither ready nor waiting, or is in a worker's hands.
   * Absent: the store has no order that could be changed.
   */
  reorder?(move: Move): Promise<Committed>

  /**
   * Holds a task, a resource or a category, whatever was there before, with a note. Runs that are out are not touched; runs that
   * wait are not rewritten, however many they are; lanes that are made later are held too.
   */
  hold(order: HoldOrder): Promise<Committed>
  /** Ends a hold at once and whole, with a note; those that wait to try what it held again become ready. `"lost"` when there is none. */
  release(request: { readonly what: HoldTarget; readonly by: string }): Promise<Committed>
  /** All holds that are not over, by name, each with the runs that could be claimed but for holds, counted up to a bound. */
  holds(): Promise<{ readonly now: number; readonly holds: readonly HoldView[] }>

  /** Sets an operator's limits over a budget's own, or takes them away, with a note. What is reserved or spent stays as it is. */
  setBudget(order: BudgetOrder): Promise<Committed>
  /** Every budget that was used or set, by name, with its present windows. A reservation past its time is shown as spent. */
  budgets(): Promise<Budgets>

  get(ref: RunRef): Promise<RunView | undefined>

  /** A flow with its steps, in the order in which they were submitted. */
  flow(ref: FlowRef): Promise<FlowView | undefined>

  /** What a run needs, in the order in which that was said, and what needs it, oldest first. Joins of all generations. */
  links(run: string): Promise<Links>

  /** Newest first, by an opaque cursor; rows added meanwhile do not shift the pages. */
  find(query: RunQuery): Promise<RunPage>

  /** How many runs are in each state, per task. */
  count(query: RunCriteria): Promise<readonly StateCount[]>

  /**
   * How long runs have waited to be taken. A run can be claimed since it became ready, whatever made it so; since its due time, when
   * no claim has come by to see that; and since its lease ended by itself. What is held waits for a reason and is left out.
   * It looks at a bounded number of runs, those that are next: what stands behind them is not counted, so that neither a backlog
   * nor history makes it slow. Exact up to 2,000 runs of a lane while there are ten lanes or fewer with work.
   */
  pulse(query: PulseQuery): Promise<Pulse>

  /** History of all generations, oldest first. */
  attempts(run: string): Promise<readonly AttemptRecord[]>

  /** The journal of one generation. */
  journal(run: string, generation: number): Promise<readonly JournalEntry[]>

  /** Appends to the audit: operators' acts and refused writes. Never changed afterwards. */
  note(note: Note): Promise<void>
  /**
   * Oldest first; with a limit the newest so many. `what` is a hint for speed: only notes whose `what` begins so are wanted, but a
   * store may answer with others too, and whoever gives it leaves those out.
   */
  notes(query: {
    readonly run?: string
    readonly what?: string
    readonly limit?: number
  }): Promise<readonly (Note & { readonly at: number })[]>

  /** Keeps a policy under its hash, so that old decisions can be computed again after it changed. Idempotent. */
  keepPolicy(hash: string, policy: string): Promise<void>
  policy(hash: string): Promise<string | undefined>

  /**
   * Deletes ended runs that are older than they are to be kept, or more than are to be kept, with their attempts, journal and bodies.
   * - Only ended runs go, and each whole. One that was begun again is not ended. The newest run of the store may stay.
   * - With `only`, a run goes exactly if it would go without, and is named there in the generation that it is in.
   * - Runs that are linked, by needs, joins or a flow, go together or not at all. A flow with a key stays as long as a key does.
   * - A key stays for `keysMs` after its run ended, and at least as long as its run. Notes about runs that are gone, and what is kept
   *   of claims, go at that age too; an id and a token are never given again.
   * - A call deletes `limit` runs at most and looks at a bounded number of rows: `more` says that it is not through, even if it deleted none.
   *
   * Nothing correct depends on when or whether it is called. Absent: the store lets rows expire by its own means.
   */
  prune?(request: PruneRequest): Promise<Pruned>

  /** Checks the store's own invariants and answers with one finding per breach; empty is well. */
  verify(): Promise<readonly Finding[]>

  /**
   * Calls back when runs may have become claimable, or are about to: a hint that may be lost, late, early or false. Polling is the truth.
   * Returns the way to stop listening.
   */
  watch(hint: () => void): () => void

  /** Finishes what is under way and lets go of everything. Idempotent. */
  close(): Promise<void>
}

export interface NewRun extends Lane {
  readonly key?: string
  /** Of the canonical input; required with a key. */
  readonly fingerprint?: string
  readonly onExisting?: 'return' | 'retry'
  /** JSON text. */
  readonly input: string
  readonly priority: number
  /** Wait until then. Absent: ready at once. */
  readonly dueAt?: number
  readonly deadlineAt?: number
  readonly maxCostUsd?: number
  readonly concurrency?: ConcurrencyKey
}

export interface Created {
  readonly now: number
  /** In the order of the request. */
  readonly runs: readonly (CreatedRun | 'conflict')[]
}

export interface CreatedRun {
  readonly id: string
  readonly created: boolean
  readonly generation: number
}

export interface NewFlow {
  readonly name: string
  readonly key?: string
  /** Of the steps, their inputs and needs; required with a key. */
  readonly fingerprint?: string
  readonly onExisting?: 'return' | 'retry'
  /** Each after those that it needs. */
  readonly steps: readonly NewStep[]
}

export interface NewStep extends Omit<NewRun, 'key' | 'fingerprint' | 'onExisting'> {
  readonly step: string
  /** Names of earlier steps. A step that has any ignores `dueAt`. */
  readonly needs: readonly string[]
  readonly onNeedFailed: NeedPolicy
}

export interface CreatedFlow {
  readonly now: number
  readonly flow: (FlowView & { readonly created: boolean }) | 'conflict'
}

interface Fenced {
  readonly run: string
  readonly token: number
}

/** The end of an attempt: the next state of the run and the row of history, in one write. */
export interface EndChange extends Fenced, NextState<NewRun> {
  readonly type: 'end'
  /** Kept in the same write. */
  readonly note?: Omit<Note, 'run'>
}

/** Before a send: the intent. */
export interface IntentChange extends Fenced {
  readonly type: 'intent'
  readonly generation: number
  readonly name: string
  readonly inputHash: string
  /** The number of this take under this entry, 1 for the first. */
  readonly take: number
  /** What this take may cost, each budget once: taken in the same write, or the answer is `"over"` and nothing is written. */
  readonly reserve?: readonly Reserve[]
}

/** After a send: the raw answer or the sure failure. */
export interface AnswerChange extends Fenced {
  readonly type: 'answer'
  readonly generation: number
  readonly name: string
  readonly inputHash: string
  readonly answer?: string
  readonly failure?: Failure
  readonly costUsd?: number
  /** The take whose reservations end with this answer, and how; also when the answer comes too late for its run. */
  readonly take?: number
  readonly settle?: 'spend' | 'release'
  /**
   * How much may still be asked, as the answer said. With the live leases of the resource it may be too little (`holdByQuotas`): then
   * the resource is held in the same write, for the longer of this and the hold that is there.
   */
  readonly quotas?: readonly Quota[]
}

export interface ProgressChange extends Fenced {
  readonly type: 'progress'
  readonly progress: Progress
}

export type Change = EndChange | IntentChange | AnswerChange | ProgressChange

export interface Committed {
  readonly now: number
  readonly answer: 'ok' | 'lost'
  /** Other runs that this write moved, nearest first; absent when there are none. */
  readonly moved?: readonly MovedRun[]
  /** What became of the `children` or of those of the `join`, in their order. */
  readonly created?: readonly (CreatedRun | 'conflict')[]
  /** The hold that the quotas of an answer led to. */
  readonly hold?: HoldOrder
}

/** What a commit comes to; `over`: a budget that the intent needs is used up, and nothing was written. */
export interface CommitAnswer extends Omit<Committed, 'answer'> {
  readonly answer: Committed['answer'] | 'over'
  /** Present exactly with `over`: the first limit that the take would have passed. */
  readonly over?: Over
  /** Shares of limits that the intent's reservations reached for the first time in their window. */
  readonly warned?: readonly BudgetWarning[]
  /** What the answer cost beyond its reservations, by the names of the budgets. */
  readonly overshot?: readonly Overshoot[]
}

/** A run that another one's end or retry moved: unblocked, ended by its need, or begun again. */
export interface MovedRun {
  readonly run: string
  readonly task: string
  readonly generation: number
  readonly state: Extract<State, 'blocked' | 'ready' | 'failed' | 'cancelled'>
  readonly step?: string
  readonly submittedAt: number
  readonly why?: Why
  readonly failure?: Failure
}

export interface HoldView extends Hold {
  /** Runs that are ready and wait for it; `WAITING_MAX` means that many or more. */
  readonly waiting: number
}

export type RunRef = { readonly id: string } | { readonly task: string; readonly key: string }

/** A run as readers see it. */
export interface RunView extends Run {
  /** The token that ended its last attempt. */
  readonly endedBy?: number
}

export interface Note {
  readonly run?: string
  readonly by: string
  readonly what: string
  readonly data?: Readonly<Record<string, string | number | boolean>>
}

export interface Finding {
  readonly law: string
  readonly run?: string
  readonly found: string
}
