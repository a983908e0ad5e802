/**
 * Instants that others wrote as text: ISO 8601 with its zone, as every language prints it.
 * A text without a zone means another instant on every machine, so that it is none.
 */
const ISO = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/

/** Epoch milliseconds; `undefined` for every other text. */
export function instantOfText(text: string): number | undefined {
  if (!ISO.test(text)) return undefined
  const at = Date.parse(text.replace(' ', 'T').replace(',', '.'))
  return Number.isNaN(at) ? undefined : at
}
