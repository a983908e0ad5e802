/**
 * Names of models: `google/gemini-flash-latest` for an id or a model object alike, and the resource that is held when it says to wait.
 * It loads nothing and calls nothing.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { ModelObject } from './language-model.ts'

/** A model's id such as `google/gemini-flash-latest`, or a model object of the AI SDK. */
export type AnyModel = string | ModelObject

const ID = /^([a-z0-9][a-z0-9-]*)\/([A-Za-z0-9][A-Za-z0-9._:/-]{0,99})$/

export function idOf(model: AnyModel): string {
  if (typeof model === 'string') return splitId(model) && model
  if (typeof model?.modelId !== 'string' || typeof model.doGenerate !== 'function') {
    throw new RepriseError(
      'model.invalid',
      `model is ${typeof model}. Allowed: an id such as "google/gemini-flash-latest", or a model object of the AI SDK.`,
    )
  }
  // Providers call themselves "google.generative-ai", "openai.responses": the first word is the one that prices are listed by.
  const [provider = 'model'] = model.provider.split('.')
  return `${provider}/${model.modelId}`
}

export function splitId(id: string): { readonly provider: string; readonly name: string } {
  const [, provider, name] = ID.exec(id) ?? []
  if (provider === undefined || name === undefined) {
    throw new RepriseError(
      'model.invalid',
      `model is ${JSON.stringify(id)}. Allowed: an id such as "google/gemini-flash-latest", or a model object of the AI SDK.`,
    )
  }
  return { provider, name }
}

/** Versions of a tier share their limits, so they share their name: `gemini:flash` for every flash. */
const GEMINI = /^gemini-(?:[\d.]+-)?(flash-lite|flash|pro)\b/

/** What a send needs, and what is held when it is told to wait. */
export function resourceOf(id: string): string {
  const slash = id.indexOf('/')
  const provider = id.slice(0, slash)
  const name = id.slice(slash + 1)
  const [, tier] = GEMINI.exec(name) ?? []
  return tier === undefined ? `${provider}:${name}`.slice(0, 60) : `gemini:${tier}`
}
