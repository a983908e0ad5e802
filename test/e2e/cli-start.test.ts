/**
 * `reprise start` in virtual time, twice in one folder: the story that the samples tell, and then that nothing is bought twice.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FakeOptions, fakeConsole } from '../../src/cli/fake-console.fixtures.ts'
import { run } from '../../src/cli/run.ts'
import { widthOf } from '../../src/cli/terminal/text.ts'
import { virtualClock } from '../../src/testing/virtual-clock.ts'

async function start(cwd: string, words: readonly string[], options: FakeOptions = {}) {
  const console = fakeConsole(options)
  const clock = virtualClock()
  let exit: number | undefined
  const outside = { console, clock, cwd, version: '0.1.0', interruption: () => new AbortController().signal }
  const running = run(['start', ...words], outside).then((code) => {
    exit = code
  })
  // Calls are real HTTP, so time moves in small steps until they are through.
  while (exit === undefined) await clock.advance(20)
  await running
  return { exit, ...console.written, writes: console.writes }
}

const fits = (out: string) => Math.max(...out.split('\n').map(widthOf))

describe('twice', () => {
  let cwd: string
  let first: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'reprise-start-'))
    first = await start(cwd, [])
  }, 60_000)
  afterAll(() => rm(cwd, { recursive: true, force: true }))

  test('the story: which recourse solved what, what waits for a person and how to answer it, the money', () => {
    const { exit, out, err } = first
    expect({ exit, err }).toEqual({ exit: 0, err: '' })
    expect(out).toMatch(/\n✓ 48 invoices in [\d. ms]+: 45 right, 2 with a person, 1 failed\n/)
    for (const row of [
      /first take +31 +31 /,
      /waited +5 +11 /,
      /repaired here +3 +3 /,
      /asked again +4 +8 /,
      /stronger model +2 +7 .*gemini:pro/,
      /a person +2 +5 .*waiting for you/,
      /nothing +1 +0 .*INV-044 is empty/,
      /48 +65 +\$0\.0\d\d +always gemini:pro: about \$0\.\d\d\d/,
    ])
      expect(out).toMatch(row)
    expect(out).toContain('reprise review answer INV-042 --edit')
    expect(out).not.toContain('\u001b')
    expect(fits(out)).toBeLessThanOrEqual(80)
  })

  test('results: one line per document, with its value or the reason', async () => {
    const lines = (await readFile(join(cwd, 'out/results.jsonl'), 'utf8')).trimEnd().split('\n')
    const results = lines.map((line) => JSON.parse(line))
    expect(results).toHaveLength(48)
    const gold = await readFile(new URL('../../samples/expected.jsonl', import.meta.url), 'utf8')
    const expected = new Map(
      gold
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
        .map((each) => [each.document, each.expected]),
    )
    for (const { document, outcome, value } of results)
      if (outcome === 'right') expect(value, document).toEqual(expected.get(document))
    expect(results.find(({ document }) => document === 'INV-044')).toMatchObject({
      outcome: 'failed',
      reason: 'INV-044 is empty',
      calls: 0,
    })
    expect(results.find(({ document }) => document === 'INV-017')).toMatchObject({
      outcome: 'person',
      kinds: ['refused'],
      calls: 1,
    })
  })

  test('the second time nothing is bought, and it says so', async () => {
    const { exit, out } = await start(cwd, [])
    expect(exit).toBe(0)
    expect(out).toMatch(/✓ 48 invoices: 45 right, 2 with a person, 1 failed/)
    expect(out).toMatch(/Nothing was bought this time: all 65 calls \(\$0\.0\d\d\) were paid for before\./)
    expect(fits(out)).toBeLessThanOrEqual(80)
  })

  test('as data: one object per document on stdout, people on stderr', async () => {
    const { out, err } = await start(cwd, ['--json'])
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).document),
    ).toHaveLength(48)
    expect(err).toContain('What it took')
  })

  test('quietly: the verdict only; in ASCII every sign is ASCII', async () => {
    expect((await start(cwd, ['--quiet'])).out).toBe('48 invoices: 45 right, 2 with a person, 1 failed\n')
    expect((await start(cwd, ['--plain'], { isTTY: true })).out).toMatch(/^[\n -~]*$/)
  })
})

test('on a terminal: a block of constant height that is painted again and gone at the end', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'reprise-start-'))
  try {
    const { out, writes } = await start(cwd, [], { isTTY: true, columns: 80, rows: 40, env: { NO_COLOR: '1' } })
    const painted = writes.filter((text) => text.includes('Ctrl-C is safe'))
    expect(painted.length).toBeGreaterThan(5)
    const heights = painted.map((text) => text.slice(text.lastIndexOf('\n\n━')).split('\n').length)
    expect(new Set(heights).size).toBeLessThanOrEqual(2)
    expect(Math.max(...heights)).toBeLessThanOrEqual(16)
    expect(out.slice(out.lastIndexOf('\u001b[J'))).not.toContain('Ctrl-C is safe')
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}, 60_000)

test('--live without a key is refused before anything begins', async () => {
  const { exit, err } = await start('.', ['--live'])
  expect(exit).toBe(2)
  expect(err).toContain('--live needs GOOGLE_GENERATIVE_AI_API_KEY, which is not set.')
})
