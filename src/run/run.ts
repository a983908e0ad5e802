/**
 * The run: the durable unit that a worker claims, as every room sees it.
 * Data only; how a state follows from another is `apply.ts`, how it is kept is a store's affair.
 */
import type { Failure } from '../failure/failure.ts'
import type { Decision } from '../policy/decision.ts'
import type { Ledgers } from '../policy/situation.ts'
import type { Why } from '../policy/why.ts'

/**
 * There is no stored `running`: a run is running while it is `ready` and its lease lives.
 * So a crash needs no rescuer: the lease ends by itself and the run can be claimed again.
 */
export const STATES = ['blocked', 'ready', 'waiting', 'review', 'succeeded', 'failed', 'cancelled'] as const

export type State = (typeof STATES)[number]

export type TerminalState = Extract<State, 'succeeded' | 'failed' | 'cancelled'>

export const isTerminal = (state: State): state is TerminalState =>
  state === 'succeeded' || state === 'failed' || state === 'cancelled'

/** States as readers say them: a run that is ready with a live lease is `running`, and `ready` then means without one. */
export const STATE_WORDS = [...STATES, 'running'] as const

export type StateWord = (typeof STATE_WORDS)[number]

export function wordOf({ state, lease }: Leased, now: number): StateWord {
  return state === 'ready' && lease !== undefined && lease.until > now ? 'running' : state
}

interface Leased {
  readonly state: State
  readonly lease?: { readonly until: number } | undefined
}

/** A run's ledgers as it begins; stores know policy by its types alone. */
export { EMPTY_LEDGERS } from '../policy/situation.ts'

/** What a run waits in, and what a hold, a limit or a pause closes. */
export interface Lane {
  readonly task: string
  readonly category?: string
  /** What the run's next call needs: `gemini:flash`. A decision that changes rung rewrites it. */
  readonly resource?: string
}

/** The live claim of a run. Every write of its owner carries the token; an older token changes nothing. */
export interface Lease {
  /** Strictly rising in a store: a later claim of the same run always has a higher one. */
  readonly token: number
  readonly worker: string
  /** Store time. */
  readonly until: number
}

export interface Run extends Lane {
  /** Opaque to everyone but the store that gave it. */
  readonly id: string
  readonly key?: string
  readonly state: State
  /** 1 at submit; an operator's retry of an ended run adds one. History of earlier generations is kept. */
  readonly generation: number
  /** Smaller goes first. */
  readonly priority: number
  readonly submittedAt: number
  /** While `waiting`: when it may be claimed. While in `review`: when the person is overdue. */
  readonly dueAt?: number
  readonly lease?: Lease
  /** Executions in this generation, counted or not: a claim adds one, and a run given back unstarted takes it off again. */
  readonly attempt: number
  readonly ledgers: Ledgers
  /** Attempts that ended suspended: uncounted, bounded by {@link SUSPENSIONS_MAX}. */
  readonly suspensions: number
  /** Its last owner vanished together with others, so nobody knows which of them was to blame: it is claimed alone. */
  readonly suspect: boolean
  /** Position on its ladder. */
  readonly rung: number
  /** The reason of the present state. Absent while new. */
  readonly why?: Why
  /** The failure that the last attempt ended in; kept on a failed run, gone from a succeeded one. */
  readonly failure?: Failure
  /** JSON text. */
  readonly input: string
  /** JSON text; present only when succeeded with a value. */
  readonly output?: string
  readonly deadlineAt?: number
  readonly maxCostUsd?: number
  /** Money settled by its takes so far, US dollars. */
  readonly costUsd: number
  readonly progress?: Progress
  readonly finishedAt?: number
  /** The flow it is a step of, and its name there. */
  readonly flow?: string
  readonly step?: string
  readonly concurrency?: ConcurrencyKey
}

/**
 * Of the runs of a task that share a key, so many may be out at a time. While its key is full a run is parked: `waiting` without
 * a due time, until one of those that fill the key makes room.
 */
export interface ConcurrencyKey {
  readonly key: string
  readonly max: number
}

export interface Progress {
  readonly done: number
  readonly of?: number
  readonly note?: string
}

/** More suspensions than this is a handler that never gets anywhere. */
export const SUSPENSIONS_MAX = 1_000

/** How one execution ended. `lapsed` is written by the claim that found the lease expired, all others by the owner. */
export type Outcome = 'succeeded' | 'failed' | 'suspended' | 'interrupted' | 'lapsed' | 'cancelled'

/**
 * One row of history: one per attempt that ended in anything but a first-try success, and one per operator's act.
 * It holds every input of `decide`, so that the decision can be computed again and compared.
 */
export interface AttemptRecord {
  readonly generation: number
  /** 0 for an act that is not an execution: an operator's, a reviewer's, or the end of a step by its need. */
  readonly attempt: number
  readonly token: number
  readonly worker: string
  readonly startedAt: number
  readonly endedAt: number
  readonly outcome: Outcome | 'operator'
  readonly failure?: Failure
  /** The inputs of the decision besides the failure and the ledgers, which follow from the rows before. */
  readonly dice?: number
  readonly policy?: string
  readonly rung?: number
  readonly noProgress?: boolean
  /** Of this generation: the next one may have another. */
  readonly deadlineAt?: number
  readonly decision?: Decision
  readonly why?: Why
  /** Physical sends inside this attempt, and how many of them were silent repeats. */
  readonly takes?: number
  readonly costUsd?: number
}
