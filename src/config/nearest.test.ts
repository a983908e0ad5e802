import { expect, it } from 'vitest'
import { nearest } from './nearest.ts'

const commands = ['classify', 'codes', 'plan', 'retry', 'runs', 'start', 'stats']

it.each([
  ['retyr', 'retry'],
  ['pln', 'plan'],
  ['RETRY', 'retry'],
  ['class', 'classify'],
  ['code', 'codes'],
  ['stat', 'stats'],
  ['xyzzy', undefined],
  ['st', undefined],
  ['', undefined],
  ['--json', undefined],
])('%j is meant as %j', (word, meant) => {
  expect(nearest(word, commands)).toBe(meant)
})

it('is quick with words that nobody typed', () => {
  const startedAt = performance.now()
  expect(nearest('x'.repeat(1_000_000), commands)).toBeUndefined()
  expect(performance.now() - startedAt).toBeLessThan(100)
})
