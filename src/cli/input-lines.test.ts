import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type InputLine, inputLines } from './input-lines.ts'

async function linesOf(chunks: readonly (string | Uint8Array)[], charactersMax?: number) {
  async function* stream() {
    yield* chunks
  }
  const lines: InputLine[] = []
  for await (const line of inputLines(stream(), charactersMax)) lines.push(line)
  return lines
}

describe('input lines', () => {
  it('are the same however the bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', maxLength: 60 }),
        fc.integer({ min: 1, max: 7 }),
        async (text, size) => {
          const bytes = new TextEncoder().encode(`${text}\nnext`)
          const chunks: Uint8Array[] = []
          for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
          const whole = (await linesOf([bytes])).map((line) => line.text)
          expect((await linesOf(chunks)).map((line) => line.text)).toEqual(whole)
          expect(whole.at(-1)).toBe('next')
        },
      ),
    )
  })

  it('are numbered from one, with either line ending, and need no last one', async () => {
    expect(await linesOf(['a\r\n\nb'])).toEqual([
      { number: 1, text: 'a', tooLong: false },
      { number: 2, text: '', tooLong: false },
      { number: 3, text: 'b', tooLong: false },
    ])
    expect(await linesOf(['a\n'])).toHaveLength(1)
    expect(await linesOf([])).toHaveLength(0)
  })

  it('drop a byte order mark', async () => {
    expect((await linesOf([new Uint8Array([0xef, 0xbb, 0xbf, 0x61])]))[0]?.text).toBe('a')
  })

  it('keep only the start of a line that is too long, and go on after it', async () => {
    const lines = await linesOf(['x'.repeat(50), 'x'.repeat(50), '\nok\n'], 60)
    expect(lines.map(({ number, text, tooLong }) => [number, text.length, tooLong])).toEqual([
      [1, 60, true],
      [2, 2, false],
    ])
  })
})
