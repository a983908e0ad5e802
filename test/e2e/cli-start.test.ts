/**
 * The demonstration, run in virtual time: every document gets the end that its script deserves, and nothing is left open.
 */
import { expect, test } from 'vitest'
import { type FakeOptions, fakeConsole } from '../../src/cli/fake-console.fixtures.ts'
import { run } from '../../src/cli/run.ts'
import { virtualClock } from '../../src/testing/virtual-clock.ts'

async function start(words: readonly string[], options: FakeOptions, stop = new AbortController()) {
  const console = fakeConsole(options)
  const clock = virtualClock()
  let exit: number | undefined
  const running = run(['start', ...words], {
    console,
    clock,
    cwd: '.',
    version: '0.1.0',
    interruption: () => stop.signal,
  }).then((code) => {
    exit = code
  })
  // Calls are real HTTP, so time moves in small steps until they are through.
  while (exit === undefined) await clock.advance(20)
  await running
  return { exit, ...console.written, writes: console.writes, pending: clock.pending() }
}

test('in a pipe: progress lines, no codes, a verdict and what it took', async () => {
  const { exit, out, err, pending } = await start([], {})
  expect(out).toMatch(/\n✓ 16 invoices in [\d.]+ s: 1\d right, \d with a person, \d failed\n/)
  expect(out).toContain('16 of 16')
  expect(out).toContain('What it took')
  expect(out).toContain('simulated')
  expect(out).not.toContain('\u001b')
  expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  expect({ exit, err, pending }).toEqual({ exit: 0, err: '', pending: 0 })
})

test('as data: one object per document, people on stderr', async () => {
  const { out, err } = await start(['--json'], {})
  const stories: { document: string; outcome: string; calls: number }[] = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(stories).toHaveLength(16)
  const outcome = Object.fromEntries(stories.map((story) => [story.document, `${story.outcome} ${story.calls}`]))
  expect(outcome).toMatchObject({
    'INV-301': 'first 1',
    'INV-302': 'waited 2',
    'INV-303': 'asked 2',
    'INV-305': 'waited 2',
    'INV-306': 'asked 2',
    'INV-308': 'waited 2',
    'INV-309': 'person 1',
    'INV-311': 'waited 2',
    'INV-312': 'ended 1',
    'INV-314': 'person 3',
  })
  expect(err).toContain('What it took')
})

test('on a terminal: a block that is painted again and gone at the end', async () => {
  const { out, writes } = await start([], { isTTY: true, columns: 80, rows: 40, env: { NO_COLOR: '1' } })
  const painted = writes.filter((text) => text.includes('Ctrl-C is safe'))
  expect(painted.length).toBeGreaterThan(5)
  for (const text of painted) expect(text.split('\n').length).toBeLessThan(40)
  expect(out.slice(out.lastIndexOf('\u001b[J'))).not.toContain('Ctrl-C is safe')
})

test('in ASCII every sign is ASCII', async () => {
  expect((await start(['--plain'], { isTTY: true })).out).toMatch(/^[\n -~]*$/)
})

test('quietly: the verdict only', async () => {
  const { out } = await start(['--quiet'], {})
  expect(out).toMatch(/^16 invoices in [^\n]+\n$/)
})

test('Ctrl-C ends it at once and says what was done', async () => {
  const stop = new AbortController()
  stop.abort()
  const { exit, out, pending } = await start([], {}, stop)
  expect(out).toContain('Stopped after 0 of 16 invoices. Nothing was stored.')
  expect({ exit, pending }).toEqual({ exit: 1, pending: 0 })
})
