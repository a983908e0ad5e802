/**
 * The scenario of kills: workers die at random moments and at every named crash point, while work keeps coming.
 * It plays and measures; what must hold afterwards is `check.ts`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { CrashPoint } from '../../src/engine/crash-point.ts'
import { Arena } from './arena.ts'
import { breachesOf } from './check.ts'
import { checkCalls } from './check-calls.ts'
import { type Evidence, eventsOf, gather } from './evidence.ts'
import { Feeder } from './feeder.ts'
import { until } from './until.ts'
import type { WorkerProcess } from './worker-pool.ts'

/** Typed so that a crash point which is missing here does not compile. */
const POINTS: Readonly<Record<CrashPoint, true>> = {
  'after-claim': true,
  'after-intent': true,
  'after-send': true,
  'after-answer': true,
  'after-artifact': true,
  'before-end': true,
  'after-end': true,
}
export const CRASH_POINTS = Object.keys(POINTS) as readonly CrashPoint[]

const WORKERS_USUAL = 3
/** A worker lives at least this long before it is killed at random, and at most twice as long. */
const LIFE_MS = 150

export interface KillOptions {
  readonly kills: number
  /** At least this many; more are submitted if they run out before the kills do. */
  readonly runs: number
  readonly seed: number
  /** Processes at work besides the one that dies at its crash point. */
  readonly workers?: number
  readonly progress?: (told: { readonly kills: number; readonly runs: number; readonly open: number }) => void
}

export interface KillReport {
  readonly breaches: readonly string[]
  readonly runs: number
  readonly succeeded: number
  readonly review: number
  readonly kills: Readonly<Record<string, number>>
  readonly sends: number
  readonly resends: number
  readonly openTakes: number
  readonly lapses: number
  readonly refusedWrites: number
  readonly receipts: number
  /** From a kill to the first of its runs being claimed by another, in milliseconds. */
  readonly recoveries: { readonly count: number; readonly p50: number; readonly max: number }
}

export async function killScenario({
  kills,
  runs,
  seed,
  workers = WORKERS_USUAL,
  progress,
}: KillOptions): Promise<KillReport> {
  const arena = new Arena({ name: `kills (${kills} over ${runs} runs)`, seed })
  const feeder = new Feeder(arena)
  let killed = 0
  const told = async () => {
    killed += 1
    await feeder.feed(Math.ceil((runs * killed) / kills) - feeder.submitted)
    progress?.({ kills: killed, runs: feeder.submitted, open: feeder.open })
  }
  try {
    const started = await arena.pool.startReady(workers)
    await feeder.start()
    // Each point has its turn, whatever the number.
    const atPoints = Math.min(kills, Math.max(CRASH_POINTS.length, Math.ceil(kills / 2)))
    await Promise.all([
      times(atPoints, async (kill) => {
        await dieAt(arena, CRASH_POINTS[kill % CRASH_POINTS.length] as CrashPoint)
        await told()
      }),
      times(kills - atPoints, async () => {
        await dieAtRandom(arena, started)
        await told()
      }),
    ])
    await feeder.stop()
    await arena.settled()
    await arena.pool.stopAll()
    return report(await gather(arena))
  } finally {
    await feeder.stop()
    await arena.close()
  }
}

/** One after the other. */
async function times(count: number, act: (index: number) => Promise<void>): Promise<void> {
  for (let index = 0; index < count; index += 1) await act(index)
}

async function dieAt({ pool }: Arena, point: CrashPoint): Promise<void> {
  const armed = pool.start(point)
  await until(`a worker dies at ${point}`, () => armed.exit)
}

async function dieAtRandom({ pool, dice }: Arena, started: WorkerProcess[]): Promise<void> {
  const place = Math.floor(dice() * started.length)
  const victim = started[place] as WorkerProcess
  await victim.ready()
  await sleep(LIFE_MS * (1 + dice()))
  await pool.kill(victim)
  started[place] = pool.start()
}

export function report(evidence: Evidence): KillReport {
  const { runs, faults, notes, sends } = evidence
  const { resends, openTakes } = checkCalls(evidence)
  const kills = Map.groupBy(faults, ({ kind }) => kind)
  return {
    breaches: breachesOf(evidence),
    runs: runs.length,
    succeeded: runs.filter(({ state }) => state === 'succeeded').length,
    review: runs.filter(({ state }) => state === 'review').length,
    kills: Object.fromEntries([...kills].map(([kind, members]) => [kind, members.length])),
    sends: sends.length,
    resends,
    openTakes,
    lapses: runs.reduce((sum, { ledgers }) => sum + ledgers.lapses, 0),
    refusedWrites: notes.filter(({ what }) => what === 'write.stale').length,
    receipts: eventsOf(evidence, 'call.receipt').length,
    recoveries: recoveries(evidence),
  }
}

function recoveries(evidence: Evidence): KillReport['recoveries'] {
  const lapsed = Map.groupBy(eventsOf(evidence, 'run.lapsed'), ({ worker }) => worker)
  const took = evidence.faults
    .flatMap(({ kind, worker, at }) => {
      const found = kind === 'pause' ? undefined : lapsed.get(worker)
      return found ? [Math.min(...found.map(({ loggedAt }) => loggedAt)) - at] : []
    })
    .sort((a, b) => a - b)
  return { count: took.length, p50: took[Math.floor(took.length / 2)] ?? 0, max: took.at(-1) ?? 0 }
}
