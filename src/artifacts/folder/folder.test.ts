import { execFile } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import type { PutArtifact } from '../../ports/artifacts.ts'
import { folder } from './index.ts'

const parent = mkdtempSync(join(tmpdir(), 'reprise-folder-'))
afterAll(() => rmSync(parent, { recursive: true }))

const freshRoot = (): string => join(mkdtempSync(join(parent, 'in-')), 'root')

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const report = (text: string, more: Partial<PutArtifact> = {}): PutArtifact => ({
  path: ['r7', 'report.pdf'],
  body: bytes(text),
  fingerprint: 'print',
  ...more,
})

const fileOf = (root: string): string => join(root, 'r7', 'report.pdf@', 'report.pdf')

/** Everything under a folder, links not followed. */
function tree(at: string): string[] {
  if (!existsSync(at)) return []
  return readdirSync(at, { recursive: true, encoding: 'utf8' }).sort()
}

describe('folder artifacts', () => {
  test('what was put is given back, under a uri that names no place on this machine', async () => {
    const root = freshRoot()
    const artifacts = folder({ root })
    const stored = await artifacts.put(report('hello', { contentType: 'application/pdf' }))
    expect(stored).toEqual({
      uri: 'folder:r7/report.pdf',
      sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
      bytes: 5,
      reused: false,
    })
    expect(await artifacts.get('folder:r7/report.pdf')).toEqual(Buffer.from('hello'))
    expect(readFileSync(fileOf(root), 'utf8')).toBe('hello')
    expect(await artifacts.get('folder:r7/other.pdf')).toBeUndefined()
    expect(((await artifacts.put(report('', { path: ['r7', 'empty'] }))) as { bytes: number }).bytes).toBe(0)
    expect(await artifacts.get('folder:r7/empty')).toEqual(Buffer.from(''))
    await artifacts.close()
  })

  test('the same work again is given the stored object; other work or a broken hash is a conflict, and nothing is touched', async () => {
    const root = freshRoot()
    const artifacts = folder({ root })
    await artifacts.put(report('first'))
    expect(await artifacts.put(report('second'))).toMatchObject({ reused: true, bytes: 5 })
    expect(await artifacts.put(report('third', { fingerprint: 'other' }))).toBe('conflict')
    expect(readFileSync(fileOf(root), 'utf8')).toBe('first')
    writeFileSync(fileOf(root), 'fiRst')
    expect(await artifacts.put(report('first'))).toBe('conflict')
    expect(await artifacts.get('folder:r7/report.pdf')).toBe('broken')
    expect(readFileSync(fileOf(root), 'utf8')).toBe('fiRst')
  })

  test('an artifact that is called like a generation does not clash with it', async () => {
    const artifacts = folder({ root: freshRoot() })
    await artifacts.put(report('one', { path: ['r7', 'g2'] }))
    await artifacts.put(report('two', { path: ['r7', 'g2', 'report.pdf'] }))
    expect(await artifacts.get('folder:r7/g2')).toEqual(Buffer.from('one'))
    expect(await artifacts.get('folder:r7/g2/report.pdf')).toEqual(Buffer.from('two'))
  })

  test('of many writers of one name exactly one writes, and all see its content', async () => {
    const root = freshRoot()
    const writers = Array.from({ length: 30 }, (_, index) => folder({ root }).put(report(`content ${index}`)))
    const answers = await Promise.all(writers)
    const first = answers.filter((answer) => answer !== 'conflict' && !answer.reused)
    expect(first).toHaveLength(1)
    expect(new Set(answers.map((answer) => (answer as { sha256: string }).sha256)).size).toBe(1)
    expect(tree(join(root, '@tmp'))).toEqual([])
  })

  test('metadata that is missing or cut is broken, never a guess', async () => {
    const root = freshRoot()
    const artifacts = folder({ root })
    await artifacts.put(report('hello'))
    const metadata = join(dirname(fileOf(root)), '@artifact.json')
    writeFileSync(metadata, readFileSync(metadata).subarray(0, 20))
    expect(await artifacts.get('folder:r7/report.pdf')).toBe('broken')
    expect(await artifacts.put(report('hello'))).toBe('conflict')
  })

  test('leftovers of writers that died are invisible and swept once they are old', async () => {
    const root = freshRoot()
    for (const name of ['old', 'young']) {
      mkdirSync(join(root, '@tmp', name), { recursive: true })
      writeFileSync(join(root, '@tmp', name, 'report.pdf'), 'hal')
    }
    utimesSync(join(root, '@tmp', 'old'), 1_000, 1_000)
    const artifacts = folder({ root })
    expect(await artifacts.get('folder:r7/report.pdf')).toBeUndefined()
    expect(readdirSync(join(root, '@tmp'))).toEqual(['young'])
    expect(await artifacts.put(report('whole'))).toMatchObject({ reused: false })
  })

  test('a disk that is not there is told as such, and used again once it is', async () => {
    const root = freshRoot()
    writeFileSync(root, 'a file in its place')
    const artifacts = folder({ root: join(root, 'inner') })
    await expect(artifacts.put(report('x'))).rejects.toMatchObject({ code: 'artifacts.unavailable' })
  })

  test.each(['', ' ', 'a\0b'])('root %j is refused', (root) => {
    expect(() => folder({ root })).toThrow(/root: /)
  })
})

describe('killed at any point', () => {
  test('a name has whole bytes or is absent', { timeout: 60_000 }, async () => {
    const root = freshRoot()
    const driver = fileURLToPath(new URL('./index.ts', import.meta.url))
    const script = `
      import { folder } from ${JSON.stringify(driver)}
      const artifacts = folder({ root: ${JSON.stringify(root)} })
      for (let index = 0; ; index += 1) {
        const body = new Uint8Array(200_000).fill(index)
        await artifacts.put({ path: ['r1', 'a' + index], body, fingerprint: 'f' })
        console.log(index)
      }`
    let acknowledged = -1
    for (let round = 0; round < 6; round += 1) {
      await new Promise<void>((resolve) => {
        const child = execFile(process.execPath, ['--input-type=module', '--eval', script], () => resolve())
        const until = 5 + round * 3
        child.stdout?.on('data', (text: string) => {
          for (const line of text.trim().split('\n')) acknowledged = Math.max(acknowledged, Number(line))
          if (
            text
              .trim()
              .split('\n')
              .some((line) => Number(line) % until === until - 1)
          )
            child.kill('SIGKILL')
        })
      })
    }
    const artifacts = folder({ root })
    expect(acknowledged).toBeGreaterThan(5)
    for (let index = 0; index <= acknowledged; index += 1) {
      const body = await artifacts.get(`folder:r1/a${index}`)
      expect(
        body instanceof Uint8Array && body.byteLength === 200_000 && body.every((byte) => byte === index % 256),
      ).toBe(true)
    }
    for (const name of readdirSync(join(root, 'r1'))) {
      expect(await artifacts.get(`folder:r1/${name.slice(0, -1)}`)).toBeInstanceOf(Uint8Array)
    }
  })
})

describe('names cannot leave the root', () => {
  const dots = [
    '.',
    '..',
    '...',
    '..a',
    'a..',
    'a..b',
    '.a',
    'a.',
    '\u2024\u2024',
    '\uff0e\uff0e',
    '\u3002',
    '%2e%2e',
    '..%2f',
  ]
  const separators = [
    '/',
    '\\',
    '\0',
    ':',
    '\n',
    '\r',
    '\t',
    ' ',
    '|',
    '<',
    '>',
    '"',
    '*',
    '?',
    '@',
    '~',
    '$',
    '%',
    '\u2215',
    '\uff0f',
    '\u29f5',
  ]
  const devices = [
    'con',
    'CON',
    'prn',
    'aux',
    'nul',
    'NUL.txt',
    'com1',
    'COM9.log',
    'lpt1',
    'Lpt0',
    'con.',
    'aux.pdf.gz',
  ]
  const bad = [
    ...dots,
    ...devices,
    ...separators.flatMap((one) => [one, `a${one}b`, `${one}a`, `a${one}`, `..${one}..${one}etc`]),
    ...[
      '',
      '-a',
      '_a',
      'a'.repeat(201),
      'ä',
      'a\u0301',
      '\u202ea',
      'C:',
      'c:\\windows',
      '/etc/passwd',
      '//host/share',
      'file:///etc/passwd',
    ],
    ...[
      '\u00b9',
      'com\u00b9',
      'a\u0000.pdf',
      '../'.repeat(20),
      '..\\'.repeat(20),
      '~root',
      '__proto__',
      '\ud800',
      'r1/../../x',
      './x',
      'x/.',
    ],
    ...Array.from({ length: 60 }, (_, index) => `a${String.fromCharCode(0x80 + index * 37)}b`),
  ]

  test(`${bad.length} bad names are refused by name, on every segment, for put and get`, async () => {
    expect(bad.length).toBeGreaterThanOrEqual(200)
    const root = freshRoot()
    const artifacts = folder({ root })
    await artifacts.put(report('here'))
    const before = [tree(dirname(root)), tree(root)]
    for (const name of bad) {
      for (const path of [[name], ['r7', name], [name, 'report.pdf'], ['r7', name, 'report.pdf']]) {
        await expect(artifacts.put(report('bad', { path })), JSON.stringify(path)).rejects.toMatchObject({
          code: 'name.invalid',
        })
      }
      expect(await artifacts.get(`folder:${name}`)).toBeUndefined()
      expect(await artifacts.get(name)).toBeUndefined()
    }
    await expect(artifacts.put(report('bad', { path: [] }))).rejects.toMatchObject({ code: 'name.invalid' })
    await expect(artifacts.put(report('bad', { path: Array(9).fill('a') }))).rejects.toMatchObject({
      code: 'name.invalid',
    })
    await expect(artifacts.put(report('bad', { path: [1 as unknown as string] }))).rejects.toMatchObject({
      code: 'name.invalid',
    })
    expect([tree(dirname(root)), tree(root)]).toEqual(before)
  })

  test.each(['a', 'A', 'r7', 'report.pdf', 'x-1_2.tar.gz', 'a'.repeat(200), 'console', 'com10', 'nulls'])(
    '%s is a good name',
    async (name) => {
      expect(await folder({ root: freshRoot() }).put(report('x', { path: [name] }))).toMatchObject({ reused: false })
    },
  )

  test('a link in the place of a folder, an artifact or its file leads nowhere', async () => {
    const root = freshRoot()
    const outside = mkdtempSync(join(parent, 'outside-'))
    mkdirSync(root)
    symlinkSync(outside, join(root, 'r7'))
    const artifacts = folder({ root })
    await expect(artifacts.put(report('x'))).rejects.toMatchObject({ code: 'artifacts.unsafe' })
    expect(tree(outside)).toEqual([])

    // Somebody's own artifact, reached through a link, is not ours to give.
    await folder({ root: outside }).put(report('secret', { path: ['report.pdf'] }))
    await expect(artifacts.get('folder:r7/report.pdf')).rejects.toMatchObject({ code: 'artifacts.unsafe' })

    mkdirSync(join(root, 'r8'))
    symlinkSync(join(outside, 'report.pdf@'), join(root, 'r8', 'report.pdf@'))
    await expect(artifacts.get('folder:r8/report.pdf')).rejects.toMatchObject({ code: 'artifacts.unsafe' })
    await expect(artifacts.put(report('x', { path: ['r8', 'report.pdf'] }))).rejects.toMatchObject({
      code: 'artifacts.unsafe',
    })

    await artifacts.put(report('mine', { path: ['r9', 'report.pdf'] }))
    const file = join(root, 'r9', 'report.pdf@', 'report.pdf')
    writeFileSync(join(outside, 'mine'), 'mine')
    rmSync(file)
    symlinkSync(join(outside, 'mine'), file)
    expect(await artifacts.get('folder:r9/report.pdf')).toBe('broken')
    expect(lstatSync(file).isSymbolicLink()).toBe(true)
  })

  test('a temporary folder that was replaced by a link is refused', async () => {
    const root = freshRoot()
    const outside = mkdtempSync(join(parent, 'outside-'))
    mkdirSync(root)
    symlinkSync(outside, join(root, '@tmp'))
    mkdirSync(join(outside, 'old'))
    utimesSync(join(outside, 'old'), 1_000, 1_000)
    await expect(folder({ root }).put(report('x'))).rejects.toMatchObject({ code: 'artifacts.unsafe' })
    expect(tree(outside)).toEqual(['old'])
  })

  test('a root that is itself reached by a link is fine', async () => {
    const real = freshRoot()
    mkdirSync(real)
    const link = join(dirname(real), 'link')
    symlinkSync(real, link)
    expect(await folder({ root: link }).put(report('x'))).toMatchObject({ reused: false })
  })
})
