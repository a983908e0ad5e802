/**
 * Every bound of the classifier, each with its reason: errors come from outside and may be of any size or shape.
 * It knows no error and no rule.
 */

/** Wrappers nest three or four deep in practice (retry error → SDK error → body → details); twice that is generous. */
export const DEPTH_MAX = 9

/** Objects looked into per error. A batch failure can list thousands of rows; the first few tell the class. */
export const NODES_MAX = 96

/** Own keys looked at per object, so that a whole response or client hung on an error costs nothing. */
export const KEYS_MAX = 128

/** Items looked at per array: the first ones name the cause, the rest repeat it. */
export const ITEMS_MAX = 12

/** Characters kept of one text: the first 3/4 and the last 1/4, since a traceback names the error in its last line. */
export const TEXT_MAX = 6_144

/** Characters scanned per error over all its texts; the time bound of `classify` rests on this one. */
export const CHARS_MAX = 24_576

/** Texts kept per error. */
export const TEXTS_MAX = 24

/** Exact tokens (codes, names, reasons) kept per error. */
export const TOKENS_MAX = 64

/** A code or a name is short; longer strings are prose or payload. */
export const TOKEN_LENGTH_MAX = 160

/** Characters of a string in which embedded JSON is looked for. */
export const EMBEDDED_MAX = 16_384

/** Characters handed to a user's regular expression: its cost is the user's, its input is ours to bound. */
export const USER_TEXT_MAX = 4_096

/** Length of `Failure.message`: a paragraph, small enough to be stored with every attempt. */
export const MESSAGE_MAX = 1_000

/** Length of a fact's value. */
export const FACT_MAX = 200

/** The longest delay that is believed at all (400 days): past it the number is not a delay. */
export const DELAY_MAX_MS = 400 * 86_400_000

/** Cut a text to its bound, keeping head and tail. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text
  const head = Math.floor((max * 3) / 4)
  return `${text.slice(0, head)} … ${text.slice(text.length - (max - head - 3))}`
}
