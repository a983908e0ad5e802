/**
 * What a user gets: the packed tarball, installed into an empty project, whose exports and types resolve there.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const bin = (name: string) => join(root, 'node_modules/.bin', name)
let folder: string
let tarball: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reprise-package-'))
  const packed = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], { cwd: root })
  const answer: unknown = JSON.parse(packed.stdout)
  tarball = join(folder, fileNameOf(answer))
  await writeFile(join(folder, 'package.json'), '{ "name": "empty", "private": true, "type": "module" }')
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], { cwd: folder })
}, 120_000)

afterAll(() => rm(folder, { recursive: true, force: true }))

/** npm 11 prints an array of packages, npm 12 an object keyed by name. */
function fileNameOf(answer: unknown): string {
  const first: unknown = Object.values(answer as object)[0]
  return (first as { filename: string }).filename
}

async function subpaths(): Promise<string[]> {
  const manifest: { exports: Record<string, unknown> } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  return Object.keys(manifest.exports).filter((path) => path !== './package.json')
}

describe('the packed package', () => {
  test('every export can be imported from an empty project', async () => {
    const names = (await subpaths()).map((path) => `reprise${path.slice(1)}`)
    const script = names.map((name) => `console.log(Object.keys(await import('${name}')).length > 0)`).join('\n')
    await writeFile(join(folder, 'import-all.js'), script)
    const { stdout } = await run(bin('node'), ['import-all.js'], { cwd: folder })
    expect(stdout.trim().split('\n')).toEqual(names.map(() => 'true'))
  })

  test('its types resolve under strict settings without skipLibCheck', async () => {
    await writeFile(
      join(folder, 'use.ts'),
      `import { classify, decide, plan, retry, type Failure } from 'reprise'
       const failure: Failure = classify(new Error('x'))
       const value: Promise<number> = retry(() => 1)
       console.log(failure.kind, decide, plan, value)`,
    )
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--lib', 'es2024,dom']
    await run(bin('tsc'), [...options, '--types', '', 'use.ts'], { cwd: folder })
  })

  test('its command line runs', async () => {
    const { stdout } = await run(bin('node'), [join(folder, 'node_modules/.bin/reprise'), '--version'])
    expect(stdout).toMatch(/^\d+\.\d+\.\d+/)
  })

  test('publint finds nothing', async () => {
    await run(bin('publint'), [tarball, '--strict'], { cwd: root })
  })

  test('are-the-types-wrong finds nothing for ESM', async () => {
    await run(bin('attw'), [tarball, '--profile', 'esm-only'], { cwd: root })
  })
})
