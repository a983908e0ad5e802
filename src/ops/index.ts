/**
 * The face of this room: what operators ask and do, the same for the command line and for HTTP.
 */
export {
  type BudgetLine,
  type BudgetStatus,
  type BudgetsNow,
  emptyUnder,
  listBudgets,
  type SetBudget,
  setBudget,
} from './budgets.ts'
export { type DecisionInputs, type Explained, type ExplainedStep, explain } from './explain.ts'
export { type ExportedRun, exportRuns } from './export-runs.ts'
export { type FilterOptions, parseFilter, type RunFilter } from './filter.ts'
export { countsWithout, findRuns, type RunRow } from './find-runs.ts'
export { groupFailures, type RunGroup } from './group-failures.ts'
export { type HoldsNow, listHolds, releaseHold, setHold } from './holds.ts'
export { maskRecord } from './mask-record.ts'
export type { Neighbour } from './place.ts'
export { type Purged, purgeRuns, type Stays } from './purge-runs.ts'
export { resolveRun } from './resolve-run.ts'
export { type Stats, stats } from './stats.ts'
export {
  cancelRuns,
  reprioritiseRuns,
  rescheduleRuns,
  retryRuns,
  type Selection,
  type Skipped,
  type Steered,
  type Verb,
} from './steer-runs.ts'
export { storeNow } from './store-now.ts'
export { type LedgerLine, type Story, story } from './story.ts'
export type { AttemptEntry, CallEntry, StoryEntry } from './story-entries.ts'
export type { TakeStory } from './take-story.ts'
export { verifyStore } from './verify-store.ts'
