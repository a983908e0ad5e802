import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { loadConfig } from './load-config.ts'

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-config-'))
  mkdirSync(join(folder, 'app', 'deep'), { recursive: true })
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

const write = (name: string, text: string) => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

const load = (cwd: string, env: Record<string, string> = {}, flags: Record<string, unknown> = {}) =>
  loadConfig({ cwd: join(folder, cwd), env, flags })

describe('loadConfig', () => {
  test('runs TypeScript, and finds the nearest file upward', async () => {
    write('reprise.config.ts', "export default { log: { level: 'debug' } }")
    const near = write(
      'app/reprise.config.ts',
      "const lease: string = '45s'\nexport default { worker: { leaseMs: lease } }",
    )
    const { settings, file } = await load('app/deep')
    expect(file).toBe(near)
    expect(settings.worker.leaseMs).toBe(45_000)
    expect(settings.log.level).toBe('info')
  })

  test.each(['reprise.config.js', 'reprise.config.mjs'])('finds %s', async (name) => {
    const path = write(`app/${name}`, 'export default { worker: { concurrency: 2 } }')
    const { settings, entries } = await load('app')
    expect(settings.worker.concurrency).toBe(2)
    expect(entries.find((entry) => entry.name === 'worker.concurrency')?.origin).toBe(`file:${path}`)
  })

  test('takes the file that is named, by flag before variable', async () => {
    write('one.ts', 'export default { worker: { concurrency: 1 } }')
    write('two.ts', 'export default { worker: { concurrency: 2 } }')
    expect((await load('app', { REPRISE_CONFIG: '../one.ts' })).settings.worker.concurrency).toBe(1)
    expect(
      (await load('app', { REPRISE_CONFIG: '../one.ts' }, { config: '../two.ts' })).settings.worker.concurrency,
    ).toBe(2)
  })

  test('does without a file', async () => {
    const { file, settings } = await load('app')
    expect(file).toBeUndefined()
    expect(settings.store).toEqual({ driver: 'sqlite', file: join(folder, 'app', 'reprise.db') })
  })

  test('reads the process when nothing else is given', async () => {
    expect((await loadConfig()).settings.worker.concurrency).toBeGreaterThan(0)
  })

  test('a named file must exist', async () => {
    await expect(load('app', {}, { config: 'no.ts' })).rejects.toThrow(
      '--config: "no.ts" is not a file; allowed is the path of a file such as reprise.config.ts (flag:--config)',
    )
    await expect(load('app', { REPRISE_CONFIG: '' })).rejects.toThrow(
      'REPRISE_CONFIG: "" is not a file; allowed is the path of a file such as reprise.config.ts (env:REPRISE_CONFIG)',
    )
  })

  test('two files in one folder are refused', async () => {
    write('app/reprise.config.ts', 'export default {}')
    write('app/reprise.config.js', 'export default {}')
    await expect(load('app')).rejects.toThrow(
      `reprise.config.ts and reprise.config.js are both in ${join(folder, 'app')}; keep one of them`,
    )
  })

  test.each([
    ['export const a = 1', 'the default export is nothing; allowed is an object: export default defineConfig({ … })'],
    ['export default 7', 'the default export is 7; allowed is an object'],
    ['export default [1]', 'the default export is a list; allowed is an object'],
    ['export default new Map()', 'the default export is an object; allowed is an object'],
  ])('a file that exports no configuration is refused: %s', async (text, message) => {
    write('reprise.config.mjs', text)
    await expect(load('app')).rejects.toThrow(message)
  })

  test('a file that throws is named, its error is kept, and its secrets are not told', async () => {
    const path = write('reprise.config.mjs', "throw new Error('no postgres://app:canary-77@db/x')")
    const error = await load('app').catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code: 'config.invalid',
      message: `reprise.config.mjs cannot be loaded: no postgres://***@db/x (file:${path})`,
      cause: expect.any(Error),
    })
  })
})
