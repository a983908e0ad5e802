/**
 * One byte per character, whatever the characters are.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { APOSTROPHE, asciiOf, FOREIGN } from './ascii.ts'

it('gives each character its own byte, in the buffer or past it (property)', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'Z', '\0', '\x7f', '\x80', 'é', '’', '…', '\ud83d', '\ude00', '😀'),
  })
  fc.assert(
    fc.property(text, fc.nat(12), (value, room) => {
      const bytes = asciiOf(value, new Uint8Array(room))
      const wanted = Array.from({ length: value.length }, (_, i) => {
        const code = value.charCodeAt(i)
        return code < 128 ? code : code === 0x2019 ? APOSTROPHE : FOREIGN
      })
      expect([...bytes.subarray(0, value.length)]).toEqual(wanted)
    }),
  )
})
