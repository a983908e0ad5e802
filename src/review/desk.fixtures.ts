/**
 * A desk to try reviews at: a store, virtual time, a handler that asks, and one that only hands over.
 */
import { createReprise } from '../engine/reprise.ts'
import { toPerson } from '../engine/throwables.ts'
import type { Store } from '../ports/store.ts'
import type { RepriseEvent } from '../run/event.ts'
import type { Issue, Question, Reply } from '../run/question.ts'
import { memory } from '../stores/memory/index.ts'
import { type VirtualClock, virtualClock } from '../testing/virtual-clock.ts'
import { createReviews } from './reviews.ts'

export const HOUR = 3_600_000

export const QUESTION: Question = {
  title: 'Invoice 7',
  reason: 'the total is not the sum of its lines',
  schema: { type: 'object', required: ['total'] },
  draft: { total: 12 },
  issues: [{ path: '/total', code: 'gate.total', message: 'is not the sum of the lines' }],
  answers: [
    { rung: 'flash', take: 1, value: { total: 11 }, issues: [] },
    { rung: 'pro', take: 1, value: { total: 12 }, issues: [] },
  ],
  document: { text: 'Invoice 7. Total 42', sha256: 'abc' },
}

/** A schema is met by objects that have what it requires: as much of JSON Schema as a test needs. */
export function judge(schema: unknown, value: unknown): Issue[] {
  const { required = [] } = schema as { required?: readonly string[] }
  const missing = required.filter((name) => typeof value !== 'object' || value === null || !(name in value))
  return missing.map((name) => ({ path: `/${name}`, code: 'required', message: 'is missing' }))
}

export function desk(options: { store?: (clock: VirtualClock) => Store; schemaOf?: () => unknown } = {}) {
  const clock = virtualClock()
  const store = (options.store ?? ((clock) => memory({ clock })))(clock)
  const reprise = createReprise({ store, clock, dice: () => 0.5 })
  const events: RepriseEvent[] = []
  reprise.on('*', (event) => events.push(event))
  const { schemaOf } = options
  const reviews = createReviews({
    store,
    judge,
    emit: (event) => events.push(event),
    leaseMs: HOUR,
    ...(schemaOf ? { schemaOf } : {}),
  })
  const heard: Reply[] = []
  /** Asks until the total is at least 10: the application's gate, which knows more than the schema. */
  const invoice = reprise.task(
    'invoice',
    {},
    async ({ queue = 'accounts', within }: { queue?: string; within?: string }, ctx) => {
      for (let round = 1; ; round += 1) {
        const question = { ...QUESTION, hint: `round ${round}` }
        const reply = await ctx.person('total', { queue, question, ...(within === undefined ? {} : { within }) })
        heard.push(reply)
        if (reply.act !== 'answer') return reply
        if ((reply.value as { total: number }).total >= 10) return reply.value
      }
    },
  )
  let handedOver = 0
  const scan = reprise.task('scan', {}, () => {
    handedOver += 1
    if (handedOver === 1) throw toPerson('the scan is upside down', { queue: 'scans', within: '4h' })
    return 'read'
  })
  const extract = reprise.task('extract', { policy: 'extraction' }, () => {
    throw Object.assign(new Error('no JSON'), { name: 'SyntaxError' })
  })
  return {
    ...{ clock, store, reprise, reviews, events, heard, invoice, scan, extract },
    async work(until: 'idle' | 'settled' = 'idle'): Promise<void> {
      const worker = reprise.work({ concurrency: 4 })
      await clock.runUntilSettled(worker.idle(until === 'settled' ? { until } : {}))
      await clock.runUntilSettled(worker.stop())
    },
  }
}
