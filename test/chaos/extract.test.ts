/**
 * An extraction whose process dies, over and over: counted by the provider's own log, which is on the disk before an answer leaves.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { accountOf } from '../../src/extract/account.ts'
import { type Simulator, startSimulator } from '../../src/sim/simulator.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { seededDice } from '../../src/time/dice.ts'
import { documentNamed } from '../e2e/ladder-world.fixtures.ts'
import { FULL, SEED } from './arena.ts'
import { playUntilKilled } from './play-until-killed.ts'

const program = fileURLToPath(new URL('./extract-process.ts', import.meta.url))
const timeout = FULL ? 1_800_000 : 180_000

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reprise-extract-chaos-'))
  mkdirSync(join(folder, 'docs'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function writeDocuments(count: number): string[] {
  const names = Array.from({ length: count }, (_, index) => `DOC-${String(index + 1).padStart(3, '0')}`)
  for (const name of names) writeFileSync(join(folder, 'docs', `${name}.md`), documentNamed(name))
  return names
}

/** Runs the program until it ends or is killed; `kill` says when, after its documents are submitted. */
const extract = (simulator: Simulator, env: Record<string, string>, kill?: () => Promise<unknown>) =>
  playUntilKilled(program, [folder, simulator.url], env, kill)

async function endOf() {
  const store = sqlite({ file: join(folder, 'reprise.db') })
  try {
    const { runs } = await store.find({ tasks: ['extract'], limit: 500 })
    return { accounts: await Promise.all(runs.map((run) => accountOf(store, run))), findings: await store.verify() }
  } finally {
    await store.close()
  }
}

test('killed between the stored answer and the commit: no answer is bought twice, no document is lost', {
  timeout,
}, async () => {
  const kills = FULL ? 100 : 4
  const names = writeDocuments(kills + 1)
  await using simulator = await startSimulator({})
  let killed = 0
  for (; killed < kills; killed += 1) {
    // Each process finishes what the one before it had paid for, buys one answer, and dies with it.
    expect(await extract(simulator, { REPRISE_CRASH_AT: 'after-answer' })).toBe('SIGKILL')
  }
  expect(await extract(simulator, {})).toBe(0)
  const { accounts, findings } = await endOf()
  expect(accounts.map(({ name, outcome, calls }) => `${name} ${outcome} ${calls}`).sort()).toEqual(
    names.map((name) => `${name} right 1`),
  )
  expect(
    simulator
      .requests()
      .map(({ document }) => document)
      .sort(),
  ).toEqual(names)
  expect(existsSync(join(folder, 'flagged.jsonl'))).toBe(false)
  expect(findings).toEqual([])
  console.log(JSON.stringify({ killed, documents: names.length, requests: simulator.requests().length }))
})

test('killed at any moment: a send is repeated only for a kill between intent and answer, and each is flagged', {
  timeout,
}, async () => {
  const [documents, kills] = FULL ? [150, 100] : [12, 4]
  const names = writeDocuments(documents)
  const dice = seededDice(SEED)
  console.log(`chaos extract: REPRISE_TEST_CHAOS_SEED=${SEED}`)
  // Every third document needs a correction, so that deaths meet the middle of a climb too.
  const script = Object.fromEntries(
    names.filter((_, index) => index % 3 === 0).map((name) => [name, ['no-json', 'ok'] as const]),
  )
  await using simulator = await startSimulator({ faults: { latencyMs: [20, 80] }, script })
  let killed = 0
  for (let round = 0; round < kills; round += 1) {
    const end = await extract(simulator, {}, () => sleep(Math.round(dice() * 900)))
    if (end === 'SIGKILL') killed += 1
    else expect(end).toBe(0)
  }
  expect(await extract(simulator, {})).toBe(0)
  const { accounts, findings } = await endOf()
  expect(accounts.map(({ name, outcome }) => `${name} ${outcome}`).sort()).toEqual(names.map((name) => `${name} right`))
  const flagged = existsSync(join(folder, 'flagged.jsonl'))
    ? readFileSync(join(folder, 'flagged.jsonl'), 'utf8').trimEnd().split('\n').length
    : 0
  // What the journal says was sent: an answer each, and the sends of which nobody knows.
  const answers = accounts.reduce((sum, { answers: each }) => sum + each.length, 0)
  const repeated = simulator.requests().length - answers
  console.log(JSON.stringify({ killed, documents, requests: simulator.requests().length, answers, repeated, flagged }))
  expect(repeated).toBeGreaterThanOrEqual(0)
  expect(repeated).toBeLessThanOrEqual(flagged)
  expect(flagged).toBeLessThanOrEqual(killed)
  expect(findings).toEqual([])
})
