import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseInstant } from './instant.ts'

it('reads what the platform writes', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
      expect(parseInstant(date.toISOString())).toBe(date.getTime())
      expect(parseInstant(String(date.getTime()))).toBe(date.getTime())
    }),
  )
})

it.each([
  ['2026-11-15T14:02:10+01:00', '2026-11-15T13:02:10Z'],
  ['2026-11-15T14:02Z', '2026-11-15T14:02:00Z'],
  ['2026-11-15', '2026-11-15T00:00:00Z'],
  ['2024-02-29T00:00:00.5Z', '2024-02-29T00:00:00.500Z'],
])('reads %s', (text, same) => {
  expect(parseInstant(text)).toBe(Date.parse(same))
})

it.each([
  '',
  'now',
  '2026-11-15T14:02:10',
  '2026-02-30',
  '2025-02-29',
  '2026-13-01',
  '2026-11-15T24:00:00Z',
  '-5',
  '1e9',
  '99999999999999999',
])('refuses %j', (text) => {
  expect(() => parseInstant(text)).toThrow('is not an instant')
})
