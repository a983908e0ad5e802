/**
 * The manual page of the command line says what the program says.
 */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { commandLinePage } from '../../scripts/cli-doc.ts'

test('docs/reference/cli.md is what scripts/cli-doc.ts writes', () => {
  const page = readFileSync(new URL('../../docs/reference/cli.md', import.meta.url), 'utf8')
  expect(page, 'run node scripts/cli-doc.ts').toBe(commandLinePage())
})

test('it tells of every command and every option', () => {
  const page = commandLinePage()
  for (const word of [
    'reprise start',
    'reprise classify',
    'reprise codes',
    'reprise plan',
    '--explain',
    '--policy',
    '--no-color',
  ]) {
    expect(page).toContain(word)
  }
})
