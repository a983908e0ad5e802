import { type ChildProcess, spawn } from 'node:child_process'
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readRequestLog } from './request-log.ts'
import { startSimulator } from './simulator.ts'

let folder: string
let log: string
let child: ChildProcess | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reprise-sim-'))
  log = join(folder, 'requests.jsonl')
})
afterEach(async () => {
  child?.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

const post = (url: string, document: string) =>
  fetch(`${url}/v1beta/models/gemini-flash-latest:generateContent`, {
    method: 'POST',
    body: JSON.stringify({ contents: [{ parts: [{ text: document }] }] }),
  })

/** The simulator in a process of its own, which writes its address when it listens. */
async function startProcess(): Promise<{ url: string; kill: () => Promise<void> }> {
  const path = fileURLToPath(new URL('./simulator.ts', import.meta.url))
  const source = `import { startSimulator } from ${JSON.stringify(path)}
    console.log((await startSimulator({ log: ${JSON.stringify(log)} })).url)`
  const own = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'inherit'] })
  child = own
  const url = await new Promise<string>((resolve) => own.stdout.once('data', (chunk) => resolve(String(chunk).trim())))
  const kill = async () => {
    const gone = new Promise((resolve) => own.once('exit', resolve))
    own.kill('SIGKILL')
    await gone
  }
  return { url, kill }
}

describe('the log', () => {
  test('has a line for every request, in order, as `requests()` tells them', async () => {
    await using simulator = await startSimulator({ log, faults: { rates: { overloaded: 0.5 } } })
    await Promise.all(Array.from({ length: 50 }, (_, index) => post(simulator.url, `INV-${100 + index}`)))
    const { entries } = await readRequestLog(log)
    expect(entries).toEqual(simulator.requests())
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
  })

  test('survives kill -9: every answer that a client got is in it', async () => {
    const { url, kill } = await startProcess()
    const answered: string[] = []
    const documents = Array.from({ length: 400 }, (_, index) => `INV-${1_000 + index}`)
    const asking = Promise.all(
      documents.map(async (document) => {
        const response = await post(url, document).catch(() => undefined)
        if (response?.ok && (await response.text().catch(() => '')) !== '') answered.push(document)
        // Somewhere in the middle of it all.
        if (answered.length === 60) await kill()
      }),
    )
    await asking
    const { entries } = await readRequestLog(log)
    const logged = new Set(entries.map(({ document }) => document))
    expect(answered.length).toBeGreaterThanOrEqual(60)
    expect(answered.filter((document) => !logged.has(document))).toEqual([])
  })

  test('goes on after a torn line, and counts on', async () => {
    {
      await using simulator = await startSimulator({ log })
      await post(simulator.url, 'INV-001')
    }
    await appendFile(log, '{"seq":2,"at":17')
    await using simulator = await startSimulator({ log })
    await post(simulator.url, 'INV-002')
    const { entries, isTorn } = await readRequestLog(log)
    expect(entries.map(({ seq, document }) => [seq, document])).toEqual([
      [1, 'INV-001'],
      [2, 'INV-002'],
    ])
    expect(isTorn).toBe(false)
    expect((await readFile(log, 'utf8')).endsWith('\n')).toBe(true)
  })

  test('that cannot be opened is told before anything listens', async () => {
    await expect(startSimulator({ log: folder })).rejects.toThrow(/EISDIR/)
  })
})
