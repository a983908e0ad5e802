/**
 * What a tracer of events offers the engine, without a word of any tracing library: `traceEvents` makes one for OpenTelemetry.
 */
import type { RepriseEvent } from '../run/event.ts'

export interface AttemptRef {
  readonly run: string
  readonly generation: number
  readonly attempt: number
}

export interface EventTracing {
  /** The listener to hand to `reprise.on('*', …)`. */
  readonly listen: (event: RepriseEvent) => void
  /** Runs `body` inside the span of its attempt, so that spans it makes are children. Without such a span it just runs it. */
  withAttemptSpan<Answer>(attempt: AttemptRef, body: () => Answer): Answer
  /** The same for a call of that attempt. */
  withCallSpan<Answer>(attempt: AttemptRef & { readonly call: string }, body: () => Answer): Answer
  /** Closes every span that is open. */
  close(at: number): void
}
