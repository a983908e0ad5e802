/**
 * How long runs have waited to be taken: what an operator asks of a store, and what is answered. There is no code here.
 */

export interface PulseQuery {
  /** A run that could have been claimed for longer than this is stuck. */
  readonly stuckAfterMs: number
}

export interface Pulse {
  readonly now: number
  /** By name; a task of which nothing can be claimed is not among them. */
  readonly tasks: readonly TaskPulse[]
}

export interface TaskPulse {
  readonly task: string
  /** Since when the one that has waited longest could have been claimed. */
  readonly oldestAt: number
  readonly stuck: number
}
