/**
 * What the simulator is to do, as plain data that a JSON file can hold: rates, scripts, latencies, and what images show.
 * Only the shapes; `check-plan` reads them from unknown input and `choose-fault` acts on them.
 */
import type { Duration } from '../time/duration.ts'
import type { FaultName } from './fault.ts'

/** Fault → its share of requests, from 0 to 1. The rest is right. */
export type Rates = Readonly<Partial<Record<FaultName, number>>>

export type Range = readonly [min: number, max: number]

/** A fault, or a `rate-limit` with its own wait. */
export type Step = FaultName | { readonly fault: FaultName; readonly retryAfter?: Duration }

/** One step per request; the last one is given to all further requests. */
export type Steps = readonly [Step, ...Step[]]

/** Steps for all models together, or for each model by a part of its name. */
export type DocumentScript = Steps | Readonly<Record<string, Steps>>

/**
 * Document → what it gets. A key is a text that stands in the document (`INV-031`), `sha256:` and the start of the hash of the
 * document's text or image, or a pattern between slashes.
 */
export type Script = Readonly<Record<string, DocumentScript>>

export interface ModelPlan {
  /** How long an answer takes. */
  readonly latencyMs?: Range
  /** Drawn for each request anew. */
  readonly rates?: Rates
  /** Drawn once per document: what a model cannot do with a document, it cannot do again. */
  readonly always?: Rates
  /** Tokens of thought, paid for as output. */
  readonly thinkTokens?: Range
}

export interface FaultPlan extends ModelPlan {
  /** By a part of the model's name; the first that fits is laid over the plan for all. */
  readonly models?: Readonly<Record<string, ModelPlan>>
  readonly script?: Script
  /** SHA-256 of the bytes of an image, or of another file that is sent inline → the text that a model reads in it. */
  readonly images?: Readonly<Record<string, string>>
  /** What a `rate-limit` tells to wait unless its step says otherwise. */
  readonly retryAfter?: Duration
}
