/**
 * Tokens by rule of thumb, near what the real counters give for prose, tables and JSON, so that sums of money are plausible.
 * No vocabulary is loaded; equal text has equal counts.
 */

/** English prose has about four characters to a token; JSON and figures about three and a bit. */
const CHARACTERS_PER_TOKEN = { prompt: 3.8, answer: 3.2 } as const

/** What Gemini counts for an image of up to 384 × 384, or for a tile of a larger one. */
export const IMAGE_TOKENS = 258

export function countTokens(text: string, kind: keyof typeof CHARACTERS_PER_TOKEN): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN[kind])
}

/** The first so many tokens of an answer. */
export function cutToTokens(text: string, tokens: number): string {
  return text.slice(0, Math.floor(tokens * CHARACTERS_PER_TOKEN.answer))
}
