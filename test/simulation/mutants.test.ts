import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { MUTANTS } from '../../scripts/mutants/list.ts'
import { edited } from '../../scripts/mutants/mutant.ts'

const source = (file: string) => readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'utf8')

test('there are at least a dozen planted bugs, each with its own name', () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(12)
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length)
})

test.each(MUTANTS.map((mutant) => [mutant.name, mutant.edits] as const))('%s: can still be planted', (_name, edits) => {
  for (const edit of edits) expect(edited(source(edit.file), edit)).not.toBe(source(edit.file))
})
