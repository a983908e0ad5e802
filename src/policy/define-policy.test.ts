import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exponential } from './backoff.ts'
import { isPolicy, type PolicyInput } from './complete-policy.ts'
import { daemon, inCall } from './defaults.ts'
import { definePolicy } from './define-policy.ts'
import { presets } from './presets.ts'

const frozen = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(frozen))

describe('definePolicy', () => {
  it('completes from a base, reads durations and freezes all the way down', () => {
    const policy = definePolicy({
      name: 'patient',
      maxAttempts: 10,
      kinds: {
        transient: { backoff: exponential({ base: '5m', cap: '6h' }) },
        syntax: { backoff: { baseMs: '2s', capMs: '2s', shape: 'fixed' } },
      },
      toldDelay: { maxMs: '2h' },
      ladder: [
        { type: 'model', name: 'small', attempts: 2 },
        { type: 'person', name: 'desk', withinMs: '4h' },
      ],
    })
    expect(policy).toMatchObject({
      name: 'patient',
      scale: 'durable',
      maxAttempts: 10,
      rateWaitsMax: 20,
      toldDelay: { minMs: 1_000, maxMs: 7_200_000, beyond: 'clamp' },
      ladder: [
        { name: 'small', attempts: 2 },
        { name: 'desk', queue: 'desk', withinMs: 14_400_000 },
      ],
    })
    expect(policy.kinds.transient.backoff.capMs).toBe(21_600_000)
    expect(policy.kinds.syntax.backoff).toMatchObject({ shape: 'fixed', baseMs: 2_000 })
    expect(frozen(policy)).toBe(true)
    expect(isPolicy(policy)).toBe(true)
    expect(isPolicy({ ...policy })).toBe(false)
  })

  it('stands on inCall for calls and on daemon otherwise, or on what is given', () => {
    expect(definePolicy({ scale: 'call' }).kinds).toEqual(inCall.kinds)
    expect(definePolicy({}).kinds).toEqual(daemon.kinds)
    expect(definePolicy({ maxAttempts: 2 }, { rateWaitsMax: 7 })).toMatchObject({
      maxAttempts: 2,
      rateWaitsMax: 7,
      lapsesMax: 3,
    })
    expect(definePolicy({ lapsesMax: undefined } as unknown as PolicyInput).lapsesMax).toBe(3)
  })

  it.each<[unknown, string]>([
    [{ maxAttempts: 0 }, 'policy.maxAttempts: 0 is not allowed; allowed are whole numbers from 1 to 10000'],
    [{ maxAttempts: '3' }, 'policy.maxAttempts: "3" is not allowed'],
    [{ maxAttempts: 1e9 }, 'policy.maxAttempts: 1000000000 is not allowed'],
    [{ maxAttemps: 3 }, 'policy: maxAttemps is not a field; allowed are name, scale, maxAttempts'],
    [{ kinds: { transent: {} } }, 'policy.kinds: transent is not a field; allowed are transient, rate_limited'],
    [
      { kinds: { transient: { recourse: 'repair' } } },
      'policy.kinds.transient.recourse: "repair" is not allowed; allowed are "retry", "escalate", "person", "fail"',
    ],
    [
      { kinds: { refused: { recourse: 'retry' } } },
      'policy.kinds.refused.recourse: "retry" is not allowed; allowed are "person", "fail"',
    ],
    [{ kinds: { final: { recourse: 'retry' } } }, 'policy.kinds.final.recourse: "retry" is not allowed'],
    [
      { kinds: { conflict: { recourse: 'retry' } } },
      'policy.kinds.conflict.recourse: "retry" is not allowed; allowed are "ignore"',
    ],
    [
      { kinds: { transient: { backoff: { baseMs: '9 s' } } } },
      'policy.kinds.transient.backoff.baseMs: "9 s" is not a duration',
    ],
    [{ kinds: { transient: { backoff: { jiter: 'full' } } } }, 'policy.kinds.transient.backoff: jiter is not a field'],
    [
      { toldDelay: { minMs: '2d' } },
      'policy.toldDelay.maxMs: 86400000 is not allowed; allowed are 172800000 (minMs) and more',
    ],
    [{ ladder: [] }, 'policy.ladder: a list is not allowed; allowed are lists of 1 to 32 rungs'],
    [{ ladder: [{ type: 'model', name: 'a' }] }, 'policy.ladder[0].attempts: undefined is not allowed'],
    [{ ladder: [{ type: 'robot', name: 'a' }] }, 'policy.ladder[0].type: "robot" is not allowed'],
    [
      {
        ladder: [
          { type: 'model', name: 'a', attempts: 1 },
          { type: 'model', name: 'a', attempts: 1 },
        ],
      },
      'policy.ladder[1].name: "a" is not allowed; allowed are names not used before',
    ],
    [
      {
        ladder: [
          { type: 'person', name: 'p', withinMs: 1 },
          { type: 'model', name: 'a', attempts: 1 },
        ],
      },
      'policy.ladder[1].type: "model" is not allowed; allowed are persons after a person',
    ],
    [{ ladder: [{ type: 'person', name: 'p' }] }, 'policy.ladder[0].withinMs: undefined is not a duration'],
    [
      { ladder: [{ type: 'model', name: 'a', attempts: 1, maxCostUsd: -1 }] },
      'policy.ladder[0].maxCostUsd: -1 is not allowed',
    ],
    [{ limits: { callMs: 'x' } }, 'policy.limits.callMs: "x" is not a duration'],
    [{ name: '' }, 'policy.name: "" is not allowed'],
    [{ scale: 'big' }, 'policy.scale: "big" is not allowed; allowed are "call", "durable"'],
    [null, 'policy: null is not allowed; allowed are objects'],
    [[], 'policy: a list is not allowed'],
    [JSON.parse('{"__proto__": {"maxAttempts": 9}}'), 'policy: __proto__ is not a field'],
    [{ constructor: 1 }, 'policy: constructor is not a field'],
    [{ kinds: JSON.parse('{"__proto__": {}}') }, 'policy.kinds: __proto__ is not a field'],
    [new (class Odd {})(), 'policy: an object is not allowed; allowed are plain objects'],
    [{ [Symbol('x')]: 1 }, 'policy: Symbol(x) is not a field'],
  ])('refuses %j', (input, message) => {
    expect(() => definePolicy(input as PolicyInput, daemon)).toThrow(message)
  })

  it('gives a policy or a RangeError for anything', () => {
    fc.assert(
      fc.property(
        fc.object({
          key: fc.constantFrom('name', 'maxAttempts', 'kinds', 'transient', 'backoff', 'baseMs', 'ladder', 'x'),
        }),
        (input) => {
          try {
            expect(isPolicy(definePolicy(input as PolicyInput, inCall))).toBe(true)
          } catch (error) {
            expect(error).toBeInstanceOf(RangeError)
          }
        },
      ),
    )
  })
})

describe('presets', () => {
  it('are complete, frozen and carry their own names', () => {
    for (const [name, policy] of Object.entries(presets)) {
      expect(policy.name).toBe(name)
      expect(frozen(policy)).toBe(true)
      expect(isPolicy(policy)).toBe(true)
      expect(definePolicy({}, policy)).toEqual(policy)
    }
  })
})
