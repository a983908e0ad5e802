import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { eventsPage } from '../../scripts/events-doc.ts'

test('docs/reference/events.md is printed from the catalogue as it is', () => {
  const page = readFileSync(new URL('../../docs/reference/events.md', import.meta.url), 'utf8')
  expect(page === eventsPage(), 'stale: run node scripts/events-doc.ts').toBe(true)
})
