/**
 * The face of the LangGraph adapter: `reprise/langgraph`.
 */
export { complaintOf, nextStep, shouldEscalate, shouldRepair, shouldRetry, toPerson } from './edges.ts'
export { type GraphJournal, type Place, runJournal } from './journal.ts'
export { type GraphRetryPolicy, type RetryPolicyOptions, retryPolicy } from './retry-policy.ts'
export { type SqliteJournal, type SqliteJournalOptions, sqliteJournal } from './sqlite-journal.ts'
export {
  type NextStep,
  type NodeFailure,
  type RepriseState,
  type RepriseUpdate,
  repriseState,
  startOver,
} from './state.ts'
export { type GraphConfig, type NodeOptions, type NodeScope, withReprise } from './with-reprise.ts'
