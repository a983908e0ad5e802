import { expect, test } from 'vitest'
import { instantOfText } from './instant.ts'

const AT = 1_794_813_600_123

test.each(['2026-11-16T07:20:00.123Z', '2026-11-16T07:20:00.123456+00:00', '2026-11-16 08:20:00.123+0100'])(
  '%s is an instant',
  (text) => {
    expect(instantOfText(text)).toBe(AT)
  },
)

test.each(['', 'tomorrow', '2026-11-16', '2026-11-16T07:20:00', '2026-13-45T99:99:99Z', '1794813600123'])(
  '%j is none: it has no zone, or no meaning',
  (text) => {
    expect(instantOfText(text)).toBeUndefined()
  },
)
