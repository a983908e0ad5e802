/**
 * Many processes under one hard budget, some of them killed, and a real HTTP server that counts what was billed.
 * It plays and measures; what must hold is the tests' to say.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createReprise } from '../../src/engine/reprise.ts'
import type { Finding, Store } from '../../src/ports/store.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { type Dice, seededDice } from '../../src/time/dice.ts'
import { BUDGET_TASK, type BudgetSetup, clockAhead } from './budget-process.ts'
import { LineLog, readLines } from './line-log.ts'
import { until } from './until.ts'

const PROGRAM = fileURLToPath(new URL('./budget-process.ts', import.meta.url))
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/chaos', import.meta.url))
const DAY_MS = 86_400_000

/** All share two cores and one lock: the more they are, the rarer each looks, and the longer it may be silent. */
const POLL_MS = 25
const LEASE_MS = 200

/** One process may take a second to start while others do, and its turn to come. */
const PATIENCE_MS = 10_000

/** The provider answers within it: long enough for a kill to come between. */
const ANSWER_MS = 100

/** From the middle of a day into the next. */
const LEAP_MS = DAY_MS / 2 + 3_600_000

/** Longer than any reservation lasts: then all that leaked is spent. */
const PAST_ALL_MS = 3_600_000

export interface BudgetScenario {
  readonly processes: number
  readonly limit: number
  readonly seed: number
  /** Processes that die between their reservation and their send. */
  readonly unsent?: number
  /** Processes that are killed at a random moment, in each day. */
  readonly random?: number
  /** So many days, one after the other; runs that find the budget used up wait for the next. */
  readonly days: number
}

export interface BudgetReport {
  /** Of each day: physical requests as the provider logged them, and what the budget has given out. */
  readonly days: readonly { readonly requests: number; readonly given: number }[]
  readonly unsentKills: number
  readonly randomKills: number
  /** Of the last day, after every reservation's time. */
  readonly spent: number
  readonly reserved: number
  readonly findings: readonly Finding[]
}

export async function budgetScenario(scenario: BudgetScenario): Promise<BudgetReport> {
  const { processes, limit, seed, unsent = 0, random = 0 } = scenario
  console.log(`chaos budget of ${limit} over ${processes} processes: REPRISE_TEST_CHAOS_SEED=${seed}`)
  const folder = mkdtempSync(join(tmpdir(), 'reprise-budget-'))
  const [file, log] = [join(folder, 'store.db'), join(folder, 'provider.ndjson')]
  const dice = seededDice(seed)
  const server = await provider(log, dice)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const clock = clockAhead(DAY_MS / 2 - (Date.now() % DAY_MS))
  const aheadMs = () => clock.now() - Date.now()
  const setup = { file, url, limit, onExhausted: 'wait', leapMs: LEAP_MS } as const
  const paced = { leaseMs: 1_000 + LEASE_MS * processes, pollMs: POLL_MS * processes }
  const children: ChildProcess[] = []
  const start = (crashAt?: string) => {
    const child = begin({ ...setup, ...paced, aheadMs: aheadMs() }, crashAt)
    children.push(child)
    return child
  }
  const reprise = createReprise({ store: sqlite({ file, clock }), clock })
  const days: { requests: number; given: number }[] = []
  try {
    const armed = Array.from({ length: unsent }, () => start('after-intent'))
    await Promise.all(armed.map(ready))
    const runs = (scenario.days + 1) * limit
    await reprise.submitMany(Array.from({ length: runs }, (_, n) => [BUDGET_TASK, { n }] as const))
    // They go first, or the budget might be used up before one of them had its turn to die.
    await until('those that die before their send are dead', () => living(armed).length === 0, PATIENCE_MS * processes)
    const workers = Array.from({ length: processes - unsent }, () => start())
    await Promise.all(workers.map(ready))
    for (let day = 0; day < scenario.days; day += 1) {
      for (const victim of workers.splice(0, random)) {
        await sleep(dice() * 60)
        victim.kill('SIGKILL')
        workers.push(start())
      }
      days.push(await dayOver(reprise.store, scenario, log, days))
      if (day === scenario.days - 1) break
      clock.leap(LEAP_MS)
      for (const child of living(children)) child.kill('SIGUSR2')
    }
    await stopAll(children)
    const killed = (some: readonly ChildProcess[]) => some.filter(({ signalCode }) => signalCode === 'SIGKILL').length
    const unsentKills = killed(armed)
    clock.leap(PAST_ALL_MS)
    return {
      days,
      unsentKills,
      randomKills: killed(children) - unsentKills,
      ...(await today(reprise.store)),
      findings: await reprise.store.verify(),
    }
  } finally {
    await stopAll(children)
    await reprise.close()
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function provider(file: string, dice: Dice): Promise<Server> {
  const log = new LineLog<{ at: number; url: string }>(file)
  const server = createServer((request, response) => {
    log.write({ at: Date.now(), url: request.url ?? '' })
    setTimeout(() => response.end('fine'), dice() * ANSWER_MS)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function begin(setup: BudgetSetup, crashAt: string | undefined): ChildProcess {
  const { REPRISE_CRASH_AT: _armed, ...env } = process.env
  return spawn(process.execPath, [PROGRAM, JSON.stringify(setup)], {
    env: { ...env, NODE_COMPILE_CACHE: COMPILED, ...(crashAt === undefined ? {} : { REPRISE_CRASH_AT: crashAt }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

const ready = async ({ stdout }: ChildProcess): Promise<void> => {
  if (stdout) await once(stdout, 'data')
}

const living = (children: readonly ChildProcess[]): ChildProcess[] =>
  children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)

/** There is more work than budget, so a day is over when all of it is given out and no run is in anybody's hands. */
async function dayOver(
  store: Store,
  { limit, processes }: BudgetScenario,
  log: string,
  before: readonly { requests: number }[],
) {
  const isOver = async () => {
    const { spent, reserved } = await today(store)
    const counts = await store.count({ states: ['ready', 'running'] })
    return spent + reserved >= limit && counts.every(({ runs }) => runs === 0)
  }
  await until('the day’s budget is used up and nobody works', isOver, PATIENCE_MS * processes)
  const { spent, reserved } = await today(store)
  const earlier = before.reduce((sum, { requests }) => sum + requests, 0)
  return { requests: readLines(log).length - earlier, given: spent + reserved }
}

async function today(store: Store): Promise<{ spent: number; reserved: number }> {
  const { spent = 0, reserved = 0 } = (await store.budgets()).budgets[0]?.windows[0]?.use.calls ?? {}
  return { spent, reserved }
}

async function stopAll(children: readonly ChildProcess[]): Promise<void> {
  await Promise.all(
    living(children).map((child) => {
      const closed = once(child, 'close')
      child.kill('SIGTERM')
      return closed
    }),
  )
}
