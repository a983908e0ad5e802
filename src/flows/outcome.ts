/**
 * What became of one call of a flow handler, as data: what was done, or why there was nothing to do.
 * Races and empty triggers are no failures, and nothing of them is written into the flow.
 */
export interface FlowOutcome {
  readonly flow: string
  /** Attempts that ended here. */
  readonly done: number
  /**
   * Why nothing was done, or what could not be written: `NO_READY_STEP`, `DEPENDENCY_NOT_SUCCEEDED`, `STEP_CLAIM_CONFLICT`,
   * `STEP_FINALIZE_CONFLICT`, `FLOW_RUN_NOT_FOUND`, `FLOW_RUN_INVALID`, `FIRESTORE_CLAIM_FAILED`, `FIRESTORE_FINALIZE_FAILED`.
   */
  readonly code?: FlowCode
  readonly message?: string
}

export type FlowCode =
  | 'NO_READY_STEP'
  | 'DEPENDENCY_NOT_SUCCEEDED'
  | 'STEP_CLAIM_CONFLICT'
  | 'STEP_FINALIZE_CONFLICT'
  | 'FLOW_RUN_NOT_FOUND'
  | 'FLOW_RUN_INVALID'
  | 'FIRESTORE_CLAIM_FAILED'
  | 'FIRESTORE_FINALIZE_FAILED'
