/**
 * From a model's id to a model that can be called: the provider's package is loaded when it is first used, and named when it is missing.
 * It makes no call and knows no rung.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { CallableModel, ModelObject } from './language-model.ts'
import { type AnyModel, splitId } from './model-id.ts'
import type { Prices } from './prices.ts'

export interface ModelOptions {
  /** Models by the ids that rungs name, before any provider is asked: for gateways, middleware, and tests. */
  readonly models?: Readonly<Record<string, ModelObject>>
  /** Where providers' APIs are, by provider; a rung's own `baseURL` wins. */
  readonly baseURLs?: Readonly<Record<string, string>>
  /** Asked before the table that comes with Reprise. */
  readonly prices?: Prices
}

interface Provider {
  readonly load: () => Promise<(settings: Settings) => (name: string) => ModelObject>
  readonly package: string
  readonly keyVariable: string
  readonly urlVariable: string
}

interface Settings {
  readonly baseURL?: string
  readonly apiKey?: string
}

const PROVIDERS: Readonly<Record<string, Provider>> = {
  google: {
    load: async () => (await import('@ai-sdk/google')).createGoogle,
    package: '@ai-sdk/google',
    keyVariable: 'GOOGLE_GENERATIVE_AI_API_KEY',
    urlVariable: 'GOOGLE_GENERATIVE_AI_BASE_URL',
  },
  openai: {
    load: async () => (await import('@ai-sdk/openai')).createOpenAI,
    package: '@ai-sdk/openai',
    keyVariable: 'OPENAI_API_KEY',
    urlVariable: 'OPENAI_BASE_URL',
  },
  anthropic: {
    load: async () => (await import('@ai-sdk/anthropic')).createAnthropic,
    package: '@ai-sdk/anthropic',
    keyVariable: 'ANTHROPIC_API_KEY',
    urlVariable: 'ANTHROPIC_BASE_URL',
  },
}

/** The model to call. `baseURL` of a rung, then of the options, then of the environment, then the provider's own. */
export async function loadModel(model: AnyModel, options: ModelOptions, baseURL?: string): Promise<CallableModel> {
  if (typeof model !== 'string') return callable(model)
  const given = options.models && Object.hasOwn(options.models, model) ? options.models[model] : undefined
  if (given) return callable(given)
  const { provider: named, name } = splitId(model)
  const provider = Object.hasOwn(PROVIDERS, named) ? PROVIDERS[named] : undefined
  if (!provider) {
    throw new RepriseError(
      'model.provider',
      `model is "${model}", and provider "${named}" is not known. Allowed: ${Object.keys(PROVIDERS).join(', ')}; a model object of the AI SDK; or createReprise({ models: { models: { "${model}": … } } }).`,
    )
  }
  const url = baseURL ?? options.baseURLs?.[named] ?? (process.env[provider.urlVariable] || undefined)
  const create = await provider.load().catch((cause: unknown) => {
    throw missing(model, provider.package, cause)
  })
  const key = !process.env[provider.keyVariable] && url !== undefined && isHere(url) ? { apiKey: 'none' } : {}
  return callable(create({ ...(url === undefined ? {} : { baseURL: url }), ...key })(name))
}

/**
 * Throws before anything is begun what would otherwise fail with the first send: a provider that is not known, its package that is not
 * installed, its key that is not set.
 */
export async function checkModel(model: AnyModel, options: ModelOptions, baseURL?: string): Promise<void> {
  await loadModel(model, options, baseURL)
  if (typeof model !== 'string' || (options.models && Object.hasOwn(options.models, model))) return
  const { provider: named } = splitId(model)
  const provider = PROVIDERS[named]
  const url = baseURL ?? options.baseURLs?.[named] ?? (process.env[provider?.urlVariable ?? ''] || undefined)
  if (!provider || process.env[provider.keyVariable] || (url !== undefined && isHere(url))) return
  throw new RepriseError('model.key', `model "${model}" needs ${provider.keyVariable}, which is not set.`)
}

/** A server on this machine asks for no key, and the provider's package insists on one. */
const isHere = (url: string): boolean => /^https?:\/\/(127\.\d+\.\d+\.\d+|localhost|\[::1\])(:\d+)?(\/|$)/.test(url)

async function callable(model: ModelObject): Promise<CallableModel> {
  // Of that version its calls are as described; the description is a part of it.
  if (model.specificationVersion === 'v4') return model as unknown as CallableModel
  // The SDK itself knows how to call the objects of its older versions.
  const { wrapLanguageModel } = await import('ai').catch((cause: unknown) => {
    throw missing(model.modelId, 'ai', cause)
  })
  return wrapLanguageModel({ model: model as never, middleware: [] }) as unknown as CallableModel
}

function missing(model: string, name: string, cause: unknown): RepriseError {
  const why =
    (cause as { readonly code?: unknown } | undefined)?.code === 'ERR_MODULE_NOT_FOUND'
      ? 'is not installed'
      : 'cannot be loaded'
  return new RepriseError(
    'model.package',
    `model "${model}" needs the package ${name}, which ${why}. Install it: npm install ${name}`,
    { cause },
  )
}
