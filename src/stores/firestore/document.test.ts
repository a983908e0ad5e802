import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changesOf, decode } from './document.ts'

const FIELDS = [
  ...['status', 'stepType', 'category', 'resource', 'priority', 'n', 'generation', 'attempts', 'token', 'worker'],
  ...['leaseUntil', 'startedAt', 'dueAt', 'finishedAt', 'error', 'dependsOn', 'rest', 'inputs', 'input', 'inputBody'],
  ...['outputs', 'output', 'outputBody', 'other'],
]
const value = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom('READY', 'RUNNING', 'SUCCEEDED', 'BLOCKED', 'LLM_REPORT', '{}', '[]', 'null', 'hello'),
)
const step = fc.oneof(fc.dictionary(fc.constantFrom(...FIELDS), value), fc.jsonValue())
const steps = fc.oneof(fc.dictionary(fc.constantFrom('a', 'b', 'c'), step), fc.jsonValue())

test('whatever others wrote is read without a throw, and reading it changes none of it', () => {
  fc.assert(
    fc.property(steps, (given) => {
      const doc = decode({ id: 'd' }, { steps: given }, 1)
      expect(changesOf(doc).filter(([[top]]) => top === 'steps')).toEqual([])
    }),
    { numRuns: 2_000 },
  )
})
