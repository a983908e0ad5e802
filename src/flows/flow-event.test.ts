import { expect, test } from 'vitest'
import { flowIn } from './flow-event.ts'

test('the document is read from either way of naming it, and only in its collection', () => {
  expect(flowIn({ subject: 'documents/flow_runs/abc' }, 'flow_runs')).toBe('abc')
  expect(flowIn({ document: 'flow_runs/abc', subject: 'documents/other/x' }, 'flow_runs')).toBe('abc')
  for (const event of [
    {},
    { subject: 'documents/flow_runs/' },
    { subject: 'documents/flow_runs/a/steps/b' },
    { document: 'x/a' },
  ])
    expect(flowIn(event, 'flow_runs')).toBeUndefined()
})
