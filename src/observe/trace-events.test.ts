import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, type ContextManager, context, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { afterEach, describe, expect, test } from 'vitest'
import type { EventName, EventOf } from '../run/event.ts'
import { SAMPLES, unavailable } from '../run/event-samples.fixtures.ts'
import { redactor } from './redact.ts'
import { traceEvents } from './trace-events.ts'

const AT = SAMPLES['attempt.started'].at

/** An event of the samples, some milliseconds later, with other fields. */
function event<Name extends EventName>(
  name: Name,
  afterMs: number,
  fields: Partial<EventOf<Name>> = {},
): EventOf<Name> {
  return { ...SAMPLES[name], at: AT + afterMs, ...fields }
}

async function open(env: Record<string, string> = {}) {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const tracer = provider.getTracer('test')
  const tracing = await traceEvents(tracer, { redact: redactor({ env }) })
  const named = (name: string) => exporter.getFinishedSpans().filter((span) => span.name === name)
  return { tracing, tracer, named, spans: () => exporter.getFinishedSpans() }
}

const idOf = (span: ReadableSpan | undefined) => span?.spanContext().spanId
const parentOf = (span: ReadableSpan | undefined) => span?.parentSpanContext?.spanId
const startMs = ({ startTime: [seconds, nanos] }: ReadableSpan) => seconds * 1_000 + nanos / 1_000_000
const endMs = ({ endTime: [seconds, nanos] }: ReadableSpan) => seconds * 1_000 + nanos / 1_000_000
const marks = (span: ReadableSpan | undefined) => span?.events.map(({ name }) => name)

describe('spans', () => {
  test('run, attempts and calls are nested, with times, status and attributes', async () => {
    const { tracing, named } = await open()
    const events = [
      event('attempt.started', 0, { attempt: 1, retry: 0 }),
      event('call.sent', 10, { attempt: 1 }),
      event('call.repeated', 20, { attempt: 1 }),
      event('call.sent', 30, { attempt: 1, take: 2 }),
      event('call.failed', 40, { attempt: 1 }),
      event('attempt.retried', 50, { attempt: 1, retry: 1 }),
      event('attempt.started', 1_000, { attempt: 2, retry: 1 }),
      event('call.sent', 1_010, { attempt: 2 }),
      event('call.answered', 1_020, { attempt: 2 }),
      event('run.succeeded', 1_030, { attempt: 2, retries: 1 }),
    ]
    for (const each of events) tracing.listen(each)
    const [run] = named('run summarize')
    const [first, second] = named('attempt summarize')
    const [failed, answered] = named('call summary')

    expect(parentOf(run)).toBeUndefined()
    expect([parentOf(first), parentOf(second)]).toEqual([idOf(run), idOf(run)])
    expect([parentOf(failed), parentOf(answered)]).toEqual([idOf(first), idOf(second)])

    expect(run && [startMs(run), endMs(run)]).toEqual([AT, AT + 1_030])
    expect(first && [startMs(first), endMs(first)]).toEqual([AT, AT + 50])
    expect(failed && [startMs(failed), endMs(failed)]).toEqual([AT + 10, AT + 40])

    expect(run?.status).toEqual({ code: SpanStatusCode.UNSET })
    expect(first?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'http.503: Service unavailable' })
    expect(failed?.status.code).toBe(SpanStatusCode.ERROR)
    expect(second?.status.code).toBe(SpanStatusCode.UNSET)

    expect(run?.attributes).toEqual({
      'reprise.run': 'r-42',
      'reprise.task': 'summarize',
      'reprise.key': 'invoice-7',
      'reprise.generation': 1,
      'reprise.retries': 1,
      'reprise.outcome': 'succeeded',
    })
    expect(first?.attributes).toMatchObject({
      'reprise.attempt': 1,
      'reprise.worker': 'w-7f',
      'reprise.retry': 0,
      'reprise.token': 7,
      'reprise.outcome': 'retried',
      'reprise.failure.kind': 'transient',
      'reprise.failure.code': 'http.503',
      'reprise.failure.rule': 'http/503',
    })
    expect(failed?.attributes).toMatchObject({ 'reprise.call': 'summary', 'reprise.takes': 2 })
    expect(answered?.attributes).toMatchObject({ 'reprise.cost_usd': 0.002 })

    expect(marks(failed)).toEqual(['call.repeated'])
    expect(failed?.events[0]?.attributes).toMatchObject({
      'reprise.retry': 1,
      'reprise.delay_ms': 2_000,
      'reprise.sentence': 'summary: http.503; repeat 1 of 2 in 2 s.',
    })
    expect(marks(first)).toEqual(['attempt.retried'])
    expect(first?.events[0]?.attributes).toMatchObject({
      'reprise.due_at': AT + 240_000,
      'reprise.why': 'wait.backoff',
    })
  })

  test('a failed run is an error with its last failure', async () => {
    const { tracing, named } = await open()
    tracing.listen(event('attempt.started', 0, { attempt: 8 }))
    tracing.listen(event('attempts.spent', 5, { attempt: 8 }))
    tracing.listen(event('run.failed', 6))
    const [run] = named('run summarize')
    expect(run?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'http.503: Service unavailable' })
    expect(run?.attributes).toMatchObject({ 'reprise.outcome': 'failed', 'reprise.failure.code': 'http.503' })
    expect(marks(named('attempt summarize')[0])).toEqual(['attempts.spent'])
  })

  const ends: Array<[EventName, outcome: string, runEnds: boolean]> = [
    ['run.escalated', 'escalated', false],
    ['run.review', 'review', true],
    ['run.suspended', 'suspended', false],
    ['run.interrupted', 'interrupted', false],
    ['run.lapsed', 'lapsed', false],
    ['lease.lost', 'lost', true],
    ['write.refused', 'lost', true],
  ]
  test.each(ends)('%s ends the attempt as %s', async (name, outcome, runEnds) => {
    const { tracing, named } = await open()
    tracing.listen(event('attempt.started', 0))
    tracing.listen(event('call.sent', 1))
    tracing.listen({ ...SAMPLES[name], at: AT + 5 })
    expect(named('attempt summarize')[0]?.attributes['reprise.outcome']).toBe(outcome)
    expect(marks(named('attempt summarize')[0])).toEqual([name])
    expect(named('call summary')).toHaveLength(1)
    expect(named('run summarize')).toHaveLength(runEnds ? 1 : 0)
    tracing.close(AT + 10)
    expect(named('run summarize')).toHaveLength(1)
  })

  test('a cancelled run ends with all that is open in it', async () => {
    const { tracing, spans } = await open()
    tracing.listen(event('attempt.started', 0))
    tracing.listen(event('call.sent', 1))
    tracing.listen(event('run.cancelled', 5))
    expect(spans().map(({ name }) => name)).toEqual(['call summary', 'attempt summarize', 'run summarize'])
    expect(spans().at(-1)?.attributes['reprise.outcome']).toBe('cancelled')
  })

  test('a lease lost to another worker of this process leaves the run open', async () => {
    const { tracing, named } = await open()
    tracing.listen(event('attempt.started', 0, { attempt: 1 }))
    tracing.listen(event('attempt.started', 5, { attempt: 2, worker: 'w-02' }))
    tracing.listen(event('lease.lost', 6, { attempt: 1 }))
    expect(named('run summarize')).toHaveLength(0)
    tracing.listen(event('run.succeeded', 9, { attempt: 2, worker: 'w-02' }))
    expect(parentOf(named('attempt summarize')[1])).toBe(idOf(named('run summarize')[0]))
  })

  test('a worker that stops leaves no span open, and another’s alone', async () => {
    const { tracing, named } = await open()
    tracing.listen(event('attempt.started', 0))
    tracing.listen(event('attempt.started', 0, { run: 'r-43', worker: 'w-02' }))
    tracing.listen(event('worker.stopped', 5))
    expect(named('run summarize').map(({ attributes }) => attributes['reprise.run'])).toEqual(['r-42'])
  })

  test('open runs are bounded: the oldest is closed', async () => {
    const { tracing, named } = await open()
    for (let index = 0; index <= 10_000; index += 1) {
      tracing.listen(event('attempt.started', index, { run: `r-${index}` }))
    }
    expect(named('run summarize').map(({ attributes }) => attributes['reprise.run'])).toEqual(['r-0'])
  })

  test('events of runs that it never saw begin are no spans', async () => {
    const { tracing, spans } = await open()
    for (const sample of Object.values(SAMPLES)) if (sample.name !== 'attempt.started') tracing.listen(sample)
    expect(spans()).toEqual([])
  })

  test('no canary is in any span', async () => {
    const { tracing, spans } = await open({ API_SECRET: 'canary-env-0b9e' })
    const message = 'no: canary-env-0b9e postgres://app:canary-db-77aa@db/x Authorization: Bearer canary-header-1c2d'
    const failure = { ...unavailable, message }
    tracing.listen(event('attempt.started', 0, { key: 'canary-env-0b9e' }))
    tracing.listen(event('call.sent', 1))
    tracing.listen(event('call.repeated', 2, { failure, code: 'http.503' }))
    tracing.listen(event('call.failed', 3, { failure }))
    tracing.listen(
      event('run.failed', 4, { failure, attempt: 3, why: { code: 'end.policy', params: { kind: 'final', message } } }),
    )
    const all = JSON.stringify(
      spans().map(({ name, attributes, events, status }) => [name, attributes, events, status]),
    )
    expect(all).toContain('***')
    expect(all).not.toContain('canary')
  })
})

describe('context', () => {
  afterEach(() => context.disable())

  test('code runs inside the span of its attempt, and of its call', async () => {
    context.setGlobalContextManager(localContexts())
    const { tracing, tracer, named } = await open()
    const ref = { run: 'r-42', generation: 1, attempt: 3 }
    tracing.listen(event('attempt.started', 0))
    await tracing.withAttemptSpan(ref, async () => {
      await Promise.resolve()
      tracer.startSpan('of the handler').end()
    })
    tracing.listen(event('call.sent', 1))
    tracing.withCallSpan({ ...ref, call: 'summary' }, () => tracer.startSpan('of the call').end())
    tracing.withCallSpan({ ...ref, call: 'unknown' }, () => tracer.startSpan('of the attempt').end())
    tracing.listen(event('call.answered', 2))
    tracing.listen(event('run.succeeded', 3))
    const [attempt] = named('attempt summarize')
    expect(parentOf(named('of the handler')[0])).toBe(idOf(attempt))
    expect(parentOf(named('of the call')[0])).toBe(idOf(named('call summary')[0]))
    expect(parentOf(named('of the attempt')[0])).toBe(idOf(attempt))
  })

  test('without a span the code just runs', async () => {
    const { tracing } = await open()
    expect(tracing.withAttemptSpan({ run: 'r-1', generation: 1, attempt: 1 }, () => 7)).toBe(7)
  })

  test('a run is a root, whoever’s span is active', async () => {
    context.setGlobalContextManager(localContexts())
    const { tracing, tracer, named } = await open()
    const request = tracer.startSpan('request')
    context.with(trace.setSpan(ROOT_CONTEXT, request), () => tracing.listen(event('attempt.started', 0)))
    tracing.close(AT + 1)
    expect(parentOf(named('run summarize')[0])).toBeUndefined()
  })

  test('the global tracer is used when none is given', async () => {
    const tracing = await traceEvents()
    tracing.listen(event('attempt.started', 0))
    tracing.close(AT)
  })
})

/** What an application installs; small enough for a test. */
function localContexts(): ContextManager {
  const storage = new AsyncLocalStorage<Context>()
  return {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, body, self, ...args) => storage.run(active, () => body.call(self, ...args)),
    bind: (_context, target) => target,
    enable() {
      return this
    },
    disable() {
      storage.disable()
      return this
    },
  }
}
