import { describe, expect, it } from 'vitest'
import { type Failure, type Kind, UNKNOWN_CODE } from '../failure/failure.ts'
import { exponential } from './backoff.ts'
import { applyEntry, decide } from './decide.ts'
import type { Decision } from './decision.ts'
import { daemon, inCall } from './defaults.ts'
import { definePolicy } from './define-policy.ts'
import { failureOf } from './failures.fixtures.ts'
import type { Policy } from './policy.ts'
import { documents, documentsPatient, extraction, flowReport } from './presets.ts'
import { EMPTY_LEDGERS, LAPSED_CODE, type Ledgers, type Situation } from './situation.ts'

const NOW = 1_800_000_000_000

const situation = (failure: Failure, policy: Policy, rest: Partial<Situation> = {}): Situation => ({
  failure,
  policy,
  ledgers: EMPTY_LEDGERS,
  now: NOW,
  dice: 0.5,
  ...rest,
})

/** Fails in the same way until it ends or a person has it. */
function runOut(failure: Failure, policy: Policy, rest: Partial<Situation> = {}): Decision[] {
  const decisions: Decision[] = []
  let ledgers: Ledgers = rest.ledgers ?? EMPTY_LEDGERS
  let rung = rest.rung ?? 0
  for (;;) {
    const decision = decide(situation(failure, policy, { ...rest, ledgers, rung }))
    decisions.push(decision)
    ledgers = applyEntry(ledgers, decision, failure)
    if (decision.act === 'fail' || decision.act === 'ignore') return decisions
    if (decision.act === 'escalate') {
      if (decision.rung === undefined || policy.ladder?.[decision.rung]?.type === 'person') return decisions
      rung = decision.rung
    }
  }
}

const waits = (decisions: readonly Decision[]) =>
  decisions.filter(({ act }) => act === 'retry').map(({ at }) => (at ?? 0) - NOW)
const last = (decisions: readonly Decision[]) => decisions.at(-1)

describe('the errors ledger', () => {
  it('means executions: 8 are 8', () => {
    const decisions = runOut(failureOf('transient'), daemon, { dice: 1 - 2 ** -53 })
    expect(waits(decisions).map((ms) => ms / 60_000)).toEqual([1, 2, 4, 8, 16, 32, 60])
    expect(decisions).toHaveLength(8)
    expect(decisions.every(({ counted, entry }) => counted && entry === 'errors')).toBe(true)
    expect(last(decisions)).toEqual({
      act: 'fail',
      counted: true,
      entry: 'errors',
      spent: 'errors',
      why: { code: 'end.errors_spent', params: { used: 8, max: 8, message: 'it was transient' } },
    })
  })

  it('gives documents 5, 10, 20, 40 minutes', () => {
    expect(waits(runOut(failureOf('transient'), documents)).map((ms) => ms / 60_000)).toEqual([5, 10])
    expect(waits(runOut(failureOf('transient'), documentsPatient)).map((ms) => ms / 60_000)).toEqual([5, 10, 20, 40])
  })

  it('caps a kind inside it, and an unknown failure at 3', () => {
    const inACall = runOut(failureOf('transient'), inCall)
    expect(waits(inACall)).toEqual([2_000, 2_000])
    expect(last(inACall)?.why).toEqual({
      code: 'end.errors_spent',
      params: { used: 3, max: 3, kind: 'transient', message: 'it was transient' },
    })
    const unknown = runOut(failureOf('transient', { code: UNKNOWN_CODE }), daemon)
    expect(unknown).toHaveLength(3)
    expect(last(unknown)?.why.params).toMatchObject({ used: 3, max: 3, kind: 'unknown' })
    // Known failures before it do not use up the unknown one's tries.
    const before: Ledgers = { ...EMPTY_LEDGERS, errors: 4, errorsByKind: { transient: 4 } }
    expect(decide(situation(failureOf('transient', { code: UNKNOWN_CODE }), daemon, { ledgers: before })).act).toBe(
      'retry',
    )
  })

  it('counts n over all kinds for the backoff', () => {
    const ledgers: Ledgers = { ...EMPTY_LEDGERS, errors: 2, errorsByKind: { transient: 2 } }
    const decision = decide(situation(failureOf('rate_limited'), daemon, { ledgers, dice: 1 - 2 ** -53 }))
    expect(decision).toMatchObject({ act: 'retry', at: NOW + 240_000, counted: true, entry: 'errors' })
    expect(decision.why).toMatchObject({
      code: 'wait.backoff',
      params: { attempt: 4, used: 3, max: 8, backoff: '60 s ×2' },
    })
  })
})

describe('rate waits', () => {
  const told = (retryAfterMs: number) => failureOf('rate_limited', { retryAfterMs, facts: { toldBy: 'Retry-After' } })

  it('are not counted, have their own ledger, and end by its name', () => {
    const decisions = runOut(told(5_000), daemon)
    expect(waits(decisions)).toEqual(Array(20).fill(5_000))
    expect(decisions.slice(0, 20).every(({ counted, entry }) => !counted && entry === 'rateWaits')).toBe(true)
    expect(last(decisions)).toMatchObject({
      act: 'fail',
      entry: 'errors',
      spent: 'rateWaits',
      why: { code: 'end.rate_waits_spent' },
    })
    expect(decisions[0]?.why).toEqual({
      code: 'wait.told',
      params: { until: NOW + 5_000, used: 1, max: 20, toldBy: 'Retry-After' },
    })
  })

  it.each([
    [0, 1_000],
    [-5, 1_000],
    [999.2, 1_000],
    [1_000.2, 1_001],
    [365 * 86_400_000, 86_400_000],
    [Number.POSITIVE_INFINITY, 86_400_000],
  ])('clamps a told %d ms to %d', (ms, waited) => {
    expect(decide(situation(told(ms), daemon)).at).toBe(NOW + waited)
  })

  it('takes a delay that is no number for none', () => {
    expect(decide(situation(told(Number.NaN), daemon)).entry).toBe('errors')
  })

  it('are kept and counted inside a call, and refused when longer than a call may wait', () => {
    const decisions = runOut(told(5_000), inCall)
    expect(waits(decisions)).toEqual([5_000, 5_000, 5_000, 5_000])
    expect(decisions.every(({ counted }) => counted)).toBe(true)
    expect(decide(situation(told(3_600_000), inCall))).toMatchObject({
      act: 'fail',
      why: { code: 'end.told_too_long', params: { toldMs: 3_600_000, maxMs: 60_000 } },
    })
  })

  it('look again now and then while a day is used up, whatever seconds were told with it', () => {
    const quota = { ...told(36_000), code: 'gemini.quota.day' }
    expect(decide(situation(quota, daemon))).toMatchObject({
      at: NOW + 2 * 3_600_000,
      counted: false,
      entry: 'rateWaits',
      why: { code: 'wait.window', params: { used: 1, max: 20 } },
    })
    const { retryAfterMs: _told, ...untold } = quota
    expect(decide(situation(untold, daemon))).toMatchObject({ at: NOW + 2 * 3_600_000, counted: false })
    expect(waits(runOut(untold, daemon)).reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(24 * 3_600_000)
    expect(decide(situation(untold, inCall))).toMatchObject({ act: 'fail', why: { code: 'end.quota_day' } })
  })

  it('keep the delay that a transient failure told, and count it', () => {
    const decision = decide(situation(failureOf('transient', { retryAfterMs: 7_000 }), daemon))
    expect(decision).toMatchObject({
      at: NOW + 7_000,
      counted: true,
      entry: 'errors',
      why: { code: 'wait.told_counted' },
    })
  })
})

describe('interruptions and lapses', () => {
  it('releases five times for nothing, then counts', () => {
    const decisions = runOut(failureOf('interrupted'), daemon)
    expect(decisions.map(({ entry }) => entry)).toEqual([...Array(5).fill('interruptions'), ...Array(8).fill('errors')])
    expect(last(decisions)).toMatchObject({ act: 'fail', spent: 'errors' })
  })

  it('sends the third lapse to review, or to the person on the ladder', () => {
    const lapse = failureOf('interrupted', { code: LAPSED_CODE })
    const decisions = runOut(lapse, daemon)
    expect(decisions.map(({ act, entry, counted }) => [act, entry, counted])).toEqual([
      ['retry', 'lapses', false],
      ['retry', 'lapses', false],
      ['escalate', 'lapses', false],
    ])
    expect(last(decisions)).toMatchObject({
      to: 'review',
      at: NOW,
      spent: 'lapses',
      why: { code: 'person.lapses_spent' },
    })
    const withPerson = definePolicy({ ladder: extraction.ladder ?? [] }, daemon)
    expect(last(runOut(lapse, withPerson))).toMatchObject({ act: 'escalate', to: 'person', rung: 2, entry: 'lapses' })
    // Back from review and lapsed again: nobody is asked twice.
    const again = decide(situation(lapse, daemon, { ledgers: { ...EMPTY_LEDGERS, lapses: 3 } }))
    expect(again).toMatchObject({ act: 'fail', spent: 'lapses', why: { code: 'end.lapses_spent' } })
  })

  it('gives no new corrections for having been to review', () => {
    const lapse = failureOf('interrupted', { code: LAPSED_CODE })
    const ledgers: Ledgers = { ...EMPTY_LEDGERS, lapses: 2, repairs: 2 }
    const decision = decide(situation(lapse, daemon, { ledgers }))
    expect(decision.to).toBe('review')
    expect(applyEntry(ledgers, decision, lapse)).toMatchObject({ lapses: 3, repairs: 2 })
  })

  it('leaves our own stop to others inside a call', () => {
    expect(decide(situation(failureOf('interrupted'), inCall))).toMatchObject({
      act: 'fail',
      why: { code: 'end.policy' },
    })
  })
})

describe('the ladder', () => {
  /** What each provider call is, for the outcomes of the calls in order; a person ends it. */
  function callsFor(outcomes: readonly ('ok' | 'syntax' | 'semantic')[]): string[] {
    const calls: string[] = []
    let ledgers: Ledgers = EMPTY_LEDGERS
    let rung = 0
    for (const outcome of outcomes) {
      calls.push(extraction.ladder?.[rung]?.name ?? '?')
      if (outcome === 'ok') return [...calls, 'done']
      const failure = failureOf(outcome)
      const decision = decide(situation(failure, extraction, { ledgers, rung }))
      ledgers = applyEntry(ledgers, decision, failure)
      if (decision.act === 'fail') return [...calls, 'failed']
      if (decision.act === 'escalate') rung = decision.rung ?? rung
      if (extraction.ladder?.[rung]?.type === 'person') return [...calls, 'person']
    }
    return calls
  }

  it('reaches the strong model and the person on all 27 paths of three answers', () => {
    const answers = ['ok', 'syntax', 'semantic'] as const
    const flash = 'gemini:flash'
    let toPro = 0
    for (const first of answers) {
      for (const second of answers) {
        for (const third of answers) {
          const path = [first, second, third]
          const rightAt = path.indexOf('ok')
          const flashCalls = Array(rightAt === -1 ? 3 : rightAt + 1).fill(flash)
          expect(callsFor([...path, 'ok'])).toEqual([...flashCalls, ...(rightAt === -1 ? ['gemini:pro'] : []), 'done'])
          expect(callsFor([...path, 'semantic']).at(-1)).toBe(rightAt === -1 ? 'person' : 'done')
          if (rightAt === -1) toPro++
        }
      }
    }
    expect(toPro).toBe(8)
  })

  it('goes on at once when an answer and its failure repeat', () => {
    const decision = decide(situation(failureOf('semantic'), extraction, { noProgress: true }))
    expect(decision).toMatchObject({
      act: 'escalate',
      to: 'gemini:pro',
      rung: 1,
      at: NOW,
      entry: 'escalations',
      why: { code: 'next.no_progress' },
    })
    expect(decide(situation(failureOf('semantic'), inCall, { noProgress: true }))).toMatchObject({
      act: 'fail',
      why: { code: 'end.no_progress' },
    })
    // The same 503 twice is no answer, and waiting may well help.
    expect(decide(situation(failureOf('transient'), extraction, { noProgress: true })).act).toBe('retry')
  })

  it('gives a refusal to a person, never to another model and never again', () => {
    expect(decide(situation(failureOf('refused'), extraction))).toMatchObject({
      act: 'escalate',
      to: 'person',
      rung: 2,
    })
    expect(decide(situation(failureOf('refused'), extraction, { rung: 2 }))).toMatchObject({
      act: 'fail',
      why: { code: 'end.refused' },
    })
    expect(decide(situation(failureOf('refused'), daemon)).act).toBe('fail')
  })

  it('resets corrections on the next rung only', () => {
    const failure = failureOf('semantic')
    const ledgers: Ledgers = { ...EMPTY_LEDGERS, repairs: 2 }
    const decision = decide(situation(failure, extraction, { ledgers }))
    expect(decision).toMatchObject({ act: 'escalate', to: 'gemini:pro', spent: 'repairs' })
    expect(applyEntry(ledgers, decision, failure)).toMatchObject({ repairs: 0, escalations: 1, errors: 0 })
  })

  it('adds no repair to what a ladder has decided', () => {
    expect(decide(situation(failureOf('semantic'), daemon)).entry).toBe('repairs')
    expect(decide(situation(failureOf('semantic'), daemon, { asked: true }))).toMatchObject({
      act: 'fail',
      why: { code: 'end.asked' },
    })
  })

  it('climbs no further than its rungs, also when sent back', () => {
    const ledgers: Ledgers = { ...EMPTY_LEDGERS, escalations: 2 }
    expect(decide(situation(failureOf('refused'), extraction, { ledgers }))).toMatchObject({ act: 'fail' })
  })

  it('lets a person correct a refused answer', () => {
    expect(decide(situation(failureOf('semantic'), extraction, { rung: 2 }))).toMatchObject({
      act: 'retry',
      entry: 'repairs',
    })
  })
})

describe('other kinds', () => {
  it('ends a final failure, or gives it to a person where the policy says so', () => {
    expect(decide(situation(failureOf('final'), daemon))).toMatchObject({
      act: 'fail',
      counted: true,
      why: { code: 'end.final' },
    })
    expect(decide(situation(failureOf('final'), extraction))).toMatchObject({
      act: 'escalate',
      to: 'person',
      why: { code: 'person.final' },
    })
  })

  it('ignores a conflict without an entry', () => {
    const decision = decide(situation(failureOf('conflict'), daemon))
    expect(decision).toEqual({
      act: 'ignore',
      counted: false,
      why: { code: 'ignored', params: { message: 'it was conflict' } },
    })
    expect(applyEntry(EMPTY_LEDGERS, decision, failureOf('conflict'))).toBe(EMPTY_LEDGERS)
  })

  it('sends a spent limit to the next rung, to a person, or waits for its window', () => {
    const spent = failureOf('exhausted', { retryAfterMs: 30 * 86_400_000 })
    expect(decide(situation(spent, extraction, { rung: 1 }))).toMatchObject({ act: 'escalate', to: 'person' })
    const upward = definePolicy({ ladder: extraction.ladder ?? [] }, daemon)
    expect(decide(situation(spent, upward))).toMatchObject({ act: 'escalate', to: 'gemini:pro' })
    const patient = definePolicy({ kinds: { exhausted: { recourse: 'wait' } } }, upward)
    expect(decide(situation(spent, patient))).toMatchObject({
      act: 'retry',
      at: NOW + 30 * 86_400_000,
      entry: 'rateWaits',
      counted: false,
    })
    expect(decide(situation(failureOf('exhausted'), patient))).toMatchObject({
      act: 'fail',
      why: { code: 'end.exhausted' },
    })
    // Without anybody to go to, a window that heals is waited for.
    expect(decide(situation(spent, daemon))).toMatchObject({ act: 'retry', why: { code: 'wait.window' } })
    expect(decide(situation(failureOf('exhausted'), daemon))).toMatchObject({ act: 'fail' })
    expect(last(runOut(spent, daemon))).toMatchObject({ act: 'fail', spent: 'rateWaits' })
  })
})

describe('the deadline', () => {
  it.each<[Kind, Partial<Failure>, Policy]>([
    [
      'transient',
      {},
      definePolicy({ kinds: { transient: { backoff: exponential({ base: '10s', cap: '1h', jitter: 'none' }) } } }),
    ],
    ['rate_limited', { retryAfterMs: 10_000 }, daemon],
    ['exhausted', { retryAfterMs: 10_000 }, daemon],
  ])('schedules no %s at or past it', (kind, rest, policy) => {
    const failure = failureOf(kind, rest)
    expect(decide(situation(failure, policy, { deadlineAt: NOW + 10_000 }))).toMatchObject({
      act: 'fail',
      why: { code: 'end.deadline', params: { deadlineAt: NOW + 10_000, at: NOW + 10_000 } },
    })
    expect(decide(situation(failure, policy, { deadlineAt: NOW + 10_001 })).act).toBe('retry')
  })

  it('stops repairs and escalations too', () => {
    expect(decide(situation(failureOf('semantic'), extraction, { deadlineAt: NOW })).why.code).toBe('end.deadline')
    expect(decide(situation(failureOf('refused'), extraction, { deadlineAt: NOW })).why.code).toBe('end.deadline')
    const lapse = failureOf('interrupted', { code: LAPSED_CODE })
    const policy = definePolicy({ ladder: extraction.ladder ?? [] }, daemon)
    const third = { ...EMPTY_LEDGERS, lapses: 2 }
    expect(decide(situation(lapse, policy, { deadlineAt: NOW, ledgers: third })).act).toBe('fail')
  })

  it('repairs only while there is time to store the result', () => {
    const failure = failureOf('syntax')
    expect(decide(situation(failure, flowReport, { deadlineAt: NOW + 120_001 }))).toMatchObject({
      act: 'retry',
      entry: 'repairs',
    })
    expect(decide(situation(failure, flowReport, { deadlineAt: NOW + 120_000 }))).toMatchObject({
      act: 'fail',
      why: { code: 'end.time_short', params: { leftMs: 120_000, reserveMs: 120_000 } },
    })
    expect(runOut(failure, flowReport, { deadlineAt: NOW + 780_000 })).toHaveLength(2)
  })
})
