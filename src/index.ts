/**
 * The public face of Reprise: every name that users import from `reprise`.
 */
export { type Config, defineConfig, type Settings } from './config/config.ts'
export { loadConfig } from './config/load-config.ts'
export type { ArtifactBody, ArtifactOptions } from './engine/artifact.ts'
export type { CallOptions, CallScope } from './engine/call.ts'
export type { Context, Log } from './engine/context.ts'
export { type Flow, type FlowOptions, type FlowStep, type FlowSteps, flow, type StepOptions } from './engine/flow.ts'
export type { FlowHandle, FlowResult } from './engine/flow-handle.ts'
export type { ChildOptions, ChildResult, JoinChild, JoinOptions } from './engine/join.ts'
export type { LimitOptions, WorkLimits } from './engine/limits.ts'
export type { Handler } from './engine/perform.ts'
export {
  createReprise,
  type Reprise,
  type RepriseOptions,
  type RunningWorker,
  type SubmitItem,
  type WorkOptions,
} from './engine/reprise.ts'
export type { RetentionOptions } from './engine/retention.ts'
export type { RunHandle, RunResult } from './engine/run-handle.ts'
export type { InTransaction, SubmitOptions } from './engine/submit.ts'
export { defineTask, type Task, type TaskOptions } from './engine/task.ts'
export { later, never, toPerson } from './engine/throwables.ts'
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
export type { EventName, EventOf, RepriseEvent } from './run/event.ts'
export { sentenceOf } from './run/event.ts'
export type { AttemptRecord, Run, State } from './run/run.ts'
export type { Clock } from './time/clock.ts'
export type { Duration } from './time/duration.ts'
