/**
 * `reprise sim` as a shell runs it: what it says, what it serves, how it ends, and what bad words cause.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fakeConsole } from '../../src/cli/fake-console.fixtures.ts'
import { run } from '../../src/cli/run.ts'
import { runLine } from '../../src/cli/run-line.fixtures.ts'
import { FAULT_NAMES } from '../../src/sim/fault.ts'
import { readRequestLog } from '../../src/sim/request-log.ts'
import { systemClock, turn } from '../../src/time/clock.ts'

let cwd: string
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'reprise-cli-sim-'))
})
afterAll(() => rm(cwd, { recursive: true, force: true }))

/** Starts the command, hands its address to `use`, then presses Ctrl-C. */
async function simulated(line: string, use: (url: string) => Promise<void>) {
  const console = fakeConsole()
  const stop = new AbortController()
  const outside = { console, clock: systemClock, cwd, version: '0.1.0', interruption: () => stop.signal }
  const ended = run(line.split(' '), outside)
  let url: string | undefined
  while (url === undefined) {
    await turn()
    url = /http:\/\/127\.0\.0\.1:\d+/.exec(console.written.out)?.[0]
  }
  try {
    await use(url)
  } finally {
    stop.abort()
  }
  return { exit: await ended, ...console.written }
}

const post = (url: string, text: string) =>
  fetch(`${url}/v1beta/models/gemini-flash-latest:generateContent`, {
    method: 'POST',
    body: JSON.stringify({ contents: [{ parts: [{ text }] }] }),
  })

describe('reprise sim', () => {
  test('says how to reach it, tells every request, and ends with Ctrl-C', async () => {
    await writeFile(join(cwd, 'plan.json'), '{ "script": { "INV-007": ["overloaded", "ok"] } }')
    const { exit, out, err } = await simulated('sim --port 0 --faults plan.json --log log.jsonl', async (url) => {
      expect((await post(url, 'INV-007')).status).toBe(503)
      expect((await post(url, 'INV-007')).status).toBe(200)
    })
    expect({ exit, err }).toEqual({ exit: 0, err: '' })
    expect(out).toMatch(/createGoogleGenerativeAI\(\{ baseURL: 'http:\/\/127\.0\.0\.1:\d+\/v1beta'/)
    expect(out).toMatch(/1 {2}✗ INV-007 {2}gemini-flash-latest {2}take 1 {2}overloaded {2}503/)
    expect(out).toMatch(/2 {2}✓ INV-007 {2}gemini-flash-latest {2}take 2 {2}ok {2}200/)
    expect(out).toContain('Ended after 2 requests, 1 of them with a fault.')
    expect((await readRequestLog(join(cwd, 'log.jsonl'))).entries).toHaveLength(2)
  })

  test('with --json: its address, then one object per request; words go to stderr', async () => {
    const { out, err } = await simulated('sim --port 0 --faults none --json', async (url) => {
      await post(url, 'INV-008')
    })
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toMatchObject([
      { url: expect.any(String), seed: 1 },
      { seq: 1, document: 'INV-008', fault: 'ok' },
    ])
    expect(err).toContain('A simulated model answers on')
  })

  test('lists the faults it knows', async () => {
    const { out, exit } = await runLine('sim --list --json')
    expect(exit).toBe(0)
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).fault),
    ).toEqual(FAULT_NAMES)
  })

  test('a port that is taken is told, with what to do', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const address = other.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const { exit, err } = await runLine(`sim --port ${port}`)
    other.close()
    expect(exit).toBe(1)
    expect(err).toContain(`Port ${port} is taken.`)
    expect(err).toContain('--port 0')
  })

  test.each([
    ['sim --port 99999', '--port 99999 is not allowed.'],
    ['sim --seed x', '--seed x is not allowed.'],
    ['sim --faults clam', '--faults clam is not a fault plan.'],
    ['sim --faults missing.json', 'The file missing.json cannot be read.'],
    ['sim --faults wrong.json', 'faults.script.INV-1[0]: "okay"'],
  ])('%s', async (line, message) => {
    await writeFile(join(cwd, 'wrong.json'), '{ "script": { "INV-1": ["okay"] } }')
    const { exit, out, err } = await runLine(line, { cwd })
    expect({ exit, out }).toEqual({ exit: 2, out: '' })
    expect(err.replace(/\s+/g, ' ')).toContain(message)
  })
})
