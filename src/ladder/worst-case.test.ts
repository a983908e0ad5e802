import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { failure } from '../failure/own.ts'
import { plan } from '../policy/plan.ts'
import { extraction } from '../policy/presets.ts'
import { defaultLadder, ladder } from './ladder.ts'
import { type PromptOptions, promptOf, toldBytesMax } from './prompt.ts'
import { person, rung } from './rung.ts'
import { shapeFor } from './worst-case.ts'

const wrong = failure({ kind: 'semantic', code: 'gate.sum' }).failure
const SIZE = { textBytes: 4_000, images: 1 }

const costs = (shape: ReturnType<typeof shapeFor>) =>
  shape.map((each) => (each.type === 'model' ? each.maxCostUsd : undefined))

describe('what a document costs at worst', () => {
  test('is known to a plan for the default ladder', () => {
    const shape = shapeFor(defaultLadder(), SIZE)
    const [flash = 0, pro = 0] = costs(shape)
    const planned = plan(wrong, { ...extraction, ladder: shape })
    expect(planned.callsByRung).toEqual({ 'gemini:flash': 3, 'gemini:pro': 1 })
    expect(planned.costMaxUsd).toBeCloseTo(3 * flash + pro, 9)
    // Two answers that were cut off give the third one four times the room: 32,768 tokens at $2.50 a million.
    expect(flash).toBeGreaterThan(0.08192 + (10_000 * 0.3) / 1e6)
    expect(planned.costMaxUsd).toBeLessThan(1)
  })

  test('grows with the document, and a first ask alone carries nothing but the question', () => {
    const once = ladder([rung('google/gemini-flash-latest', { maxOutputTokens: 1_000 })])
    const [small = 0] = costs(shapeFor(once, { textBytes: 1_000 }))
    const [large = 0] = costs(shapeFor(once, { textBytes: 1_001_000 }))
    expect(large - small).toBeCloseTo(0.3, 9)
    expect(small).toBeLessThan(((1_000 + 1_000) * 0.3 + 1_000 * 2.5) / 1e6)
  })

  test('is by the prices that are paid, and not known where there is none', () => {
    const mixed = ladder([
      rung('acme/small', { price: { input: 1, output: 0 }, maxOutputTokens: 10 }),
      rung('acme/large'),
      person({ queue: 'desk' }),
    ])
    const [small = 0, large] = costs(shapeFor(mixed, { textBytes: 1_000_000 }))
    expect([small, large]).toEqual([expect.closeTo(1, 2), undefined])
    expect(plan(wrong, { ...extraction, ladder: shapeFor(mixed, SIZE) }).costMaxUsd).toBe(null)
    const told = shapeFor(mixed, { textBytes: 1_000_000 }, { 'acme/large': { input: 2, output: 0 } })
    expect(costs(told)[1]).toBeGreaterThan(2)
  })
})

test('no prompt tells more than is reckoned with, whatever was answered before', () => {
  const words = fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.constant('€'.repeat(20_000)))
  const issue = fc.record({
    path: fc.oneof(fc.constant(`/${'a/'.repeat(400)}`), fc.constant('/€')),
    code: fc.constantFrom('schema.required', 'c'.repeat(100)),
    message: fc.constantFrom('is missing', '€'.repeat(300)),
  })
  const earlier = fc.array(
    fc.record({ rung: fc.constant('r'), text: words, issues: fc.array(issue, { maxLength: 30 }) }),
    {
      maxLength: 6,
    },
  )
  const mode = fc.constantFrom('first' as const, 'correct' as const, 'climb' as const, 'hint' as const)
  fc.assert(
    fc.property(earlier, mode, words, fc.boolean(), (answers, how, hint, less) => {
      if (answers.length === 0 && how !== 'first') return
      const question = { prompt: 'Read it.', document: 'Total: 3 €' }
      const step: PromptOptions['step'] = {
        ...{ do: 'ask', rung: 0, take: 1, mode: how, withImage: false, maxOutputTokens: 0, less },
      }
      const { text } = promptOf({ question, step, earlier: answers, hint, salt: 's' })
      const own = Buffer.byteLength(question.prompt) + Buffer.byteLength(question.document)
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(own + toldBytesMax(answers.length))
    }),
  )
})
