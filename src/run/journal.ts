/**
 * The journal: what a run already asked of the world, so that no answer is bought twice.
 * One entry per (run, generation, name, hash of input); written before the send and again with its answer, before anything judges it.
 */
import type { Failure } from '../failure/failure.ts'

export interface JournalEntry {
  readonly name: string
  /** Hash of the call's declared input; empty when it declared none. A changed input is a new entry. */
  readonly inputHash: string
  /** The token under which the latest intent was written. */
  readonly token: number
  /** Physical sends so far, the latest intent included. */
  readonly takes: number
  readonly intentAt: number
  /** JSON text of the answer. Absent: the send was begun and nobody knows how it ended, or it failed. */
  readonly answer?: string
  readonly answeredAt?: number
  /** The latest take failed surely, with this: the intent is not ambiguous. */
  readonly failure?: Failure
  /** The answer came after its owner's lease: a receipt that the present owner may use if it has none of its own. */
  readonly late?: boolean
  readonly costUsd?: number
  /** JSON text of what a person is asked. The answer is the person's. */
  readonly question?: string
}
