import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Failure, KINDS, UNKNOWN_CODE } from '../failure/failure.ts'
import type { PolicyInput } from './complete-policy.ts'
import { applyEntry, decide } from './decide.ts'
import { definePolicy } from './define-policy.ts'
import { executionsBound, ledgerBounds } from './executions-bound.ts'
import { failureOf } from './failures.fixtures.ts'
import type { Policy } from './policy.ts'
import { presets } from './presets.ts'
import { EMPTY_LEDGERS, LAPSED_CODE, type LedgerName, type Ledgers } from './situation.ts'

const whenSpent = fc.constantFrom('escalate' as const, 'person' as const, 'fail' as const)
const backoff = fc.record({
  shape: fc.constantFrom('exponential' as const, 'fixed' as const, 'immediate' as const),
  baseMs: fc.nat(100_000),
  factor: fc.double({ min: 1, max: 10, noNaN: true }),
  capMs: fc.integer({ min: 100_000, max: 10_000_000 }),
  jitter: fc.constantFrom('none' as const, 'full' as const, 'equal' as const, 'additive' as const),
  jitterMs: fc.nat(10_000),
})
const rule = <R extends string>(...recourses: R[]) =>
  fc.record(
    { recourse: fc.constantFrom(...recourses), maxAttempts: fc.integer({ min: 1, max: 6 }), backoff, whenSpent },
    { requiredKeys: ['recourse', 'backoff', 'whenSpent'] },
  )
const ladder = fc
  .tuple(
    fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 3 }),
    fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }),
  )
  .filter(([models, people]) => models.length + people.length > 0)
  .map(([models, people]) => [
    ...models.map((attempts, index) => ({ type: 'model' as const, name: `m${index}`, attempts })),
    ...people.map((attempts, index) => ({ type: 'person' as const, name: `p${index}`, withinMs: 1_000, attempts })),
  ])

const policies: fc.Arbitrary<Policy> = fc.oneof(
  fc.constantFrom(...Object.values(presets)),
  fc
    .record(
      {
        scale: fc.constantFrom('call' as const, 'durable' as const),
        maxAttempts: fc.integer({ min: 1, max: 9 }),
        unknownMaxAttempts: fc.integer({ min: 1, max: 4 }),
        rateWaitsMax: fc.nat(5),
        interruptionsMax: fc.nat(3),
        lapsesMax: fc.nat(3),
        toldDelay: fc.record({
          minMs: fc.nat(1_000),
          maxMs: fc.integer({ min: 1_000, max: 10_000 }),
          beyond: fc.constantFrom('clamp' as const, 'fail' as const),
        }),
        kinds: fc.record({
          transient: rule('retry', 'escalate', 'person', 'fail'),
          rate_limited: rule('retry', 'escalate', 'person', 'fail'),
          syntax: rule('repair', 'retry', 'escalate', 'person', 'fail'),
          semantic: rule('repair', 'retry', 'escalate', 'person', 'fail'),
          refused: rule('person', 'fail'),
          final: rule('person', 'fail'),
          exhausted: rule('wait', 'escalate', 'person', 'fail'),
          interrupted: rule('retry', 'person', 'fail'),
        }),
        ladder,
      },
      {
        requiredKeys: [
          'scale',
          'maxAttempts',
          'unknownMaxAttempts',
          'rateWaitsMax',
          'interruptionsMax',
          'lapsesMax',
          'toldDelay',
          'kinds',
        ],
      },
    )
    .map((input) => definePolicy(input as PolicyInput)),
)

const failures: fc.Arbitrary<Failure> = fc
  .record({
    kind: fc.constantFrom(...KINDS),
    code: fc.constantFrom('some.code', UNKNOWN_CODE, LAPSED_CODE),
    told: fc.oneof(
      fc.constant(undefined),
      fc.nat(20_000),
      fc.constantFrom(0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e18),
    ),
  })
  .map(({ kind, code, told }) => failureOf(kind, { code, ...(told === undefined ? {} : { retryAfterMs: told }) }))

const events = fc.record({
  failure: failures,
  dice: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  noProgress: fc.boolean(),
  asked: fc.boolean(),
  lasts: fc.nat(5_000),
})
const starts = fc.integer({ min: 0, max: 2_000_000_000_000 })

describe('decide, for any policy and any sequence of failures', () => {
  it('ends within the bound, keeps every ledger within its own, and is determined by its input', () => {
    fc.assert(
      fc.property(
        policies,
        fc.array(events, { minLength: 1, maxLength: 30 }),
        starts,
        fc.option(fc.nat(10_000_000)),
        (policy, sequence, startAt, deadline) => {
          const bound = executionsBound(policy)
          const bounds = ledgerBounds(policy)
          const deadlineAt = deadline === null ? undefined : startAt + deadline
          const entries: Partial<Record<LedgerName, number>> = {}
          let ledgers: Ledgers = EMPTY_LEDGERS
          let rung = 0
          let now = startAt
          let executions = 0
          for (let ended = false; !ended; ) {
            const { failure, dice, noProgress, asked, lasts } = sequence[
              executions % sequence.length
            ] as (typeof sequence)[number]
            executions++
            now += lasts
            const situation = {
              failure,
              policy,
              ledgers,
              now,
              dice,
              rung,
              noProgress,
              asked,
              ...(deadlineAt === undefined ? {} : { deadlineAt }),
            }
            const decision = decide(situation)
            expect(decide(structuredClone(situation))).toEqual(decision)
            expect(decision.counted).toBe(decision.entry === 'errors')
            expect(decision.entry === undefined).toBe(decision.act === 'ignore')
            if (decision.act === 'retry' || decision.act === 'escalate') {
              const at = decision.at ?? Number.NaN
              expect(Number.isSafeInteger(at) && at >= now).toBe(true)
              if (deadlineAt !== undefined) expect(at).toBeLessThan(deadlineAt)
            }
            if (failure.kind === 'refused' || failure.kind === 'final') expect(decision.act).not.toBe('retry')
            if (failure.kind === 'conflict') expect(decision.act).toBe('ignore')
            if (decision.rung !== undefined) {
              expect(decision.rung).toBeGreaterThan(rung)
              expect(policy.ladder?.[decision.rung]?.name).toBe(decision.to)
              rung = decision.rung
            }
            if (decision.entry) entries[decision.entry] = (entries[decision.entry] ?? 0) + 1
            ledgers = applyEntry(ledgers, decision, failure)
            now = decision.at ?? now
            ended = decision.act === 'fail' || decision.act === 'ignore'
            expect(executions).toBeLessThanOrEqual(bound)
          }
          for (const [ledger, used] of Object.entries(entries))
            expect(used).toBeLessThanOrEqual(bounds[ledger as LedgerName])
          expect(Object.values(ledgers.errorsByKind).reduce((sum, used) => sum + used, 0)).toBe(ledgers.errors)
        },
      ),
      { numRuns: 3_000 },
    )
  })
})
