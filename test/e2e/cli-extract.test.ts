/**
 * `reprise extract` in process, against a simulated provider: what it writes, how it ends, and every way in which it is refused.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { FakeOptions } from '../../src/cli/fake-console.fixtures.ts'
import { runLine } from '../../src/cli/run-line.fixtures.ts'
import { widthOf } from '../../src/cli/terminal/text.ts'
import { type Simulator, startSimulator } from '../../src/sim/simulator.ts'
import { systemClock } from '../../src/time/clock.ts'
import { documentNamed, schema } from './ladder-world.fixtures.ts'

let cwd: string
let simulator: Simulator

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'reprise-cli-extract-'))
  await mkdir(join(cwd, 'docs'))
  for (const name of ['DOC-1', 'DOC-2', 'DOC-3']) await writeFile(join(cwd, `docs/${name}.md`), documentNamed(name))
  await writeFile(join(cwd, 's.json'), JSON.stringify(schema))
  simulator = await startSimulator({
    script: { 'DOC-2': ['no-json', 'ok'], 'DOC-3': ['safety'], 'DOC-4': { flash: ['wrong-total-anew'], pro: ['ok'] } },
  })
  vi.stubEnv('GOOGLE_GENERATIVE_AI_BASE_URL', `${simulator.url}/v1beta`)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await simulator.close()
  await rm(cwd, { recursive: true, force: true })
})

const GATE =
  "export default [{ name: 'total', path: '/total', message: 'total must be net plus tax', check: (v) => Math.abs(v.net + v.tax - v.total) < 0.005 }]\n"
const extract = (words: string, options: FakeOptions & { interruption?: AbortSignal } = {}) =>
  runLine(`extract ${words}`, { clock: systemClock, cwd, ...options })
const results = async (file: string) =>
  (await readFile(join(cwd, file), 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('what it does', () => {
  test('results, reasons and the story; again it buys nothing; a new document is the only one that is asked about', async () => {
    const { exit, out, err } = await extract('docs --schema s.json --out results.jsonl')
    expect({ exit, err }).toEqual({ exit: 0, err: '' })
    expect(out).toContain('3 documents → results.jsonl  store sqlite:reprise.db\n')
    expect(out).toMatch(/✓ 3 documents in [\d.]+ s: 2 right, 1 with a person, 0 failed/)
    expect(out).toMatch(/asked again +1 +2 /)
    expect(out).toContain('reprise review answer DOC-3 --edit')
    expect(Math.max(...out.split('\n').map(widthOf))).toBeLessThanOrEqual(80)
    expect(await results('results.jsonl')).toMatchObject([
      {
        document: 'DOC-1',
        files: ['docs/DOC-1.md'],
        outcome: 'right',
        recourse: 'first',
        value: { total: 4159.63 },
        calls: 1,
      },
      { document: 'DOC-2', outcome: 'right', recourse: 'asked', calls: 2, kinds: ['syntax'] },
      { document: 'DOC-3', outcome: 'person', reason: expect.stringContaining('refused'), calls: 1 },
    ])
    expect(simulator.requests()).toHaveLength(4)

    const second = await extract('docs --schema s.json')
    expect(second.out).toContain('Nothing was bought this time: all 4 calls')
    expect(simulator.requests()).toHaveLength(4)

    await writeFile(join(cwd, 'docs/DOC-4.md'), documentNamed('DOC-4'))
    await writeFile(join(cwd, 'rules.mjs'), GATE)
    const third = await extract('docs --schema s.json --gate rules.mjs')
    expect(third.out).toMatch(/This time 4 calls for \$0\.0\d\d; 4 calls \(\$0\.00\d\) were paid for before\./)
    expect(third.out).toMatch(/stronger model +1 +4 /)
    expect(
      simulator
        .requests()
        .slice(4)
        .map(({ document }) => document),
    ).toEqual(Array(4).fill('DOC-4'))
  })

  test('the story of a document is found by its name and tells each take', async () => {
    await writeFile(join(cwd, 'docs/DOC-4.md'), documentNamed('DOC-4'))
    await writeFile(join(cwd, 'rules.mjs'), GATE)
    await extract('docs --schema s.json --gate rules.mjs')
    const show = async (name: string) => (await runLine(`show ${name}`, { clock: systemClock, cwd })).out
    expect(await show('DOC-1')).toMatch(/gemini:flash +✓ +right/)
    expect(await show('DOC-2')).toMatch(
      /gemini:flash +{} syntax [^→]*answer\.syntax[^→]*→ asked again with the error\n.*gemini:flash +✓ +right/,
    )
    expect(await show('DOC-3')).toMatch(/gemini:flash +⊘ +refused[^→]*→ a person is asked/)
    expect(await show('DOC-4')).toMatch(
      /gemini:flash +≠ +semantic[^→]*\(gate\.total\)[^→]*→ next rung: gemini:pro\n.*gemini:pro +✓ +right/,
    )
  })

  test('a document that failed makes exit 1, and the others go on', async () => {
    await writeFile(join(cwd, 'docs/DOC-0.md'), '')
    const { exit, out } = await extract('docs --schema s.json')
    expect(exit).toBe(1)
    expect(out).toMatch(/4 documents in [\d.]+ s: 2 right, 1 with a person, 1 failed/)
    expect(out).toMatch(/nothing +1 +0 .*DOC-0 is empty/)
  })

  test('as data: objects on stdout, words on stderr', async () => {
    const { out, err } = await extract('docs --schema s.json --json')
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).outcome),
    ).toEqual(['right', 'right', 'person'])
    expect(err).toContain('What it took')
  })

  test('in a pipe: no codes; on a narrow terminal nothing is wider than it', async () => {
    const plain = await extract('docs --schema s.json')
    expect(plain.out).not.toContain('\u001b')
    const narrow = await extract('docs --schema s.json', {
      isTTY: true,
      columns: 60,
      env: { NO_COLOR: '1' },
    })
    expect(
      Math.max(
        ...narrow.out
          .replace(/\u001b\[[\d;]*[A-Za-z]/g, '')
          .split('\n')
          .map(widthOf),
      ),
    ).toBeLessThanOrEqual(60)
  })

  test('Ctrl-C before anything was sent: nothing is bought, it says so, and the same command goes on', async () => {
    const stop = new AbortController()
    stop.abort()
    const { exit, out } = await extract('docs --schema s.json', { interruption: stop.signal })
    expect(exit).toBe(1)
    expect(out).toContain('Stopped. What was paid for is stored; the same command goes on.')
    const bought = simulator.requests().length
    expect((await extract('docs --schema s.json')).exit).toBe(0)
    expect(bought + simulator.requests().length).toBeGreaterThanOrEqual(4)
    expect(simulator.requests()).toHaveLength(4)
  })

  test('a person answers, and the same command takes the answer up', async () => {
    await extract('docs --schema s.json --out results.jsonl')
    const [, right] = await results('results.jsonl')
    await writeFile(join(cwd, 'answer.json'), JSON.stringify(right.value))
    const answered = await runLine('review answer DOC-3 --file answer.json --by ann', { clock: systemClock, cwd })
    expect(answered.exit).toBe(0)
    const { out, exit } = await extract('docs --schema s.json --out results.jsonl')
    expect(exit).toBe(0)
    expect(out).toMatch(/3 documents in [\d.]+ s: 3 right, 0 with a person, 0 failed/)
    expect((await results('results.jsonl'))[2]).toMatchObject({ outcome: 'right', recourse: 'person', rung: 'review' })
    expect(simulator.requests()).toHaveLength(4)
  })
})

describe('what it refuses, with exit 2 and nothing begun', () => {
  test.each([
    ['docs', /required option.*--schema|--schema/],
    ['nothing --schema s.json', /nothing cannot be read: there is no such file or folder/],
    ['s.json --schema s.json', /s\.json cannot be read\. Allowed: \.md/],
    ['docs --schema missing.json', /missing\.json cannot be read/],
    ['docs --schema s.json --gate missing.ts', /The gate missing\.ts cannot be loaded/],
    ['docs --schema s.json --models nonsense', /model is "nonsense"\. Allowed: an id such as/],
    ['docs --schema s.json --concurrency 0', /--concurrency 0 is not allowed/],
    ['docs --schema s.json --prompt missing.txt', /missing\.txt cannot be read/],
    ['docs --schema bad.json', /schema/],
    ['docs --schema s.json --models openai/gpt-5', /model "openai\/gpt-5" needs OPENAI_API_KEY, which is not set/],
    ['docs --schema s.json --models nobody/x', /provider "nobody" is not known/],
  ])('extract %s', async (words, says) => {
    await writeFile(join(cwd, 'bad.json'), '{ "type": "nonsense" }')
    const { exit, err } = await extract(words)
    expect(err).toMatch(says)
    expect(exit).toBe(2)
    expect(simulator.requests()).toEqual([])
  })
})
