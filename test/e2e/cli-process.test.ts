/**
 * The command line as a process of its own: the door for old Node versions, real streams, and exit codes as a shell sees them.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const reprise = fileURLToPath(new URL('../../bin/reprise.js', import.meta.url))
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reprise-process-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

const run = (words: readonly string[], input = '') =>
  spawnSync(process.execPath, [reprise, ...words], {
    input,
    encoding: 'utf8',
    env: { ...process.env, FORCE_COLOR: undefined },
  })

describe('the process', () => {
  test.each([
    ['right', ['codes', 'http.503'], '', 0],
    ['failed', ['codes', 'no.such.code'], '', 1],
    ['a bad line', ['classify'], 'oops', 1],
    ['asked wrongly', ['retyr'], '', 2],
    ['no words', [], '', 0],
  ])('exits as promised: %s', (_, words, input, status) => {
    expect(run(words, input)).toMatchObject({ status, signal: null })
  })

  test('classifies a pipe into a pipe', () => {
    const { stdout, stderr } = run(['classify'], '{"status":503}\n{"status":429}\n')
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).kind),
    ).toEqual(['transient', 'rate_limited'])
    expect(stderr).toBe('')
  })

  // The whole list is larger than a pipe holds, so the writer meets the closed end.
  test('says nothing when the reader has gone', async () => {
    const child = spawn('sh', ['-c', `"${process.execPath}" "${reprise}" codes --json 2>"${folder}/err" | head -c 100`])
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    const status = await new Promise((resolve) => child.on('close', resolve))
    expect(out).toHaveLength(100)
    expect({ status, err: await readFile(join(folder, 'err'), 'utf8') }).toEqual({ status: 0, err: '' })
  })

  test('streams: the first answer comes before the last question', async () => {
    const child = spawn(process.execPath, [reprise, 'classify'])
    const first = new Promise<string>((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk))))
    child.stdin.write('{"status":503}\n')
    expect(JSON.parse(await first).code).toBe('http.503')
    child.stdin.end('{"status":429}\n')
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0)
  })

  test('prints its version from the package', () => {
    expect(run(['--version']).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

describe('an old Node', () => {
  const sentence = /^reprise needs Node\.js 22\.18 or newer; this is v[\d.]+\. [^\n]+\n$/

  test.each([
    ['0.10.48', 2],
    ['20.20.2', 2],
    ['22.17.1', 2],
    ['22.18.0', 0],
    ['23.0.0', 0],
    ['100.0.0', 0],
  ])('%s leads to exit %i', async (version, status) => {
    const preload = join(folder, 'pretend.cjs')
    await writeFile(
      preload,
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`,
    )
    const ran = spawnSync(process.execPath, ['--require', preload, reprise, '--version'], { encoding: 'utf8' })
    expect(ran.status).toBe(status)
    if (status === 2) expect(ran.stderr).toMatch(sentence)
    else expect(ran.stderr).toBe('')
  })

  test('a real one, where the machine has one', async (context) => {
    const older = spawnSync('/usr/bin/node', ['--version'], { encoding: 'utf8' }).stdout?.trim()
    const [major = 99, minor = 0] = (older ?? '').slice(1).split('.').map(Number)
    if (!older || major > 22 || (major === 22 && minor >= 18)) return context.skip('no older Node at /usr/bin/node')
    const ran = spawnSync('/usr/bin/node', [reprise, 'codes'], { encoding: 'utf8' })
    expect(ran.stderr).toMatch(sentence)
    expect(ran.stderr).toContain(`this is ${older}.`)
    expect({ status: ran.status, stdout: ran.stdout }).toEqual({ status: 2, stdout: '' })
  })
})
