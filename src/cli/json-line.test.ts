import fc from 'fast-check'
import { expect, it } from 'vitest'
import { jsonLine } from './json-line.ts'

const dangerous = fc.constantFrom(
  '\u001b',
  '\u0007',
  '\u007f',
  '\u0085',
  '\u009b',
  '\u009d',
  '\u202e',
  '\u2028',
  '"',
  '\\',
)

it('reads back as the same value and holds nothing that a terminal would obey', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.oneof(dangerous, fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })) }),
      (text) => {
        const line = jsonLine({ text })
        expect(JSON.parse(line)).toEqual({ text })
        expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2028\u2029]/)
      },
    ),
  )
})
