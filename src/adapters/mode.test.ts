import { expect, test } from 'vitest'
import { modeOf } from './mode.ts'

test('the option goes before the variable, and own is what holds without either', () => {
  expect(modeOf(undefined, {})).toBe('own')
  expect(modeOf(undefined, { REPRISE_MODE: '' })).toBe('own')
  expect(modeOf(undefined, { REPRISE_MODE: 'observe' })).toBe('observe')
  expect(modeOf('own', { REPRISE_MODE: 'observe' })).toBe('own')
})

test('a slip of the pen is named with what is allowed', () => {
  expect(() => modeOf(undefined, { REPRISE_MODE: 'watch' })).toThrow(
    'REPRISE_MODE: "watch" is not allowed; allowed are own, observe',
  )
})
