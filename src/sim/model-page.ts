/**
 * What the simulator answers to GET: the list of models, as Gemini clients read it, and one model by its name.
 * Any other name can be asked too; the list is for clients that look before they ask.
 */
import { jsonResponse, type WireResponse } from './wire.ts'

const MODELS = ['gemini-flash-latest', 'gemini-pro-latest', 'gemini-2.5-flash', 'gemini-2.5-pro']

const describe = (model: string) => ({
  name: `models/${model}`,
  version: 'sim-001',
  displayName: `${model} (simulated)`,
  inputTokenLimit: 1_048_576,
  outputTokenLimit: 65_536,
  supportedGenerationMethods: ['generateContent', 'countTokens'],
})

export function modelPage(path: string): WireResponse | undefined {
  const found = /\/v1(?:beta)?\/models(?:\/([^/?:]+))?(?:\?|$)/.exec(path)
  if (found === null) return undefined
  const [, model] = found
  return jsonResponse(200, model === undefined ? { models: MODELS.map(describe) } : describe(model))
}
