/**
 * JSON at the engine's doors: values become text once, with clear errors, and get fingerprints that do not depend on key order.
 * It knows nothing of runs.
 */
import { createHash } from 'node:crypto'
import { RepriseError } from '../failure/reprise-error.ts'

/** A row is no place for documents: larger bodies belong into an artifact, and the input into a reference to it. */
export const JSON_MAX_CHARS = 1_000_000

/** JSON text of a value; `undefined` for a value that JSON has no text for. Refuses what would not come back the same. */
export function toJson(value: unknown, field: string): string | undefined {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch (cause) {
    throw new RepriseError(
      'json.invalid',
      `${field} is not JSON: ${(cause as Error).message}. Allowed: what JSON.stringify can write.`,
      { cause },
    )
  }
  if (text !== undefined && text.length > JSON_MAX_CHARS) {
    throw new RepriseError(
      'json.too_large',
      `${field} is ${text.length} characters of JSON. Allowed: ${JSON_MAX_CHARS}. Put the body into an artifact and pass its uri.`,
    )
  }
  return text
}

export function fromJson(text: string): unknown {
  return JSON.parse(text)
}

/** The same text for equal values, whatever the order of their keys. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner) && !('toJSON' in inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

/** 128 bits are plenty to tell inputs apart, and half the characters to store. */
export function hashOf(value: unknown): string {
  return createHash('sha256')
    .update(canonicalJson(value) ?? 'undefined')
    .digest('hex')
    .slice(0, 32)
}
