import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chooseFault, diceFor, RETRY_AFTER_MS, within } from './choose-fault.ts'
import { FAULT_NAMES } from './fault.ts'
import type { FaultPlan } from './fault-plan.ts'
import { PRESETS } from './presets.ts'

const take = (document: string, before = 0, model = 'gemini-flash-latest', seed = 1) => ({
  seed,
  document,
  model,
  scriptKey: undefined,
  before: { document: before, model: before },
})

const names = (plan: FaultPlan, seed: number, documents: number, takes = 1) =>
  Array.from({ length: documents * takes }, (_, index) => {
    const document = `D-${Math.floor(index / takes)}`
    return chooseFault(plan, take(document, index % takes, 'gemini-flash-latest', seed)).name
  })

describe('the dice', () => {
  test('the same seed gives the same course, another seed another', () => {
    expect(names(PRESETS.storm, 7, 200, 3)).toEqual(names(PRESETS.storm, 7, 200, 3))
    expect(names(PRESETS.storm, 7, 200, 3)).not.toEqual(names(PRESETS.storm, 8, 200, 3))
  })

  test('what a document gets does not depend on what was asked before it', () => {
    const order = fc.shuffledSubarray(
      Array.from({ length: 40 }, (_, index) => index),
      { minLength: 1 },
    )
    const alone = names(PRESETS.storm, 3, 40)
    fc.assert(
      fc.property(order, (documents) => {
        for (const document of documents) {
          const { name } = chooseFault(PRESETS.storm, take(`D-${document}`, 0, 'gemini-flash-latest', 3))
          expect(name).toBe(alone[document])
        }
      }),
    )
  })

  test('shares come out as the plan says', () => {
    const drawn = names({ rates: { overloaded: 0.2, fenced: 0.1 } }, 11, 10_000)
    const share = (name: string) => drawn.filter((each) => each === name).length / drawn.length
    expect(share('overloaded')).toBeCloseTo(0.2, 1)
    expect(Math.abs(share('overloaded') - 0.2)).toBeLessThan(0.015)
    expect(Math.abs(share('fenced') - 0.1)).toBeLessThan(0.012)
    expect(Math.abs(share('ok') - 0.7)).toBeLessThan(0.02)
  })

  test('`always` is drawn once per document: its takes are alike', () => {
    const drawn = names({ always: { 'wrong-net': 0.5 } }, 5, 300, 3)
    for (let at = 0; at < drawn.length; at += 3) expect(new Set(drawn.slice(at, at + 3)).size).toBe(1)
    expect(new Set(drawn)).toEqual(new Set(['ok', 'wrong-net']))
  })

  test('a model’s own rates take the place of those for all', () => {
    const plan: FaultPlan = { rates: { hang: 1 }, models: { pro: { rates: { fenced: 1 } } } }
    expect(chooseFault(plan, take('D-1')).name).toBe('hang')
    expect(chooseFault(plan, take('D-1', 0, 'gemini-pro-latest')).name).toBe('fenced')
  })

  test('both ends of a range are possible, and nothing outside it', () => {
    const dice = diceFor(1, 'range')
    const drawn = new Set(Array.from({ length: 500 }, () => within([2, 5], dice)))
    expect([...drawn].sort()).toEqual([2, 3, 4, 5])
  })
})

describe('the script', () => {
  const script = {
    'D-1': ['reset', { fault: 'rate-limit', retryAfter: '5s' }, 'ok'],
    'D-2': { flash: ['fenced'] },
  } as const
  const plan: FaultPlan = { script, rates: { empty: 1 } }
  const scripted = (key: string, before: number, model = 'gemini-flash-latest') =>
    chooseFault(plan, { ...take(key, before, model), scriptKey: key })

  test('goes before the dice, step by step, and its last step stays', () => {
    expect([0, 1, 2, 3, 9].map((before) => scripted('D-1', before).name)).toEqual([
      'reset',
      'rate-limit',
      'ok',
      'ok',
      'ok',
    ])
  })

  test('tells its own wait', () => {
    expect(scripted('D-1', 1).retryAfterMs).toBe(5_000)
    expect(scripted('D-1', 0).retryAfterMs).toBe(RETRY_AFTER_MS)
  })

  test('a model that it does not name is left to the dice', () => {
    expect(scripted('D-2', 0).name).toBe('fenced')
    expect(scripted('D-2', 0, 'gemini-pro-latest').name).toBe('empty')
  })
})

test('any plan of known faults gives a known fault', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...FAULT_NAMES),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.string(),
      (fault, share, document) => {
        expect(['ok', fault]).toContain(chooseFault({ rates: { [fault]: share } }, take(document)).name)
      },
    ),
  )
})
