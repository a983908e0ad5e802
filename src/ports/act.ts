/**
 * What people and retention ask of a store: to take a run in review, to steer one, to move it in its order, to drop what is old.
 * It does not know who may ask; each verb's promise is written at the store.
 */
import type { Why } from '../policy/why.ts'
import type { State, TerminalState } from '../run/run.ts'

export interface TakeRequest {
  readonly run: string
  /** Who: stands where a worker's name does. */
  readonly by: string
  readonly leaseMs: number
  readonly expect: { readonly generation: number }
}

export type Taken =
  | { readonly now: number; readonly answer: 'ok'; readonly token: number }
  | { readonly now: number; readonly answer: 'lost' }

export interface Act {
  readonly run: string
  readonly type: 'cancel' | 'retry'
  readonly expect: { readonly generation: number; readonly states: readonly State[] }
  readonly why: Why
  readonly by: string
}

export interface Move {
  readonly run: string
  readonly expect: Act['expect']
  readonly priority?: number
  readonly dueAt?: number
  /** Stands in history; with a due time it is also the reason of the run's new state. */
  readonly why: Why
  readonly by: string
}

export interface PruneRequest {
  /** By state, how long a run is kept after its end. An absent state is kept for ever. */
  readonly keepMs: Readonly<Partial<Record<TerminalState, number>>>
  /** Of each task only this many ended runs are kept, those that were submitted last, whatever their state and age. */
  readonly keepMax?: number
  /** If given, no other runs go than these, by id, and each only in the generation that is named. */
  readonly only?: ReadonlyMap<string, number>
  readonly keysMs: number
  /** Runs deleted in one call, at most; more only when that many are linked and go together. */
  readonly limit: number
}

export interface Pruned {
  readonly now: number
  /** Ids, oldest first; those that are linked follow the oldest of them. */
  readonly pruned: readonly string[]
  /** How many keys were forgotten. */
  readonly keys: number
  readonly more: boolean
}
