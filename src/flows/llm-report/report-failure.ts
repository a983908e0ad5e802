/**
 * The codes of a report step and the kind of each, and how what models, stores and artifacts throw is told in them.
 * What is done about a kind is the policy's affair.
 */
import { leaveOf } from '../../engine/throwables.ts'
import { classify } from '../../failure/classify.ts'
import type { Failure, Kind } from '../../failure/failure.ts'
import { type FailureError, failure, failureOf } from '../../failure/own.ts'

const KINDS = {
  FLOW_RUN_NOT_FOUND: 'final',
  FLOW_RUN_INVALID: 'final',
  PROMPT_NOT_FOUND: 'final',
  LLM_PROFILE_INVALID: 'final',
  INVALID_STEP_INPUTS: 'final',
  MODEL_NOT_FOUND: 'final',
  LLM_SAFETY_BLOCK: 'refused',
  INVALID_STRUCTURED_OUTPUT: 'syntax',
  FIRESTORE_UNAVAILABLE: 'transient',
  GCS_WRITE_FAILED: 'transient',
  GEMINI_REQUEST_FAILED: 'transient',
  RATE_LIMITED: 'rate_limited',
} as const satisfies Readonly<Record<string, Kind>>

export type ReportCode = keyof typeof KINDS

export function reportFailure(code: ReportCode, message: string, cause?: unknown): FailureError {
  const known = cause === undefined ? undefined : failureOf(cause)
  return failure({
    kind: KINDS[code],
    code,
    message,
    ...(known?.retryAfterMs === undefined ? {} : { retryAfterMs: known.retryAfterMs }),
    ...(cause === undefined ? {} : { cause }),
  })
}

/** What a failed ask is in the words of a report step. Signals of the engine, and what is ours to end or to wait for, pass as they are. */
export function askedFailure(thrown: unknown, now: number, isRepair: boolean): unknown {
  if (leaveOf(thrown)) return thrown
  const known = failureOf(thrown) ?? classify(thrown, { now })
  const code = codeOf(known, isRepair)
  if (code === undefined) return thrown
  const { retryAfterMs, facts } = known
  return failure({
    kind: KINDS[code],
    code,
    message: `${known.message} (${known.code})`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(facts ? { facts } : {}),
    cause: thrown,
  })
}

/** Nothing was sent, for want of time. */
export const isOutOfTime = (thrown: unknown): boolean => failureOf(thrown)?.code === 'deadline.short'

/** Not there, or not there for this account. */
const NO_MODEL = /\.model$|404|not_?found|auth|key|permission|40[13]/i

function codeOf({ kind, code, facts }: Failure, isRepair: boolean): ReportCode | undefined {
  switch (kind) {
    case 'refused':
      return 'LLM_SAFETY_BLOCK'
    case 'rate_limited':
      return 'RATE_LIMITED'
    case 'transient':
      return 'GEMINI_REQUEST_FAILED'
    case 'syntax':
    case 'semantic':
      return 'INVALID_STRUCTURED_OUTPUT'
    case 'interrupted':
      // The answer was wrong, and the time that is left is kept for writing the end.
      return isRepair && code === 'deadline.short' ? 'INVALID_STRUCTURED_OUTPUT' : undefined
    case 'final':
      if (code === 'ladder.spent' || code === 'gate.bug') return 'INVALID_STRUCTURED_OUTPUT'
      return NO_MODEL.test(code) || facts?.['status'] === 404 ? 'MODEL_NOT_FOUND' : 'LLM_PROFILE_INVALID'
    default:
      return undefined
  }
}
