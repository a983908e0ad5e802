/**
 * `reprise extract` as a process that is killed or stopped in the middle: the same command goes on, and the provider's log shows that
 * nothing was bought twice but what a kill left without an answer.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../../src/sim/simulator.ts'
import { documentNamed, schema } from './ladder-world.fixtures.ts'

const program = fileURLToPath(new URL('../../bin/reprise.js', import.meta.url))
const NAMES = Array.from({ length: 20 }, (_, index) => `DOC-${index + 10}`)
const CONCURRENCY = 2

let cwd: string
let simulator: Simulator
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'reprise-extract-process-'))
  await mkdir(join(cwd, 'docs'))
  for (const name of NAMES) await writeFile(join(cwd, `docs/${name}.md`), documentNamed(name))
  await writeFile(join(cwd, 's.json'), JSON.stringify(schema))
  simulator = await startSimulator({ faults: { latencyMs: [40, 120] } })
})
afterEach(async () => {
  await simulator.close()
  await rm(cwd, { recursive: true, force: true })
})

/** Runs the command; sends the signal once so many answers were asked for. */
async function extract(signal?: NodeJS.Signals, afterRequests = 0) {
  const words = ['extract', 'docs', '--schema', 's.json', '--out', 'r.jsonl', '--concurrency', String(CONCURRENCY)]
  const child = spawn(process.execPath, [program, ...words], {
    cwd,
    env: { ...process.env, GOOGLE_GENERATIVE_AI_BASE_URL: `${simulator.url}/v1beta` },
  })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk
  })
  const ended = once(child, 'close') as Promise<[number | null, string | null]>
  if (signal) {
    let isOver = false
    void ended.then(() => {
      isOver = true
    })
    while (!isOver && simulator.requests().length < afterRequests)
      await new Promise((resolve) => setTimeout(resolve, 5))
    child.kill(signal)
  }
  const [code, killedBy] = await ended
  return { code, killedBy, out, err }
}

const bought = () => simulator.requests().length
const results = async () =>
  (await readFile(join(cwd, 'r.jsonl'), 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).outcome)

test('kill -9: the next one goes on, and repeats no more than was in the air', { timeout: 120_000 }, async () => {
  expect((await extract('SIGKILL', 7)).killedBy).toBe('SIGKILL')
  const { code, out } = await extract()
  expect(code).toBe(0)
  expect(out).toMatch(/20 documents in [\d. ms]+: 20 right, 0 with a person, 0 failed/)
  expect(out).toMatch(/This time \d+ calls for/)
  expect(await results()).toEqual(NAMES.map(() => 'right'))
  expect(bought()).toBeGreaterThanOrEqual(NAMES.length)
  expect(bought()).toBeLessThanOrEqual(NAMES.length + CONCURRENCY)
  const before = bought()
  expect((await extract()).out).toContain('Nothing was bought this time')
  expect(bought()).toBe(before)
})

test('Ctrl-C: calls under way end first, and not one is bought twice', { timeout: 120_000 }, async () => {
  const stopped = await extract('SIGINT', 7)
  expect(stopped.code).toBe(1)
  expect(stopped.out).toMatch(/Stopping: (\d calls end|1 call ends) first|Stopping: nothing is under way/)
  expect(stopped.out).toContain('Stopped. What was paid for is stored; the same command goes on.')
  // What is done so far is in the file already, the rest as not done.
  expect(new Set(await results())).toEqual(new Set(['right', 'open']))
  expect((await extract()).code).toBe(0)
  expect(await results()).toEqual(NAMES.map(() => 'right'))
  expect(
    simulator
      .requests()
      .map(({ document }) => document)
      .sort(),
  ).toEqual(NAMES)
})
