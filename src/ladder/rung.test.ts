import { describe, expect, test, vi } from 'vitest'
import { failure } from '../failure/own.ts'
import { plan } from '../policy/plan.ts'
import { extraction } from '../policy/presets.ts'
import { fakeModel } from '../testing/fake-model.ts'
import { defaultLadder, ladder } from './ladder.ts'
import { idOf, resourceOf } from './model-id.ts'
import { costOf, factsOf, PRICES, worstCostOf } from './prices.ts'
import { loadModel } from './providers.ts'
import { person, rung } from './rung.ts'

describe('a ladder', () => {
  test('of nobody’s choosing is cheap three times, strong once within its budget, then a person', () => {
    expect(defaultLadder().rungs).toMatchObject([
      { type: 'model', name: 'gemini:flash', model: 'google/gemini-flash-latest', attempts: 3 },
      {
        type: 'model',
        name: 'gemini:pro',
        attempts: 1,
        budget: { name: 'pro', day: 50, month: 1_000 },
        onExhausted: 'person',
      },
      { type: 'person', name: 'review', queue: 'review', withinMs: 4 * 3_600_000 },
    ])
  })

  test('has a shape that policies and plans can be given', () => {
    const { shape } = defaultLadder({ queue: 'accounts' })
    expect(shape).toMatchObject([
      { type: 'model', name: 'gemini:flash', attempts: 3 },
      { type: 'model', name: 'gemini:pro', attempts: 1, budget: 'pro' },
      { type: 'person', queue: 'accounts' },
    ])
    const wrong = failure({ kind: 'semantic', code: 'gate.sum' }).failure
    const { steps } = plan(wrong, { ...extraction, ladder: shape })
    expect(steps.length).toBeGreaterThan(3)
  })

  test.each<[string, () => unknown, string]>([
    ['no rungs', () => ladder([]), 'rungs is a list of 0. Allowed: a list of 1 to 10 rungs.'],
    [
      'two of one name',
      () => ladder([rung('google/gemini-flash-latest'), rung('google/gemini-2.5-flash')]),
      'rungs[1].name is "gemini:flash"',
    ],
    ['something else', () => ladder([{} as never]), 'rungs[0] is {}. Allowed: rung(…) or person(…).'],
    [
      'no attempts',
      () => rung('google/gemini-flash-latest', { attempts: 0 }),
      'rung.attempts is 0. Allowed: a whole number from 1 to 20.',
    ],
    ['half a token', () => rung('google/gemini-flash-latest', { maxOutputTokens: 1.5 }), 'rung.maxOutputTokens is 1.5'],
    [
      'an odd recourse',
      () => rung('google/gemini-flash-latest', { onExhausted: 'pray' as never }),
      'Allowed: person, next, wait.',
    ],
    [
      'a price below nothing',
      () => rung('google/gemini-flash-latest', { price: { input: -1, output: 1 } }),
      'rung.price.input is -1',
    ],
    [
      'money without a bound',
      () => rung('google/gemini-flash-latest', { budget: { name: 'b', day: { usd: 5 } } }),
      'because budget "b" caps money',
    ],
    [
      'no model',
      () => rung('gemini-flash'),
      'model is "gemini-flash". Allowed: an id such as "google/gemini-flash-latest"',
    ],
    ['a model that is none', () => rung({} as never), 'model is object.'],
    ['a desk without a name', () => person({ queue: '' }), 'person.queue is "".'],
    ['a desk without time', () => person({ queue: 'a', within: 'soon' }), 'person.within: "soon" is not a duration'],
  ])('is refused with %s', (_what, make, message) => {
    expect(make).toThrow(message)
  })
})

describe('a model’s name', () => {
  test.each([
    ['google/gemini-flash-latest', 'gemini:flash'],
    ['google/gemini-2.5-flash-lite', 'gemini:flash-lite'],
    ['google/gemini-3-pro-preview', 'gemini:pro'],
    ['google/gemma-3', 'google:gemma-3'],
    ['openai/gpt-5-mini', 'openai:gpt-5-mini'],
    ['anthropic/claude-sonnet-4-5', 'anthropic:claude-sonnet-4-5'],
  ])('%s is held as %s', (id, resource) => {
    expect(resourceOf(id)).toBe(resource)
  })

  test('is the same for an id and for an object', () => {
    expect(idOf(fakeModel([], { id: 'google.generative-ai/gemini-flash-latest' }))).toBe('google/gemini-flash-latest')
  })
})

describe('prices', () => {
  test('the longest name that fits is used, and another table goes first', () => {
    expect(factsOf('openai/gpt-4o-mini-2024')).toBe(PRICES['openai/gpt-4o-mini'])
    expect(factsOf('openai/gpt-4o')).toBe(PRICES['openai/gpt-4o'])
    expect(factsOf('google/gemini-flash-lite-latest').input).toBe(0.1)
    expect(factsOf('openai/gpt-4o', { 'openai/gpt-4o': { input: 9, output: 9 } }).input).toBe(9)
    expect(factsOf('nobody/nothing')).toEqual({})
  })

  test('cached tokens cost their own price, and the worst case is never below the real one', () => {
    const price = { input: 1, output: 10, cached: 0.1 }
    expect(costOf(price, { input: 1_000_000, cached: 400_000, output: 100_000 })).toBeCloseTo(0.6 + 0.04 + 1)
    expect(costOf(undefined, { input: 1 })).toBeUndefined()
    expect(worstCostOf(price, { textBytes: 1_000, images: 1, maxOutputTokens: 1_000 })).toBeCloseTo(
      (7_000 + 10_000) / 1e6,
    )
  })
})

describe('loading', () => {
  test('a provider that nobody knows is named, with those that are known', async () => {
    await expect(loadModel('acme/one', {})).rejects.toThrow(
      'provider "acme" is not known. Allowed: google, openai, anthropic',
    )
  })

  test('a model that was handed in goes first', async () => {
    const model = fakeModel([], { id: 'acme/one' })
    expect(await loadModel('acme/one', { models: { 'acme/one': model } })).toBe(model)
  })

  test.each(['google/gemini-flash-latest', 'openai/gpt-5-mini', 'anthropic/claude-haiku-4-5'])(
    '%s is made by its own package',
    async (id) => {
      const model = await loadModel(id, { baseURLs: { google: 'http://127.0.0.1:1/v1beta' } })
      expect(model).toMatchObject({ specificationVersion: 'v4', modelId: id.split('/')[1] })
    },
  )

  test('a base URL comes from the rung, the options or the environment, in this order', async () => {
    const at = async (url: string, ...given: [options?: Record<string, string>, baseURL?: string]) => {
      const [baseURLs = {}, baseURL] = given
      expect(await loadModel('google/gemini-flash-latest', { baseURLs }, baseURL)).toMatchObject({
        config: { baseURL: url },
      })
    }
    vi.stubEnv('GOOGLE_GENERATIVE_AI_BASE_URL', 'http://127.0.0.1:1/env')
    await at('http://127.0.0.1:1/env')
    await at('http://127.0.0.1:1/options', { google: 'http://127.0.0.1:1/options' })
    await at('http://127.0.0.1:1/rung', { google: 'http://127.0.0.1:1/options' }, 'http://127.0.0.1:1/rung')
    vi.unstubAllEnvs()
  })

  test('objects of older versions are adapted by the SDK', async () => {
    const old = { ...fakeModel([{ json: 1 }]), specificationVersion: 'v3' as const }
    const model = await loadModel(old as never, {})
    expect(model).toMatchObject({ specificationVersion: 'v4' })
    expect((await model.doGenerate({ prompt: [] })).content).toEqual([{ type: 'text', text: '1' }])
  })
})
