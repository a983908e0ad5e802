/**
 * The reference page of codes is generated from the catalogue; this keeps it from going stale.
 */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { renderCodes } from '../../scripts/codes-doc.ts'

it('docs/reference/codes.md is fresh (run node scripts/codes-doc.ts if not)', () => {
  expect(readFileSync(new URL('../../docs/reference/codes.md', import.meta.url), 'utf8')).toBe(renderCodes())
})
