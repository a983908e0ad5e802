/**
 * The policies that come with Reprise besides the two defaults, one table each, and all of them by name.
 * Data only: `docs/reference/presets.md` is generated from it.
 */
import { exponential } from './backoff.ts'
import { daemon, inCall } from './defaults.ts'
import { definePolicy } from './define-policy.ts'
import type { Policy } from './policy.ts'

/** Extraction on a ladder: a cheap model with two corrections, a strong one once, then a person. */
export const extraction: Policy = definePolicy(
  {
    name: 'extraction',
    kinds: {
      // A gate that throws, a bad key, a spent budget: the document still needs its answer, so a person gets it.
      final: { recourse: 'person' },
      exhausted: { recourse: 'person' },
    },
    ladder: [
      { type: 'model', name: 'gemini:flash', attempts: 3 },
      { type: 'model', name: 'gemini:pro', attempts: 1, maxCostUsd: 0.02, budget: 'pro' },
      { type: 'person', name: 'person', queue: 'extraction', withinMs: '4h' },
    ],
  },
  inCall,
)

/** A report step of a flow: one model call, one repair when time is left, nothing else inside the invocation. */
export const flowReport: Policy = definePolicy(
  {
    name: 'flowReport',
    maxAttempts: 1,
    unknownMaxAttempts: 1,
    kinds: {
      rate_limited: { maxAttempts: 1 },
      transient: { maxAttempts: 1 },
      syntax: { maxAttempts: 2, whenSpent: 'fail' },
      semantic: { maxAttempts: 2, whenSpent: 'fail' },
      refused: { recourse: 'fail' },
    },
    limits: { callMs: '600s', attemptMs: '780s', finalizeReserveMs: '120s' },
  },
  inCall,
)

const storageBackoff = exponential({ base: '1s', cap: '32s' })

/** Reading and writing a flow's documents and artifacts. */
export const flowStorage: Policy = definePolicy(
  {
    name: 'flowStorage',
    kinds: {
      rate_limited: { backoff: storageBackoff },
      transient: { maxAttempts: 5, backoff: storageBackoff },
    },
  },
  inCall,
)

/** An agent that writes SQL: infrastructure is retried silently, the query is repaired once and visibly. */
export const sqlAgent: Policy = definePolicy(
  {
    name: 'sqlAgent',
    kinds: {
      transient: { backoff: storageBackoff },
      syntax: { maxAttempts: 2, whenSpent: 'fail' },
      semantic: { maxAttempts: 2, whenSpent: 'fail' },
    },
  },
  inCall,
)

const documentBackoff = exponential({ base: '5m', cap: '1h', jitter: 'none' })

/** Documents in other services' collections: every delivery counts, whatever became of it. */
export const documents: Policy = definePolicy(
  {
    name: 'documents',
    maxAttempts: 3,
    kinds: {
      rate_limited: { backoff: documentBackoff },
      transient: { backoff: documentBackoff },
      syntax: { recourse: 'retry', maxAttempts: 3, backoff: documentBackoff, whenSpent: 'fail' },
      semantic: { recourse: 'retry', maxAttempts: 3, backoff: documentBackoff, whenSpent: 'fail' },
      interrupted: { backoff: documentBackoff },
    },
    rateWaitsMax: 0,
    interruptionsMax: 0,
    lapsesMax: 0,
  },
  daemon,
)

/** Documents whose processing leans on models and networks: chunks and threads rather than archives and messages. */
export const documentsPatient: Policy = definePolicy(
  {
    name: 'documentsPatient',
    maxAttempts: 5,
    unknownMaxAttempts: 5,
    kinds: { syntax: { maxAttempts: 5 }, semantic: { maxAttempts: 5 } },
  },
  documents,
)

/** By name, for configuration and the command line. */
export const presets = Object.freeze({
  inCall,
  extraction,
  flowReport,
  flowStorage,
  sqlAgent,
  documents,
  documentsPatient,
  daemon,
})

export type PresetName = keyof typeof presets
