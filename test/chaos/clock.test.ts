import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { expectSound, openArena } from './arena.fixtures.ts'
import { FULL, SEED } from './arena.ts'
import { Feeder } from './feeder.ts'
import { jumpingClock } from './jumping-clock.ts'
import { report } from './kill-scenario.ts'

const JUMPS = FULL ? 30 : 6

test('the clock jumps by a day, forward and back: later perhaps, but nothing is lost and nothing doubled', {
  timeout: FULL ? 300_000 : 120_000,
}, async () => {
  const clock = jumpingClock(SEED)
  const arena = openArena({ name: `clock (${JUMPS} jumps)`, leaseMs: 1_000, clock, clockSeed: SEED })
  const { pool, dice } = arena
  const workers = await pool.startReady(2)
  const feeder = new Feeder(arena)
  await feeder.start()
  for (let jump = 0; jump < JUMPS; jump += 1) {
    await sleep(100 + 400 * dice())
    for (const worker of workers) worker.send('SIGUSR2')
    clock.jump()
  }
  await feeder.stop()
  await arena.settled()
  const evidence = await expectSound(arena)
  const { breaches: _none, ...figures } = report(evidence)
  console.log(`clock: ${JSON.stringify(figures)}`)
  expect(figures.succeeded).toBe(feeder.submitted)
})
