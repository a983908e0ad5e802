/**
 * A store file with a desk: an invoice that is asked about, one that is overdue, a scan that was handed over, one decided already.
 */
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createReprise } from '../../src/engine/reprise.ts'
import { toPerson } from '../../src/engine/throwables.ts'
import { createReviews } from '../../src/review/reviews.ts'
import type { Question } from '../../src/run/question.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { type VirtualClock, virtualClock } from '../../src/testing/virtual-clock.ts'
import type { Clock } from '../../src/time/clock.ts'
import { HOSTILE } from './durable-world.fixtures.ts'

/** 2026-11-15T14:00:00Z */
const START_AT = 1_794_751_200_000

const SCHEMA = {
  type: 'object',
  required: ['supplier', 'total'],
  properties: { supplier: { type: 'string' }, total: { type: 'number' } },
  additionalProperties: false,
} as const

export const questionOf = (number: string): Question => ({
  title: `Invoice ${number}`,
  reason: 'the total is not the sum of the lines',
  schema: SCHEMA,
  draft: { supplier: 'Kestrel GmbH', total: 1284 },
  issues: [{ path: '/total', code: 'gate.total', message: 'is not the sum of the lines' }],
  answers: [
    { rung: 'gemini:flash', take: 1, value: { supplier: 'Kestrel GmbH', total: 1248 }, issues: [] },
    { rung: 'gemini:pro', take: 1, value: { supplier: 'Kestrel GmbH', total: 1284 }, issues: [] },
  ],
  document: {
    text: `Kestrel GmbH\nInvoice ${number}\n${HOSTILE}\nTotal 1,842.00`,
    sha256: 'ab12',
    mediaType: 'text/plain',
  },
})

/** The application: both handlers go on with what people say. */
export function reviewApp(file: string, clock: Clock) {
  const store = sqlite({ file, clock, durability: 'process' })
  const reprise = createReprise({ store, clock, dice: () => 0.5 })
  const invoice = reprise.task('invoice', {}, async ({ number, within }: { number: string; within?: string }, ctx) => {
    const limit = within === undefined ? {} : { within }
    const reply = await ctx.person('total', { queue: 'accounts', question: questionOf(number), ...limit })
    return reply.act === 'answer' ? reply.value : reply
  })
  const scan = reprise.task('scan', {}, () => {
    throw toPerson('the scan is upside down', { queue: 'scans' })
  })
  return { store, reprise, invoice, scan }
}

export interface ReviewWorld {
  readonly clock: VirtualClock
  /** A new folder with its own copy of the store. */
  folder(): Promise<string>
  remove(): Promise<void>
}

export async function reviewWorld(): Promise<ReviewWorld> {
  const root = await mkdtemp(join(tmpdir(), 'reprise-review-'))
  const clock = virtualClock({ startAt: START_AT })
  const file = join(root, 'template.db')
  const { reprise, invoice, scan, store } = reviewApp(file, clock)
  await reprise.submit(invoice, { number: '20431', within: '4h' }, { key: 'INV-20431' })
  await reprise.submit(invoice, { number: '20432', within: '5m' }, { key: 'INV-20432' })
  await reprise.submit(scan, { file: 'a.png' }, { key: 'a.png' })
  const decided = await reprise.submit(invoice, { number: '20430' }, { key: 'INV-20430' })
  const work = async () => {
    const worker = reprise.work({ concurrency: 1, pollMs: 1_000 })
    await clock.runUntilSettled(worker.idle())
    await clock.runUntilSettled(worker.stop())
  }
  await work()
  const reviews = createReviews({ store, judge: () => [] })
  const taken = await reviews.take(decided.id, { by: 'mira' })
  if (taken.answer === 'ok')
    await reviews.answer(taken.hand, { act: 'correct', value: { supplier: 'Kestrel GmbH', total: 1842 } })
  await work()
  await clock.advance(6 * 60_000)
  await clock.runUntilSettled(reprise.close())
  let copies = 0
  return {
    clock,
    async folder() {
      const folder = await mkdtemp(join(root, `copy-${copies++}-`))
      await copyFile(file, join(folder, 'reprise.db'))
      return folder
    },
    remove: () => rm(root, { recursive: true, force: true }),
  }
}
