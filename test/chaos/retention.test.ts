import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openArena } from './arena.fixtures.ts'
import { FULL } from './arena.ts'
import { gather } from './evidence.ts'
import { Feeder } from './feeder.ts'
import { until } from './until.ts'
import type { WorkerProcess } from './worker-pool.ts'

const [RUNS, KILLS] = FULL ? [2_000, 12] : [80, 2]

test('workers are killed while they delete what has ended: runs go whole, their keys stay, and no run is executed again', {
  timeout: FULL ? 600_000 : 180_000,
}, async () => {
  const arena = openArena({ name: `retention (${KILLS} kills)`, retention: true })
  const { pool, dice, submitter, store } = arena
  const feeder = new Feeder(arena)
  const workers = await pool.startReady(2)
  for (let kill = 0; kill < KILLS; kill += 1) {
    await feeder.feed(Math.ceil(RUNS / KILLS))
    const place = Math.floor(dice() * workers.length)
    const victim = workers[place] as WorkerProcess
    await victim.ready()
    await until('something is deleted', async () => (await kept()) < feeder.submitted)
    await sleep(100 * dice())
    await pool.kill(victim)
    workers[place] = pool.start()
  }
  await arena.settled()
  // The newest run stays, and what a person must see.
  await until('what has ended is gone', async () => (await succeeded()) <= 1)
  const told = new Map(submitter.log.flatMap(({ n, phase, run }) => (phase === 'ok' ? [[n, run] as const] : [])))
  submitter.log.splice(0)
  await feeder.again([...told.keys()])
  await pool.stopAll()

  const repeated = submitter.log.filter(({ phase }) => phase === 'ok')
  const forgotten = repeated.filter(({ n, run, created }) => created || run !== told.get(n))
  expect(forgotten).toEqual([])
  expect(repeated).toHaveLength(told.size)
  const { findings, integrity, sends, lines } = await gather(arena)
  expect(findings).toEqual([])
  expect(integrity).toBe('ok')
  const ended = lines.flatMap(({ event }) => (event?.name === 'run.succeeded' ? [event.run] : []))
  expect(ended.length).toBe(new Set(ended).size)
  const deleted = lines.reduce((sum, { event }) => sum + (event?.name === 'store.pruned' ? event.runs : 0), 0)
  console.log(
    `retention: ${JSON.stringify({ runs: told.size, kills: KILLS, sends: sends.length, deletedAndTold: deleted, kept: await kept() })}`,
  )

  async function kept(): Promise<number> {
    return (await store.count({})).reduce((sum, { runs }) => sum + runs, 0)
  }

  async function succeeded(): Promise<number> {
    return (await store.count({ states: ['succeeded'] })).reduce((sum, { runs }) => sum + runs, 0)
  }
})
