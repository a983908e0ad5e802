/**
 * One thing that is wrong with an answer: where, by which rule, in words that were fixed before the document was seen.
 * It knows nothing of schemas, models or prompts.
 */

export interface Issue {
  /** JSON pointer into the answer; empty for the whole. */
  readonly path: string
  /** `schema.required`, `gate.sum`: the rule that said no. Stable, so that failures can be grouped by it. */
  readonly code: string
  /** Never names a value of the document, because it is told to models. */
  readonly message: string
  /** The same with values, for people only: a prompt never carries it. */
  readonly detail?: string
}

/** A wrong document can break a rule per line; more than this helps neither a model nor a person. */
export const ISSUES_MAX = 50

const TEXT_MAX = 300

export const cut = (text: string, max: number = TEXT_MAX): string =>
  text.length > max ? `${text.slice(0, max - 1)}…` : text

/** A pointer from the parts of a path, escaped as JSON pointers are. */
export const pointerOf = (parts: readonly (string | number)[]): string =>
  parts.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** The value a pointer leads to; `undefined` where it leads nowhere. Own properties only. */
export function valueAt(value: unknown, pointer: string): unknown {
  if (pointer === '') return value
  let found: unknown = value
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined
    found = (found as Readonly<Record<string, unknown>>)[key]
  }
  return found
}
