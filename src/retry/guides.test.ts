import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const root = new URL('../../', import.meta.url)

const PAGES = [
  'docs/guides/retry.md',
  'docs/guides/flows.md',
  'docs/guides/ladder.md',
  'docs/guides/review.md',
  'docs/guides/layers.md',
  'docs/guides/from-p-retry.md',
  'docs/guides/from-cockatiel.md',
  'docs/guides/test-your-handlers.md',
  'docs/guides/submit-in-a-transaction.md',
  'docs/concepts/decisions.md',
  'docs/reference/presets.md',
]

/** What users import, and where it is here. */
const FACES: Readonly<Record<string, string>> = {
  reprise: 'src/index.ts',
  'reprise/testing': 'src/testing/index.ts',
  'reprise/ai': 'src/adapters/ai/index.ts',
  'reprise/bigquery': 'src/adapters/bigquery/index.ts',
  'reprise/langgraph': 'src/adapters/langgraph/index.ts',
  ai: 'node_modules/ai/dist/index.js',
  '@ai-sdk/google': 'node_modules/@ai-sdk/google/dist/index.js',
  '@google-cloud/bigquery': 'node_modules/@google-cloud/bigquery/build/src/index.js',
  '@langchain/langgraph': 'node_modules/@langchain/langgraph/dist/index.js',
  'reprise/stores/memory': 'src/stores/memory/index.ts',
  'reprise/stores/sqlite': 'src/stores/sqlite/index.ts',
  'better-sqlite3': 'node_modules/better-sqlite3/lib/index.js',
}

/** The code of a page as a reader would run it, with the package's public face in place of its name. */
function blocksOf(page: string): string[] {
  const text = readFileSync(new URL(page, root), 'utf8')
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) =>
    code.replaceAll(/(?<= from ')[a-z@][^':]*(?=')/g, (name) => (FACES[name] ? new URL(FACES[name], root).href : name)),
  )
}

it.each(PAGES)('the examples of %s run, and what they assert holds', async (page) => {
  const blocks = blocksOf(page)
  expect(blocks.length).toBeGreaterThan(0)
  const folder = mkdtempSync(join(tmpdir(), 'reprise-guides-'))
  try {
    blocks.forEach((code, index) => {
      writeFileSync(join(folder, `${index}.mts`), code)
    })
    const all = blocks.map((_, index) => `await import('./${index}.mts')`).join('\n')
    writeFileSync(join(folder, 'all.mjs'), `${all}\nconsole.log('ran ${blocks.length}')\n`)
    const { stdout } = await run(process.execPath, ['--no-warnings', join(folder, 'all.mjs')])
    expect(stdout).toBe(`ran ${blocks.length}\n`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
