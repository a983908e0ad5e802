/**
 * What models cost and how long their answers may be, as data. It knows nothing of budgets or calls.
 *
 * List prices in US dollars per million tokens, November 2026, gathered from public comparisons and not from a bill: standard tier, prompts
 * up to 200,000 tokens. Prices change, and names that end in `-latest` move to other models; they are listed at the price of the 2.5 family.
 * Whoever caps money should say what is paid: a rung's own `price`, then `createReprise({ models: { prices } })`, are asked before
 * this table. A model that is in none of them has no price, never a guessed one.
 */

export interface Price {
  /** US dollars per million input tokens. */
  readonly input: number
  /** US dollars per million output tokens, reasoning included. */
  readonly output: number
  /** US dollars per million input tokens that the provider had cached; the full price when absent. */
  readonly cached?: number
}

export interface ModelFacts extends Partial<Price> {
  /** The longest answer the model can give, in tokens. */
  readonly maxOutputTokens?: number
}

/** By `provider/model`, or the beginning of it: the longest that fits is used. */
export type Prices = Readonly<Record<string, ModelFacts>>

export const PRICES: Prices = {
  'google/gemini-flash-lite': { input: 0.1, output: 0.4, cached: 0.01, maxOutputTokens: 65_536 },
  'google/gemini-flash': { input: 0.3, output: 2.5, cached: 0.03, maxOutputTokens: 65_536 },
  'google/gemini-pro': { input: 1.25, output: 10, cached: 0.125, maxOutputTokens: 65_536 },
  'google/gemini-2.0-flash': { input: 0.1, output: 0.4, cached: 0.025, maxOutputTokens: 8_192 },
  'google/gemini-2.5-flash-lite': { input: 0.1, output: 0.4, cached: 0.01, maxOutputTokens: 65_536 },
  'google/gemini-2.5-flash': { input: 0.3, output: 2.5, cached: 0.03, maxOutputTokens: 65_536 },
  'google/gemini-2.5-pro': { input: 1.25, output: 10, cached: 0.125, maxOutputTokens: 65_536 },
  'google/gemini-3-flash': { input: 0.5, output: 3, maxOutputTokens: 65_536 },
  'google/gemini-3.1-flash-lite': { input: 0.25, output: 1.5, maxOutputTokens: 65_536 },
  'google/gemini-3.1-pro': { input: 2, output: 12, maxOutputTokens: 65_536 },
  'google/gemini-3.5-flash': { input: 1.5, output: 9, maxOutputTokens: 65_536 },
  'google/gemini-3-pro': { input: 2, output: 12, cached: 0.2, maxOutputTokens: 65_536 },
  'openai/gpt-4o': { input: 2.5, output: 10, cached: 1.25, maxOutputTokens: 16_384 },
  'openai/gpt-4o-mini': { input: 0.15, output: 0.6, cached: 0.075, maxOutputTokens: 16_384 },
  'openai/gpt-4.1': { input: 2, output: 8, cached: 0.5, maxOutputTokens: 32_768 },
  'openai/gpt-4.1-mini': { input: 0.4, output: 1.6, cached: 0.1, maxOutputTokens: 32_768 },
  'openai/gpt-4.1-nano': { input: 0.1, output: 0.4, cached: 0.025, maxOutputTokens: 32_768 },
  'openai/gpt-5': { input: 1.25, output: 10, cached: 0.125, maxOutputTokens: 128_000 },
  'openai/gpt-5-mini': { input: 0.25, output: 2, cached: 0.025, maxOutputTokens: 128_000 },
  'openai/gpt-5-nano': { input: 0.05, output: 0.4, cached: 0.005, maxOutputTokens: 128_000 },
  'anthropic/claude-haiku-4-5': { input: 1, output: 5, cached: 0.1, maxOutputTokens: 64_000 },
  'anthropic/claude-sonnet-4': { input: 3, output: 15, cached: 0.3, maxOutputTokens: 64_000 },
  'anthropic/claude-opus-4-5': { input: 5, output: 25, cached: 0.5, maxOutputTokens: 64_000 },
}

/** What is known about a model; empty when nothing is. */
export function factsOf(model: string, ...tables: readonly (Prices | undefined)[]): ModelFacts {
  for (const table of [...tables, PRICES]) {
    if (!table) continue
    const names = Object.keys(table).filter((name) => model === name || isVariant(model, name))
    const [best] = names.sort((a, b) => b.length - a.length)
    if (best !== undefined) return table[best] ?? {}
  }
  return {}
}

/** `gemini-flash-latest` is a variant of `gemini-flash`; `gpt-4o-mini` would be one of `gpt-4o`, so the longest name wins. */
const isVariant = (model: string, name: string): boolean => model.startsWith(`${name}-`)

export interface Tokens {
  readonly input?: number
  readonly output?: number
  readonly cached?: number
}

const MILLION = 1_000_000

/** US dollars for what was used; `undefined` without a price. */
export function costOf(price: Price | undefined, { input = 0, output = 0, cached = 0 }: Tokens): number | undefined {
  if (!price) return undefined
  const fresh = Math.max(0, input - cached)
  return (
    (fresh * price.input + Math.min(cached, input) * (price.cached ?? price.input) + output * price.output) / MILLION
  )
}

/** No provider counts an image of ordinary size as more than this many tokens. */
const IMAGE_TOKENS_MAX = 6_000

/** What one send can cost at worst: a token is at least one byte of text, and an answer is as long as it may be. */
export function worstCostOf(
  price: Price | undefined,
  {
    textBytes,
    images,
    maxOutputTokens,
  }: { readonly textBytes: number; readonly images: number; readonly maxOutputTokens: number },
): number | undefined {
  return costOf(price, { input: textBytes + images * IMAGE_TOKENS_MAX, output: maxOutputTokens })
}
