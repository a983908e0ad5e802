import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KINDS } from '../failure/failure.ts'
import { delayBounds } from './backoff.ts'
import { applyEntry, decide } from './decide.ts'
import { daemon, inCall } from './defaults.ts'
import { definePolicy } from './define-policy.ts'
import { failureOf } from './failures.fixtures.ts'
import { plan } from './plan.ts'
import { documentsPatient, extraction, presets } from './presets.ts'
import { EMPTY_LEDGERS, LAPSED_CODE, type Ledgers } from './situation.ts'

describe('plan', () => {
  it('prints the schedule of documents', () => {
    const { steps, callsMax, end, spent, executionsBound } = plan('transient', documentsPatient)
    expect(steps.map(({ failsMs }) => failsMs.latestMs)).toEqual([0, 5, 15, 35, 75].map((minutes) => minutes * 60_000))
    expect({ callsMax, end, spent, executionsBound }).toEqual({
      callsMax: 5,
      end: 'fail',
      spent: 'errors',
      executionsBound: 5,
    })
    expect(steps.at(-1)).not.toHaveProperty('nextMs')
  })

  it('tells the earliest, likely and latest times of jittered waits', () => {
    const { steps } = plan('transient', daemon)
    expect(steps[1]?.failsMs).toEqual({ earliestMs: 0, likelyMs: 30_000, latestMs: 60_000 })
    expect(steps[7]?.failsMs.latestMs).toBe((1 + 2 + 4 + 8 + 16 + 32 + 60) * 60_000)
  })

  it('climbs the ladder to a person, with calls and money', () => {
    const made = plan('semantic', extraction)
    expect(made.steps.map(({ rung, act, to }) => [rung, act, to])).toEqual([
      ['gemini:flash', 'retry', undefined],
      ['gemini:flash', 'retry', undefined],
      ['gemini:flash', 'escalate', 'gemini:pro'],
      ['gemini:pro', 'escalate', 'person'],
    ])
    expect(made).toMatchObject({
      end: 'person',
      spent: 'repairs',
      callsMax: 4,
      callsByRung: { 'gemini:flash': 3, 'gemini:pro': 1 },
      costMaxUsd: null,
      handOver: {
        to: 'person',
        queue: 'extraction',
        withinMs: 14_400_000,
        afterMs: { earliestMs: 0, likelyMs: 0, latestMs: 0 },
      },
    })
    const priced = definePolicy(
      {
        ladder: [
          { type: 'model', name: 'small', attempts: 3, maxCostUsd: 0.01 },
          { type: 'person', name: 'desk', withinMs: '1h' },
        ],
      },
      extraction,
    )
    expect(plan('semantic', priced).costMaxUsd).toBeCloseTo(0.03)
  })

  it('takes a told delay, a deadline and what was used before', () => {
    const told = plan('rate_limited', daemon, { retryAfterMs: 30_000 })
    expect(told).toMatchObject({ callsMax: 21, end: 'fail', spent: 'rateWaits' })
    const short = plan('transient', daemon, { now: 1_000, deadlineAt: 61_000 })
    expect(short.steps[0]?.nextMs).toEqual({ earliestMs: 0, likelyMs: 30_000, latestMs: null })
    expect(short.steps[2]?.failsMs).toMatchObject({ latestMs: null })
    expect(
      plan('transient', daemon, { ledgers: { ...EMPTY_LEDGERS, errors: 6, errorsByKind: { transient: 6 } } }).callsMax,
    ).toBe(2)
    expect(plan('syntax', extraction, { rung: 1 }).callsByRung).toEqual({ 'gemini:pro': 1 })
  })

  it('hands a run that keeps crashing to the review desk', () => {
    const made = plan(failureOf('interrupted', { code: LAPSED_CODE }), daemon)
    expect(made).toMatchObject({ end: 'person', spent: 'lapses', handOver: { to: 'review', queue: 'review' } })
    expect(made.handOver).not.toHaveProperty('withinMs')
  })

  it('ends at once where nothing helps, and refuses a kind that is none', () => {
    expect(plan('final', daemon)).toMatchObject({ callsMax: 1, end: 'fail' })
    expect(plan('conflict', daemon)).toMatchObject({ callsMax: 1, end: 'ignore' })
    expect(() => plan('odd' as 'final', inCall)).toThrow('kind: "odd" is not allowed; allowed are "transient"')
  })

  it('says what decide does, for every preset, kind and dice', () => {
    const dice = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(presets)),
        fc.constantFrom(...KINDS),
        fc.option(fc.nat(200_000)),
        fc.array(dice, { minLength: 50, maxLength: 50 }),
        (policy, kind, told, draws) => {
          const failure = failureOf(kind, told === null ? {} : { retryAfterMs: told })
          const made = plan(failure, policy, { now: 1_000 })
          let ledgers: Ledgers = EMPTY_LEDGERS
          let now = 1_000
          let rung = 0
          for (const [index, step] of made.steps.entries()) {
            const decision = decide({ failure, policy, ledgers, now, dice: draws[index % draws.length] ?? 0, rung })
            expect([
              decision.act,
              decision.to,
              decision.entry,
              decision.counted,
              decision.spent,
              decision.why.code,
            ]).toEqual([step.act, step.to, step.entry, step.counted, step.spent, step.why.code])
            expect(now - 1_000).toBeGreaterThanOrEqual(step.failsMs.earliestMs)
            expect(now - 1_000).toBeLessThanOrEqual(step.failsMs.latestMs ?? Number.NaN)
            ledgers = applyEntry(ledgers, decision, failure)
            now = decision.at ?? now
            rung = decision.rung ?? rung
          }
          expect(made.callsMax).toBeLessThanOrEqual(made.executionsBound)
          expect(delayBounds(policy.kinds[kind].backoff, 1).minMs).toBeGreaterThanOrEqual(0)
        },
      ),
    )
  })
})
