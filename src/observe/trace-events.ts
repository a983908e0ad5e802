/**
 * Events as OpenTelemetry spans: run → attempt → call, through `@opentelemetry/api` alone, loaded when it is asked for.
 * It keeps the spans that are open, bounded; sampling, exporting and propagation are the application's affair.
 */
import type { Attributes, Context, Span, TimeInput, Tracer } from '@opentelemetry/api'
import type { Failure } from '../failure/failure.ts'
import { RepriseError } from '../failure/reprise-error.ts'
import { type EventName, type EventOf, type RepriseEvent, sentenceOf } from '../run/event.ts'
import type { AttemptRef, EventTracing } from './event-tracing.ts'
import { processRedactor, type Redact } from './redact.ts'

/** More open runs than this and the oldest span is closed: a run may wait for days, or go on in another process. */
const OPEN_RUNS_MAX = 10_000

export interface TraceEventsOptions {
  readonly redact?: Redact
}

interface Open {
  readonly span: Span
  readonly context: Context
}

interface OpenAttempt extends Open {
  readonly worker: string
  readonly calls: Map<string, Open>
}

interface OpenRun extends Open {
  readonly attempts: Map<number, OpenAttempt>
}

/** An attempt is over with these; the word is its outcome. */
const OUTCOMES = {
  'run.succeeded': 'succeeded',
  'attempt.retried': 'retried',
  'run.escalated': 'escalated',
  'run.failed': 'failed',
  'run.review': 'review',
  'run.suspended': 'suspended',
  'run.interrupted': 'interrupted',
  'run.lapsed': 'lapsed',
  'lease.lost': 'lost',
  'write.refused': 'lost',
} as const satisfies Partial<Record<EventName, string>>

/** With these the run is over, or out of this process's hands for good or for long. */
const LEAVES = new Set<string>(['succeeded', 'failed', 'review', 'lost'])

/** Told as events of the span that they happen in. What only says that a span begins or ends is not repeated. */
const MARKS = new Set<EventName>([
  'attempt.retried',
  'attempts.spent',
  'run.escalated',
  'run.review',
  'run.suspended',
  'run.interrupted',
  'run.lapsed',
  'run.cancelled',
  'lease.lost',
  'write.refused',
  'call.repeated',
  'call.replayed',
  'call.receipt',
  'call.ambiguous',
  'suspension.swallowed',
  'artifact.stored',
  'client.repeated',
  'client.failed',
  'client.hidden_retries',
  'node.failed',
])

/**
 * Spans for every run that this process executes. `tracer` is the application's; without one the global provider's is used.
 * @example
 * const tracing = await traceEvents()
 * reprise.on('*', tracing.listen)
 */
export async function traceEvents(tracer?: Tracer, options: TraceEventsOptions = {}): Promise<EventTracing> {
  const api = await import('@opentelemetry/api').catch((cause: unknown) => {
    throw new RepriseError('trace.package', 'traceEvents needs @opentelemetry/api. Install it beside reprise.', {
      cause,
    })
  })
  return new Spans(api, tracer ?? api.trace.getTracer('reprise'), options.redact ?? processRedactor())
}

class Spans implements EventTracing {
  readonly #api: typeof import('@opentelemetry/api')
  readonly #tracer: Tracer
  readonly #redact: Redact
  /** By run and generation; the oldest first. */
  readonly #runs = new Map<string, OpenRun>()

  constructor(api: typeof import('@opentelemetry/api'), tracer: Tracer, redact: Redact) {
    this.#api = api
    this.#tracer = tracer
    this.#redact = redact
  }

  readonly listen = (told: RepriseEvent): void => {
    const event = this.#redact(told)
    this.#mark(event)
    if (event.name === 'attempt.started') this.#openAttempt(event)
    else if (event.name === 'call.sent') this.#openCall(event)
    else if (event.name === 'call.answered' || event.name === 'call.failed') this.#closeCall(event)
    else if (event.name === 'run.cancelled') this.#closeRun(idOf(event), event.at, 'cancelled')
    else if (event.name === 'worker.stopped') this.#closeWorker(event)
    else if (isOutcome(event)) this.#settle(event)
  }

  withAttemptSpan<Answer>(ref: AttemptRef, body: () => Answer): Answer {
    return this.#within(this.#attempt(ref)?.context, body)
  }

  withCallSpan<Answer>(ref: AttemptRef & { readonly call: string }, body: () => Answer): Answer {
    const attempt = this.#attempt(ref)
    return this.#within(attempt?.calls.get(ref.call)?.context ?? attempt?.context, body)
  }

  close(at: number): void {
    for (const id of [...this.#runs.keys()]) this.#closeRun(id, at)
  }

  #within<Answer>(context: Context | undefined, body: () => Answer): Answer {
    return context ? this.#api.context.with(context, body) : body()
  }

  #attempt(ref: AttemptRef): OpenAttempt | undefined {
    return this.#runs.get(idOf(ref))?.attempts.get(ref.attempt)
  }

  #open(name: string, at: number, attributes: Attributes, parent: Context): Open {
    const span = this.#tracer.startSpan(name, { startTime: time(at), attributes }, parent)
    return { span, context: this.#api.trace.setSpan(parent, span) }
  }

  #openRun(event: EventOf<'attempt.started'>): OpenRun {
    const known = this.#runs.get(idOf(event))
    if (known) return known
    if (this.#runs.size >= OPEN_RUNS_MAX) {
      const [oldest] = this.#runs.keys()
      if (oldest !== undefined) this.#closeRun(oldest, event.at)
    }
    // A root of its own: the context of the claim loop is nobody's parent.
    const opened = this.#open(`run ${event.task}`, event.at, runAttributes(event), this.#api.ROOT_CONTEXT)
    const run = { ...opened, attempts: new Map<number, OpenAttempt>() }
    this.#runs.set(idOf(event), run)
    return run
  }

  #openAttempt(event: EventOf<'attempt.started'>): void {
    const run = this.#openRun(event)
    const attributes = {
      ...attemptAttributes(event),
      'reprise.retry': event.retry,
      'reprise.retries_max': event.retriesMax,
      'reprise.token': event.token,
    }
    const opened = this.#open(`attempt ${event.task}`, event.at, attributes, run.context)
    run.attempts.set(event.attempt, { ...opened, worker: event.worker, calls: new Map() })
  }

  #openCall(event: EventOf<'call.sent'>): void {
    const attempt = this.#attempt(event)
    if (!attempt) return
    const attributes = { ...attemptAttributes(event), 'reprise.call': event.call }
    // A silent repeat is part of the same call.
    const call =
      attempt.calls.get(event.call) ?? this.#open(`call ${event.call}`, event.at, attributes, attempt.context)
    call.span.setAttribute('reprise.takes', event.take)
    attempt.calls.set(event.call, call)
  }

  #closeCall(event: EventOf<'call.answered' | 'call.failed'>): void {
    const attempt = this.#attempt(event)
    const call = attempt?.calls.get(event.call)
    if (!attempt || !call) return
    if (event.name === 'call.failed') this.#fail(call.span, event.failure)
    else if (event.costUsd !== undefined) call.span.setAttribute('reprise.cost_usd', event.costUsd)
    call.span.end(time(event.at))
    attempt.calls.delete(event.call)
  }

  /** The end of an attempt, and of the run's span when the run is over or out of this process's hands. */
  #settle(event: EventOf<keyof typeof OUTCOMES>): void {
    const run = this.#runs.get(idOf(event))
    if (!run) return
    const outcome = OUTCOMES[event.name]
    const attempt = run.attempts.get(event.attempt)
    const failure = 'failure' in event ? event.failure : undefined
    if (attempt) {
      attempt.span.setAttribute('reprise.outcome', outcome)
      if (failure) this.#fail(attempt.span, failure)
      else if (outcome === 'lapsed' || outcome === 'lost') this.#error(attempt.span, sentenceOf(event))
      this.#closeAttempt(run, event.attempt, event.at)
    }
    if (event.name === 'run.succeeded') run.span.setAttribute('reprise.retries', event.retries)
    if (event.name === 'run.failed') this.#fail(run.span, event.failure)
    // Lost to another worker of this same process: the run goes on here.
    if (outcome === 'lost' && run.attempts.size > 0) return
    if (LEAVES.has(outcome)) this.#closeRun(idOf(event), event.at, outcome)
  }

  #closeAttempt(run: OpenRun, number: number, at: number): void {
    const attempt = run.attempts.get(number)
    for (const call of attempt?.calls.values() ?? []) call.span.end(time(at))
    attempt?.span.end(time(at))
    run.attempts.delete(number)
  }

  #closeRun(id: string, at: number, outcome?: string): void {
    const run = this.#runs.get(id)
    if (!run) return
    if (outcome !== undefined) run.span.setAttribute('reprise.outcome', outcome)
    for (const number of [...run.attempts.keys()]) this.#closeAttempt(run, number, at)
    run.span.end(time(at))
    this.#runs.delete(id)
  }

  /** What a worker leaves behind is somebody else's. */
  #closeWorker({ worker, at }: EventOf<'worker.stopped'>): void {
    for (const [id, run] of [...this.#runs]) {
      for (const [number, attempt] of [...run.attempts]) {
        if (attempt.worker === worker) this.#closeAttempt(run, number, at)
      }
      if (run.attempts.size === 0) this.#closeRun(id, at)
    }
  }

  #mark(event: RepriseEvent): void {
    if (!MARKS.has(event.name) || !('run' in event)) return
    const { run: id, generation } = event
    // A client that is used outside of a run has no span of ours to be marked on.
    if (id === undefined || generation === undefined) return
    const run = this.#runs.get(idOf({ run: id, generation }))
    const number = 'attempt' in event ? event.attempt : undefined
    const attempt = number === undefined ? undefined : run?.attempts.get(number)
    const call = 'call' in event ? attempt?.calls.get(event.call) : undefined
    const open = call ?? attempt ?? run
    open?.span.addEvent(event.name, { ...markAttributes(event), 'reprise.sentence': sentenceOf(event) }, time(event.at))
  }

  #fail(span: Span, failure: Failure): void {
    span.setAttributes(failureAttributes(failure))
    this.#error(span, `${failure.code}: ${failure.message}`)
  }

  #error(span: Span, message: string): void {
    span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message })
  }
}

const idOf = ({ run, generation }: { readonly run: string; readonly generation: number }) => `${run} ${generation}`

function isOutcome(event: RepriseEvent): event is EventOf<keyof typeof OUTCOMES> {
  return Object.hasOwn(OUTCOMES, event.name)
}

/** Seconds and nanoseconds: a bare number could be read as a reading of the monotonic clock. */
const time = (at: number): TimeInput => [Math.floor(at / 1_000), Math.round((at % 1_000) * 1_000_000)]

function runAttributes(event: { run: string; task: string; key?: string; generation: number }): Attributes {
  return {
    'reprise.run': event.run,
    'reprise.task': event.task,
    'reprise.generation': event.generation,
    ...(event.key === undefined ? {} : { 'reprise.key': event.key }),
  }
}

function attemptAttributes(event: EventOf<'attempt.started' | 'call.sent'>): Attributes {
  return { ...runAttributes(event), 'reprise.attempt': event.attempt, 'reprise.worker': event.worker }
}

function failureAttributes({ kind, code, rule }: Failure): Attributes {
  return { 'reprise.failure.kind': kind, 'reprise.failure.code': code, 'reprise.failure.rule': rule }
}

/** The flat fields of an event; the span has those of the run already. */
function markAttributes(event: RepriseEvent): Attributes {
  const attributes: Attributes = {}
  for (const [name, value] of Object.entries(event)) {
    if (OF_THE_SPAN.has(name)) continue
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      attributes[`reprise.${snake(name)}`] = value
    }
  }
  if ('failure' in event && event.failure) Object.assign(attributes, failureAttributes(event.failure))
  if ('why' in event) attributes['reprise.why'] = event.why.code
  return attributes
}

const OF_THE_SPAN = new Set(['name', 'at', 'run', 'task', 'key', 'generation', 'attempt', 'worker', 'call'])

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
