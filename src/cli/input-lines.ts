/**
 * Lines of a byte stream, one at a time and numbered, however they are cut into chunks.
 * Memory is bounded by the longest line allowed; a longer one is reported and skipped, and reading goes on.
 */

/** Errors of a megabyte exist (bodies of HTML pages); four of them is surely not one error. */
export const LINE_CHARACTERS_MAX = 4_194_304

export interface InputLine {
  /** From 1, as editors count. */
  readonly number: number
  readonly text: string
  /** The line was longer than allowed; `text` holds its start only. */
  readonly tooLong: boolean
}

export async function* inputLines(
  chunks: AsyncIterable<Uint8Array | string>,
  charactersMax = LINE_CHARACTERS_MAX,
): AsyncGenerator<InputLine> {
  const decoder = new TextDecoder()
  let number = 1
  let rest = ''
  let tooLong = false
  const line = (text: string): InputLine => {
    const whole = { number, text: text.endsWith('\r') ? text.slice(0, -1) : text, tooLong }
    number += 1
    tooLong = false
    return whole
  }
  for await (const chunk of chunks) {
    const pieces = (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })).split('\n')
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) {
        yield line(rest)
        rest = ''
      }
      if (rest.length + piece.length > charactersMax) tooLong = true
      rest = (rest + piece).slice(0, charactersMax)
    }
  }
  rest += decoder.decode()
  if (rest !== '' || tooLong) yield line(rest)
}
