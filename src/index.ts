/**
 * The public face of Reprise: every name that users import from `reprise`.
 */
export { type Config, defineConfig, type Settings } from './config/config.ts'
export { loadConfig } from './config/load-config.ts'
export { type Context, createReprise, type Handler, type Reprise, type RepriseOptions } from './create-reprise.ts'
export type { ArtifactBody, ArtifactOptions } from './engine/artifact.ts'
export type { RepriseBudgets } from './engine/budgets.ts'
export type { CallOptions, CallScope } from './engine/call.ts'
export type { BudgetUse, SpendOptions } from './engine/call-budget.ts'
export type { TaskConcurrency } from './engine/concurrency.ts'
export type { Log } from './engine/context.ts'
export { type Flow, type FlowOptions, type FlowStep, type FlowSteps, flow, type StepOptions } from './engine/flow.ts'
export type { FlowHandle, FlowResult } from './engine/flow-handle.ts'
export type { ChildOptions, ChildResult, JoinChild, JoinOptions } from './engine/join.ts'
export type { LimitOptions, WorkLimits } from './engine/limits.ts'
export type { PersonOptions } from './engine/person.ts'
export type { RunningWorker, SubmitItem, WorkOptions } from './engine/reprise.ts'
export type { RetentionOptions } from './engine/retention.ts'
export type { RunHandle, RunResult } from './engine/run-handle.ts'
export type { InTransaction, SubmitOptions } from './engine/submit.ts'
export { defineTask, type Task, type TaskOptions } from './engine/task.ts'
export { later, never, toPerson } from './engine/throwables.ts'
export {
  type Account as DocumentAccount,
  accountOf,
  createExtraction,
  type ExtractedRun,
  type Extraction,
  type ExtractionInput,
  type ExtractionOptions,
  findDocuments,
  type Recourse as DocumentRecourse,
  type SourceDocument,
  type SourceFile,
} from './extract/index.ts'
export {
  type ClassifyOptions,
  type CodeEntry,
  type Considered,
  classify,
  codes,
  defineRules,
  type EvidenceView,
  type Explanation,
  type FactValue,
  type Failure,
  type FailureError,
  type FailureInput,
  failure,
  failureOf,
  fingerprint,
  KINDS,
  type Kind,
  type Layer,
  maskSecrets,
  type RuleCondition,
  type RuleInput,
  type RuleSet,
  UNKNOWN_CODE,
} from './failure/index.ts'
export { isRepriseError, RepriseError } from './failure/reprise-error.ts'
export {
  type DatesOptions,
  datesInOrder,
  type Gate,
  gate,
  type Issue,
  type JsonSchema,
  type Rule,
  type RuleAnswer,
  type RuleIssue,
  type RuleScope,
  requiredFields,
  type Schema,
  type SumOptions,
  sumEquals,
  type Verdict,
} from './gate/index.ts'
export {
  type AnyModel,
  type AskDocument,
  type AskError,
  type Asked,
  type AskImage,
  type AskOptions,
  type Asks,
  type AskTake,
  type BudgetLimit,
  type DeskOptions,
  type Draft,
  defaultLadder,
  draftOf,
  type Ladder,
  type LadderModelRung,
  type LadderPersonRung,
  ladder,
  type ModelFacts,
  type ModelOptions,
  type ModelUse,
  PRICES,
  type Price,
  type Prices,
  person,
  type QuestionSize,
  type Rung,
  type RungBudget,
  type RungOptions,
  rung,
  shapeFor,
  type TakeKind,
} from './ladder/index.ts'
export { createEmitter, type Emitter, type Listener } from './observe/emitter.ts'
export type { EventTracing } from './observe/event-tracing.ts'
export { type EventLogger, type LogEventsOptions, logEvents } from './observe/log-events.ts'
export { type Redact, redactor } from './observe/redact.ts'
export {
  applyEntry,
  type Backoff,
  type BackoffInput,
  type Decision,
  decide,
  definePolicy,
  EMPTY_LEDGERS,
  type ExponentialOptions,
  executionsBound,
  exponential,
  fixed,
  type HandOver,
  immediate,
  type KindRule,
  type KindRuleInput,
  LAPSED_CODE,
  type LadderShape,
  type LedgerName,
  type Ledgers,
  type Limits,
  ledgerBounds,
  type ModelRung,
  type PersonRung,
  type Plan,
  type PlanOptions,
  type PlanStep,
  type Policy,
  type PolicyInput,
  type PresetName,
  plan,
  presets,
  REVIEW,
  type Recourse,
  type RungInput,
  type RungShape,
  type SayOptions,
  type Situation,
  type Span,
  say,
  type ToldDelay,
  type Why,
  type WhyCode,
  type WhyParams,
} from './policy/index.ts'
export type { Artifacts } from './ports/artifacts.ts'
export type { BudgetLimits, BudgetView, BudgetWindowView, UnitUse, WindowLimits } from './ports/budget.ts'
export type { Bus } from './ports/bus.ts'
export type { RunView, Store } from './ports/store.ts'
export {
  historyOf,
  type RetryContext,
  type RetryEntry,
  RetryError,
  type RetryHistory,
  type RetryOptions,
  retry,
} from './retry/index.ts'
export {
  type Answered,
  createReviews,
  type GoldCase,
  type Hand,
  type Judge,
  type Loss,
  type ReviewAct,
  type ReviewDetail,
  type ReviewItem,
  type ReviewList,
  type Reviews,
} from './review/index.ts'
export type { BudgetOptions } from './run/define-budget.ts'
export type { EventName, EventOf, RepriseEvent } from './run/event.ts'
export { sentenceOf } from './run/event.ts'
export type { AskedDocument, Question, Reply, RungAnswer } from './run/question.ts'
export type { AttemptRecord, Run, State } from './run/run.ts'
export type { Clock } from './time/clock.ts'
export type { Duration } from './time/duration.ts'
