/**
 * What a worker asks of a store when it wants runs or keeps them, and what it is given.
 * Data only; the laws are written at the store.
 */
import type { Failure } from '../failure/failure.ts'
import type { Ledgers } from '../policy/situation.ts'
import type { HoldTarget } from '../run/hold.ts'
import type { Rate } from '../run/rate.ts'
import type { Lane } from '../run/run.ts'

export interface ClaimRequest {
  readonly worker: string
  /** Unique to this claim; the same again means: the answer did not arrive. */
  readonly nonce: string
  readonly limit: number
  readonly leaseMs: number
  /** The worker has nothing else in hand and will run this one run by itself. Only then are suspects given out, one at most. */
  readonly alone: boolean
  /** The tasks that this worker has handlers for. */
  readonly tasks: readonly string[]
  /** Absent: every category, and runs without one. */
  readonly categories?: readonly string[]
  readonly limits?: readonly Limit[]
}

/** Honoured over all workers that carry it. */
export interface Limit {
  readonly what: HoldTarget
  /** Runs at a time: live leases. */
  readonly running?: number
  /** Runs given out in any stretch of an interval. */
  readonly rate?: Rate
}

export interface Claim {
  readonly now: number
  readonly token: number
  /** In the order in which they are to be started. */
  readonly runs: readonly ClaimedRun[]
  /** When something this worker serves becomes due or a lease ends, if known: the next claim is useless before. */
  readonly nextAt?: number
  /** Suspects wait for a worker that has nothing else in hand. */
  readonly suspects: boolean
}

/** What a worker needs to execute a run: the run without what only readers want. */
export interface ClaimedRun extends Lane {
  readonly id: string
  readonly key?: string
  readonly generation: number
  readonly attempt: number
  readonly submittedAt: number
  readonly ledgers: Ledgers
  readonly suspensions: number
  readonly rung: number
  readonly input: string
  readonly deadlineAt?: number
  readonly maxCostUsd?: number
  readonly costUsd: number
  readonly leaseUntil: number
  /** The failure before this attempt, for the no-progress rule. */
  readonly failure?: Failure
  /** Whether the journal of this generation has entries: most runs have none and spare a read. */
  readonly journaled: boolean
  /** Present on a step of a flow; `needs` when it has any. */
  readonly flow?: string
  readonly step?: string
  readonly needs?: boolean
  /** The lease before this one ended by itself: an event is due. */
  readonly lapsed?: { readonly worker: string; readonly counted: boolean }
  /** The holds that this run is the probe of: how it ends decides for all others. */
  readonly probes?: readonly HoldTarget[]
  /** Resources of which most tries fail just now: their retries are the store's to give out, so a call of the run has one try. A hint. */
  readonly failing?: readonly string[]
}

export interface RenewRequest {
  readonly worker: string
  readonly leaseMs: number
  readonly leases: readonly { readonly run: string; readonly token: number }[]
}

export interface Renewal {
  readonly now: number
  readonly lost: readonly string[]
}
