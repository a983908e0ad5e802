import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { seededDice } from '../../src/time/dice.ts'
import { expectSound, openArena } from './arena.fixtures.ts'
import { FULL, SEED } from './arena.ts'
import type { SeenRun } from './evidence.ts'
import { type Job, jobOf, POISONS, type Poison } from './job.ts'

const CRASHES = 3

/** Every kind in the proof; in a test the one that has always been there and one more, by the seed. */
const OTHERS = POISONS.filter((poison) => poison !== 'kill')
const KINDS: readonly Poison[] = FULL ? POISONS : ['kill', OTHERS[SEED % OTHERS.length] as Poison]
const [RUNS, WORKERS] = FULL ? [5_000, 4] : [500, 2]

const LEASE_MS = 1_500

/** In a test all come at once. */
const [AT_ONCE, EVERY_MS] = FULL ? [20, 100] : [RUNS, 0]

/** A supervisor that is slower than the lease: the run has lapsed when its worker is killed. */
const BLOCKED_MS = 2 * LEASE_MS

/** The promise is 2; a machine that starts processes meanwhile may make more of it. */
const SLOWER_MAX = 10

interface Played {
  readonly neighbours: readonly SeenRun[]
  readonly ill: readonly SeenRun[]
  readonly died: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly loopP99Ms: number
}

async function play(name: string, poisons: readonly Poison[]): Promise<Played> {
  const arena = openArena({ name, leaseMs: LEASE_MS })
  const { pool, dice, seed, submitter } = arena
  const places = new Map(poisons.map((poison) => [Math.floor(dice() * RUNS), poison]))
  const jobs = Array.from({ length: RUNS }, (_, n): Job => {
    const poison = places.get(n)
    const job = { ...jobOf(n, seededDice(seed + n)), answerMs: 5, workMs: 0 }
    return poison === undefined ? job : { ...job, poison }
  })
  const supervisor = pool.supervise(WORKERS, BLOCKED_MS)
  try {
    // A steady stream that the workers can take: how long a run takes is then its own time and not that of the queue.
    for (let from = 0; from < RUNS; from += AT_ONCE) {
      await submitter.submitAll(jobs.slice(from, from + AT_ONCE))
      await sleep(EVERY_MS)
    }
    await arena.settled()
  } finally {
    await supervisor.stop()
  }
  const { runs } = await expectSound(arena)
  const neighbours = runs.filter(({ job }) => !job.poison)
  const tookMs = neighbours.map(({ finishedAt = 0, submittedAt }) => finishedAt - submittedAt).sort((a, b) => a - b)
  const at = (share: number) => tookMs[Math.floor(tookMs.length * share)] ?? 0
  const beats = pool.all.flatMap(({ said }) => said.findLast((each) => each.says === 'beat')?.p99Ms ?? [])
  return {
    neighbours,
    ill: runs.filter(({ job }) => job.poison),
    died: supervisor.died(),
    ...{ p50Ms: at(0.5), p99Ms: at(0.99), loopP99Ms: Math.round(Math.max(0, ...beats)) },
  }
}

test(`runs that take their process along (${KINDS.join(', ')}) are with a person after three crashes, and their neighbours have none`, {
  timeout: FULL ? 600_000 : 180_000,
}, async () => {
  const healthy = FULL ? await play('no poison', []) : undefined
  const poisoned = await play('poison', KINDS)
  const { neighbours, ill, died, ...figures } = poisoned
  console.log(`poison: ${JSON.stringify({ runs: RUNS, workers: WORKERS, kinds: KINDS, died, ...figures })}`)
  // The first crash of several may be one, if they were claimed together; from then on each is claimed alone.
  expect(died).toBeLessThanOrEqual(CRASHES * KINDS.length)
  expect(died).toBeGreaterThanOrEqual(1 + (CRASHES - 1) * KINDS.length)
  expect(ill.map(({ job }) => job.poison).sort()).toEqual([...KINDS].sort())
  for (const run of ill) expect(run).toMatchObject({ state: 'review', ledgers: { lapses: CRASHES, errors: 0 } })
  expect(neighbours).toHaveLength(RUNS - KINDS.length)
  expect(neighbours.filter(({ state, ledgers }) => state !== 'succeeded' || ledgers.lapses > 0)).toEqual([])
  if (!healthy) return
  const { p50Ms, p99Ms, loopP99Ms } = healthy
  const ratio = figures.p99Ms / p99Ms
  console.log(`no poison: ${JSON.stringify({ p50Ms, p99Ms, loopP99Ms })}; with it p99 is ${ratio.toFixed(2)} of that`)
  expect(ratio).toBeLessThan(SLOWER_MAX)
})
