import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'

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

/** What each page has to say for itself when its blocks were run: what it threw, or nothing. */
let said: ReadonlyMap<string, string>

// All pages in one process, one after the other: what they import is slow to load.
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-guides-'))
  try {
    const steps = PAGES.flatMap((page, number) =>
      blocksOf(page).map((code, index) => {
        const file = `${number}-${index}.mts`
        writeFileSync(join(folder, file), code)
        return [page, `./${file}`] as const
      }),
    )
    const script = `
      for (const [page, file] of ${JSON.stringify(steps)}) {
        const thrown = await import(file).then(() => '', (error) => String(error?.stack ?? error))
        console.log(JSON.stringify([page, thrown]))
      }`
    writeFileSync(join(folder, 'all.mjs'), script)
    const { stdout } = await run(process.execPath, ['--no-warnings', join(folder, 'all.mjs')])
    const lines = stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(steps.length)
    const told = Map.groupBy(
      lines.map((line) => JSON.parse(line) as [string, string]),
      ([page]) => page,
    )
    said = new Map([...told].map(([page, each]) => [page, each.map(([, thrown]) => thrown).join('')]))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

it.each(PAGES)('the examples of %s run, and what they assert holds', (page) => {
  expect(said.get(page)).toBe('')
})
