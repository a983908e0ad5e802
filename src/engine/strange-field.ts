/**
 * Options with a slip of the pen: a field that nobody knows would be taken and ignored, and that is found out in production.
 * It finds the field; the words are those of whoever asked.
 */

/** The first field that is not among these, unless it is `undefined`. */
export function strangeField(options: object, known: readonly string[]): string | undefined {
  for (const name of Object.keys(options)) {
    if (!known.includes(name) && (options as Readonly<Record<string, unknown>>)[name] !== undefined) return name
  }
  return undefined
}

export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
