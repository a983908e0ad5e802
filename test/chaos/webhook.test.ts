/**
 * A signed message whose sender dies: counted by a receiver that outlives it and hears every request that was really made.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { HEADERS, verify, webhookTask } from '../../src/incidents/index.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { seededDice } from '../../src/time/dice.ts'
import { FULL, SEED } from './arena.ts'
import { playUntilKilled } from './play-until-killed.ts'

const program = fileURLToPath(new URL('./webhook-process.ts', import.meta.url))
const SECRET = 'canary-secret-canary-secret-9'
const timeout = FULL ? 600_000 : 120_000

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-webhook-chaos-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

interface Received {
  readonly id: string
  readonly body: string
  readonly isSigned: boolean
}

/** Takes everything, each after a little while. */
async function receiver(latencyMs = 0) {
  const received: Received[] = []
  const hear = async (request: IncomingMessage): Promise<void> => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const head = (name: string) => String(request.headers[name])
    const [id, timestamp, signature] = [head(HEADERS.id), Number(head(HEADERS.timestamp)), head(HEADERS.signature)]
    const now = Math.floor(Date.now() / 1_000)
    received.push({ id, body, isSigned: verify(SECRET, { id, timestamp, body, signature, now }) })
    await sleep(latencyMs)
  }
  const server = createServer((request, response) => {
    hear(request).then(
      () => response.writeHead(204).end(),
      () => response.destroy(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    received,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Runs the program until it ends or is killed; `kill` says when, after its messages are handed on. */
const send = (url: string, subjects: number, env: Record<string, string>, kill?: () => Promise<unknown>) =>
  playUntilKilled(program, [folder, url, SECRET, String(subjects)], env, kill)

async function messagesIn() {
  const store = sqlite({ file: join(folder, 'reprise.db') })
  try {
    const { runs } = await store.find({ tasks: [webhookTask.name], limit: 100 })
    return { runs, findings: await store.verify() }
  } finally {
    await store.close()
  }
}

test.each([
  ['before the request', 'after-intent', 1],
  ['between the request and its answer in the journal', 'after-send', 2],
  ['between the stored answer and the commit', 'after-answer', 1],
  ['just before the commit', 'before-end', 1],
] as const)(
  'killed %s: delivered in the end, by one request more at most',
  { timeout },
  async (_when, point, posts) => {
    await using hook = await receiver()
    expect(await send(hook.url, 1, { REPRISE_CRASH_AT: point })).toBe('SIGKILL')
    const before = await messagesIn()
    expect(before.runs).toMatchObject([{ state: 'ready' }])
    expect(hook.received).toHaveLength(point === 'after-intent' ? 0 : 1)
    expect(await send(hook.url, 1, {})).toBe(0)

    const { runs, findings } = await messagesIn()
    expect(runs).toMatchObject([{ state: 'succeeded', key: expect.stringMatching(/^i-\w{6}\/opened$/) }])
    expect(hook.received).toHaveLength(posts)
    // The same message every time: a receiver that knows its id does nothing the second time. Signed anew, because old ones are refused.
    const [first] = hook.received
    for (const each of hook.received) expect(each).toEqual({ id: runs[0]?.key, body: first?.body, isSigned: true })
    expect(findings).toEqual([])
  },
)

test('killed at any moment: every message arrives, and each kill costs one more request at most', {
  timeout,
}, async () => {
  const [messages, kills] = FULL ? [40, 60] : [8, 5]
  const dice = seededDice(SEED)
  console.log(`chaos webhook: REPRISE_TEST_CHAOS_SEED=${SEED}`)
  await using hook = await receiver(40)
  let killed = 0
  for (let round = 0; round < kills; round += 1) {
    const end = await send(hook.url, messages, {}, () => sleep(Math.round(dice() * 300)))
    if (end === 'SIGKILL') killed += 1
    else expect(end).toBe(0)
  }
  expect(await send(hook.url, messages, {})).toBe(0)
  const { runs, findings } = await messagesIn()
  expect(runs.map(({ state }) => state)).toEqual(Array(messages).fill('succeeded'))
  const ids = new Set(runs.map(({ key }) => key))
  expect(ids.size).toBe(messages)
  expect(new Set(hook.received.map(({ id }) => id))).toEqual(ids)
  expect(hook.received.every(({ isSigned }) => isSigned)).toBe(true)
  expect(new Set(hook.received.map(({ id, body }) => `${id} ${body}`)).size).toBe(messages)
  console.log(JSON.stringify({ killed, messages, requests: hook.received.length }))
  expect(hook.received.length - messages).toBeLessThanOrEqual(killed)
  expect(findings).toEqual([])
})
