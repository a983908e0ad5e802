import { describe, expect, test } from 'vitest'
import { filesUnder } from './source-files.ts'
import { untidy } from './tidy.ts'

describe('tidy', () => {
  test('the source keeps the house rules', () => {
    expect(filesUnder('src', /\.ts$/).flatMap(untidy)).toEqual([])
  })

  test('documents name no machine and no registry', () => {
    const pattern = /\/(work|home|root)\/|registry\.|TODO|FIXME/
    const documents = ['docs', 'examples'].flatMap((folder) => filesUnder(folder, /\.(md|ts|json)$/))
    expect(documents.filter(({ text }) => pattern.test(text)).map(({ path }) => path)).toEqual([])
  })

  const header = '/** What it is for. */\n'
  const cases: Array<[rule: string, path: string, text: string]> = [
    ['a clock outside time', 'src/policy/a.ts', `${header}const now = Date.now()`],
    ['a timer outside time', 'src/retry/a.ts', `${header}setTimeout(() => {}, 5)`],
    ['chance outside time', 'src/policy/a.ts', `${header}const dice = Math.random()`],
    ['a crypto id outside time', 'src/engine/a.ts', `${header}import { randomUUID } from 'node:crypto'`],
    ['a missing header', 'src/policy/a.ts', 'export const a = 1'],
    ['an unfinished part', 'src/policy/a.ts', `${header}// TO${'DO'} later`],
    ['a nameless file', 'src/policy/utils.ts', header],
    ['a file past the bound', 'src/policy/a.ts', `${header}${'\n'.repeat(500)}`],
    ['a test that is left out', 'src/policy/a.test.ts', 'test.skip("x", () => {})'],
    ['an any', 'src/policy/a.ts', `${header}const a = b as ${'any'}`],
  ]
  test.each(cases)('%s is found', (_rule, path, text) => {
    expect(untidy({ path, text })).toHaveLength(1)
  })

  test('a stated reason allows a long file', () => {
    const text = `/** All codes of one table. Past 450 lines because the table is one. */\n${'\n'.repeat(500)}`
    expect(untidy({ path: 'src/failure/a.ts', text })).toEqual([])
  })
})
