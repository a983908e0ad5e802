/**
 * A text as one byte per character, for loops that look at every character: reading bytes takes half as long as `charCodeAt`.
 * Characters outside ASCII become a stand-in; a loop that cares which one it was asks the text.
 */

/** Stands for any character outside ASCII but one. */
export const FOREIGN = 0x80
/** Stands for the typographic apostrophe, which readers of words take for the plain one. */
export const APOSTROPHE = 0x81

const encoder = new TextEncoder()

/** The bytes of `text`, in `buffer` if they fit there; what stands behind them is rubbish. */
export function asciiOf(text: string, buffer: Uint8Array): Uint8Array {
  const { length } = text
  const bytes = length <= buffer.length ? buffer : new Uint8Array(length)
  const { read, written } = encoder.encodeInto(text, bytes)
  // UTF-8 has as many bytes as characters only where all of them are ASCII.
  if (read === length && written === length) return bytes
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    bytes[i] = code < 128 ? code : code === 0x2019 ? APOSTROPHE : FOREIGN
  }
  return bytes
}
