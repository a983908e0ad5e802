import { describe, expect, it } from 'vitest'
import { decide } from './decide.ts'
import { failureOf } from './failures.fixtures.ts'
import { presets } from './presets.ts'
import { say, WHY_CODES } from './say.ts'
import { EMPTY_LEDGERS } from './situation.ts'
import type { Reasons, Why, WhyCode, WhyParams } from './why.ts'

const NOW = Date.parse('2026-11-15T13:01:37Z')
const at = (clock: string) => Date.parse(`2026-11-15T${clock}Z`)

const message = 'lines.total is not the sum of its lines'
const REASONS: { [Code in keyof Reasons]: Reasons[Code] } = {
  no_progress: { message },
  repairs_spent: { used: 2, max: 2, on: 'gemini:flash', message },
  errors_spent: { used: 3, max: 3, kind: 'transient', message: 'HTTP 503: Service Unavailable' },
  rate_waits_spent: { used: 20, max: 20, message: 'Resource has been exhausted (e.g. check quota).' },
  lapses_spent: { used: 3, max: 3 },
  exhausted: { message: 'budget pro, 50 of 50 calls', until: Date.parse('2026-11-16T00:00:00Z') },
  refused: { message: 'blocked for safety' },
  final: { message: 'the API key of tenant 7 is not valid', advice: 'Fix the key, then retry the 6.' },
  policy: { kind: 'interrupted', message: 'This operation was aborted' },
  asked: { message },
  time_short: { leftMs: 100_000, reserveMs: 120_000, message },
}

const moves = <M extends string>(move: M, more: object) =>
  Object.fromEntries(Object.entries(REASONS).map(([code, params]) => [`${move}.${code}`, { ...params, ...more }]))

/** One sample for each code; the type makes a missing one an error. */
const SAMPLES = {
  ...moves('next', { to: 'gemini:pro' }),
  ...moves('person', { to: 'accounts', withinMs: 14_400_000 }),
  ...moves('end', {}),
  'end.deadline': { deadlineAt: at('13:05:00'), at: at('13:05:10'), message: 'HTTP 503' },
  'end.told_too_long': { toldMs: 3_600_000, maxMs: 60_000, message: 'HTTP 429' },
  'end.quota_day': { message: 'requests per day' },
  'end.suspensions_spent': { max: 1_000 },
  'end.inner': { attempts: 3, message: 'HTTP 503' },
  'end.need_failed': { step: 'ohlcv', how: 'failed' },
  ignored: { message: 'STEP_CLAIM_CONFLICT' },
  'wait.told': { until: at('13:02:10'), used: 2, max: 20, resource: 'gemini:flash', toldBy: 'Retry-After' },
  'wait.told_counted': { until: at('13:02:10'), used: 2, max: 5 },
  'wait.backoff': { attempt: 4, at: at('13:09:31'), backoff: '60 s ×2', dice: 0.913, used: 3, max: 8 },
  'wait.window': { until: Date.parse('2026-11-16T00:00:00Z'), message: 'budget pro, 50 of 50 calls', used: 1, max: 20 },
  'wait.interrupted': { at: at('13:01:38'), used: 1, max: 5 },
  'wait.lapsed': { at: at('13:01:39'), used: 1, max: 3 },
  'ask.again': { repair: 1, max: 2, image: true },
  'run.blocked': { needs: 2, first: 'ohlcv' },
  'run.need_failed': { step: 'ohlcv', how: 'failed' },
  'run.skipped': { step: 'ohlcv', how: 'cancelled' },
  'run.joining': { name: 'chunks', children: 12 },
  'run.ready': { since: at('13:01:00') },
  'run.scheduled': { at: at('14:00:00') },
  'run.held': { resource: 'gemini:flash', until: at('13:02:10'), others: 46 },
  'run.interrupted': { worker: 'w-7f', cause: 'a deploy' },
  'run.lapsed': { silentMs: 30_000, worker: 'w-02', used: 1, max: 3 },
  'run.with_person': { queue: 'accounts', until: at('17:01:37') },
  'run.overdue': { queue: 'accounts', since: at('12:00:00') },
  'run.cancelled': { by: 'mira' },
  'run.succeeded': { attempts: 2 },
  'run.sleeping': { name: 'cool-down', until: at('13:30:00') },
  'run.parked': { key: 'customer-42', max: 1 },
  'run.later': { until: at('13:30:00'), reason: 'the file is still being written' },
  'run.handed_over': { queue: 'accounts', reason: 'two suppliers match', until: at('17:01:37') },
  'run.again': { by: 'mira', generation: 2 },
  'run.reprioritised': { by: 'mira', from: 0, to: -5 },
  'run.rescheduled': { by: 'mira', at: at('14:00:00') },
  'review.answered': { by: 'mira', how: 'corrected' },
  'review.sent_back': { by: 'mira', to: 'gemini:pro', hint: 'the total is on page 2' },
  'review.rejected': { by: 'mira', reason: 'not an invoice' },
  'answer.stored': { paidAt: at('12:58:09') },
  'write.stale': { worker: 'w-7f' },
  'budget.spent': {
    budget: 'gemini:pro',
    window: 'day',
    used: 50,
    cap: 50,
    resetsAt: Date.parse('2026-11-15T23:00:00Z'),
    next: 'person',
  },
  'retried.many': { count: 63, right: 58, wait: 3, skipped: 2 },
} as { [Code in WhyCode]: WhyParams[Code] }

const why = (code: string) => ({ code, params: SAMPLES[code as WhyCode] }) as Why

describe('say', () => {
  it('has a sentence for every code', () => {
    expect(Object.keys(SAMPLES).sort()).toEqual([...WHY_CODES].sort())
    const told = WHY_CODES.map((code) => `${code}: ${say(why(code), { now: NOW })}`)
    expect(told.join('\n')).toMatchSnapshot()
  })

  it('speaks as the house does: sentences, no apologies, nothing undefined', () => {
    for (const code of WHY_CODES) {
      for (const options of [{}, { now: NOW }, { now: NOW, zone: 'Europe/Berlin' }]) {
        const sentence = say(why(code), options)
        expect(sentence).toMatch(/^([A-Z\d]|gemini:).*[.]$/)
        expect(sentence).not.toMatch(/undefined|NaN|null|[Pp]lease|[Oo]ops|[Ss]orry|!|\.\./)
      }
    }
  })

  it('tells the moments of the story in their words', () => {
    const options = { now: NOW, zone: 'Europe/Berlin' }
    expect(say(why('wait.told'), options)).toBe(
      'Waiting for gemini:flash until 14:02:10 (told by Retry-After), 33 s more. Rate wait 2 of 20, not counted.',
    )
    expect(say(why('wait.backoff'), options)).toBe(
      'Attempt 4 at 14:09:31, in 7 m 54 s (60 s ×2, dice 0.91); 3 of 8 errors used.',
    )
    expect(say(why('budget.spent'), options)).toBe(
      'gemini:pro is used up for today (50 of 50). To a person now; the cap resets at 00:00 Berlin.',
    )
    expect(say(why('end.final'), options)).toBe(
      'Ended: the API key of tenant 7 is not valid. A retry cannot help. Fix the key, then retry the 6.',
    )
    expect(say(why('next.no_progress'))).toBe(
      'Next rung: gemini:pro. Same failure, same answer: a third try cannot help.',
    )
    expect(say(why('ask.again'))).toBe('Asked again with the error and the image. Repair 1 of 2.')
  })

  it('leaves relative time out without a now, and puts the date in', () => {
    expect(say(why('wait.backoff'))).toBe(
      'Attempt 4 at 13:09:31 on 15 Nov 2026 (60 s ×2, dice 0.91); 3 of 8 errors used.',
    )
  })

  it('shows a code it does not know instead of failing', () => {
    expect(say({ code: 'later.version', params: { a: 1, b: 'x' } } as unknown as Why)).toBe('later.version (a 1, b x).')
    expect(say({ code: 'toString', params: undefined } as unknown as Why)).toBe('toString.')
    expect(say({ code: 'end.toString', params: {} } as unknown as Why)).toBe('end.toString.')
    expect(say({ code: 'ask.again' } as unknown as Why)).toBe('ask.again.')
  })

  it('tells every decision of every preset', () => {
    for (const policy of Object.values(presets)) {
      for (const kind of [
        'transient',
        'rate_limited',
        'syntax',
        'semantic',
        'refused',
        'final',
        'conflict',
        'exhausted',
        'interrupted',
      ] as const) {
        const decision = decide({ failure: failureOf(kind), policy, ledgers: EMPTY_LEDGERS, now: NOW, dice: 0.5 })
        expect(WHY_CODES).toContain(decision.why.code)
        expect(say(decision.why, { now: NOW })).toMatch(/\.$/)
      }
    }
  })
})
