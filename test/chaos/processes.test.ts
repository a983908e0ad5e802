import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { expectSound, openArena } from './arena.fixtures.ts'
import { FULL } from './arena.ts'
import { until } from './until.ts'
import type { WorkerProcess } from './worker-pool.ts'

const PROCESSES = 8
const [SUBMITS, KILLS] = FULL ? [500, 16] : [20, 2]

test(`${PROCESSES} processes on one file, each of which submits and works, some of them killed: nothing is lost, and the file is sound`, {
  timeout: FULL ? 600_000 : 180_000,
}, async () => {
  const arena = openArena({ name: `${PROCESSES} processes` })
  const { pool, dice } = arena
  const startedAt = performance.now()
  const submits = (place: number) => ({ from: place * SUBMITS, count: SUBMITS })
  const processes = Array.from({ length: PROCESSES }, (_, place) => pool.start(undefined, { submits: submits(place) }))
  // Who comes after a victim submits the same again: what was there is returned, what was not is made.
  for (let kill = 0; kill < KILLS; kill += 1) {
    const place = Math.floor(dice() * PROCESSES)
    const victim = processes[place] as WorkerProcess
    await victim.ready()
    await sleep(100 * dice())
    await pool.kill(victim)
    processes[place] = pool.start(undefined, { submits: submits(place) })
  }
  await until(
    'all is submitted',
    () => processes.every(({ said }) => said.some(({ says }) => says === 'submitted')),
    300_000,
  )
  await arena.settled(300_000)
  const ms = performance.now() - startedAt
  const { runs } = await expectSound(arena)
  const beats = pool.all.flatMap(({ said }) => said.findLast((each) => each.says === 'beat') ?? [])
  const most = (values: readonly number[]) => Math.round(Math.max(0, ...values))
  const loop = { p90Ms: most(beats.map(({ p90Ms }) => p90Ms)), p99Ms: most(beats.map(({ p99Ms }) => p99Ms)) }
  const perSecond = Math.round((runs.length / ms) * 1_000)
  console.log(
    `processes: ${JSON.stringify({ processes: PROCESSES, kills: KILLS, runs: runs.length, perSecond, worstLoop: loop })}`,
  )
  expect(runs).toHaveLength(PROCESSES * SUBMITS)
})
