import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { metricsPage } from '../../../scripts/metrics-doc.ts'

test('docs/reference/metrics.md is printed from the metrics as they are', () => {
  const page = readFileSync(new URL('../../../docs/reference/metrics.md', import.meta.url), 'utf8')
  expect(page === metricsPage(), 'stale: run node scripts/metrics-doc.ts').toBe(true)
})
