import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { expectSound, openArena } from './arena.fixtures.ts'
import { type Arena, FULL } from './arena.ts'
import { eventsOf } from './evidence.ts'
import { Feeder } from './feeder.ts'
import { report } from './kill-scenario.ts'
import type { WorkerProcess } from './worker-pool.ts'

const [PAUSES, TIMEOUT_MS] = FULL ? [20, 400_000] : [2, 120_000]
const LEASE_MS = 1_000

test('a paused worker wakes up without its lease: its writes are refused, its answer is a receipt', {
  timeout: TIMEOUT_MS,
}, async () => {
  const arena = openArena({ name: 'zombie', leaseMs: LEASE_MS })
  const [zombie] = await arena.pool.startReady(1)
  if (!zombie) throw new Error('no worker')
  await arena.submitter.submit({ n: 0, answerMs: 700, workMs: 0 })
  await zombie.hears('sent')
  await pauseWithoutLock(arena, zombie)
  const [heir] = await arena.pool.startReady(1)
  await heir?.hearsEvent('run.lapsed')
  arena.pool.resume(zombie)
  await zombie.hearsEvent('call.receipt')
  await zombie.hearsEvent('write.refused')
  await arena.settled()
  const evidence = await expectSound(arena)
  expect(evidence.notes.filter(({ what }) => what === 'write.stale').length).toBeGreaterThanOrEqual(1)
  expect(evidence.sends.map(({ take }) => take)).toEqual([1, 2])
  expect(evidence.runs.map(({ state, attempt }) => [state, attempt])).toEqual([['succeeded', 2]])
})

/** A process that is paused inside a transaction holds the store up for all, and then nobody can inherit from it. */
async function pauseWithoutLock({ pool, file }: Arena, victim: WorkerProcess): Promise<void> {
  const database = new Database(file, { timeout: 100 })
  try {
    for (;;) {
      pool.pause(victim)
      await sleep(10)
      try {
        database.exec('BEGIN IMMEDIATE; ROLLBACK')
        return
      } catch {
        pool.resume(victim)
      }
    }
  } finally {
    database.close()
  }
}

test('pauses of any length at any moment: zombies may run, and never finish', { timeout: TIMEOUT_MS }, async () => {
  const arena = openArena({ name: `zombies (${PAUSES} pauses)`, leaseMs: LEASE_MS })
  const { pool, dice } = arena
  const workers = await pool.startReady(3)
  const feeder = new Feeder(arena)
  await feeder.start()
  for (let pause = 0; pause < PAUSES; pause += 1) {
    const victim = workers[Math.floor(dice() * workers.length)] as WorkerProcess
    await sleep(300 * dice())
    pool.pause(victim)
    await sleep(LEASE_MS * (0.1 + 2.9 * dice()))
    pool.resume(victim)
  }
  await feeder.stop()
  await arena.settled()
  const evidence = await expectSound(arena)
  const { breaches: _none, ...figures } = report(evidence)
  console.log(`zombies: ${JSON.stringify(figures)}`)
  // Each refused write was told by the worker that made it, and each told one is noted.
  expect(figures.refusedWrites).toBeGreaterThanOrEqual(eventsOf(evidence, 'write.refused').length)
})
