import { expect, it } from 'vitest'
import { presetsPage, readPage } from '../../scripts/presets-doc.ts'

it('docs/reference/presets.md is fresh; else run: npx node scripts/presets-doc.ts', () => {
  expect(readPage()).toBe(presetsPage())
})
