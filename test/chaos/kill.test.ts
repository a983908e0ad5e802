import { expect, test } from 'vitest'
import { FULL, SEED } from './arena.ts'
import { CRASH_POINTS, killScenario } from './kill-scenario.ts'

const [kills, runs] = FULL ? [112, 5_000] : [11, 250]

test('workers are killed at random and at every crash point: nothing is lost, doubled or bought twice without cause', {
  timeout: FULL ? 600_000 : 120_000,
}, async () => {
  const report = await killScenario({ kills, runs, seed: SEED })
  console.log(JSON.stringify(report))
  expect(report.breaches).toEqual([])
  expect(report.runs).toBeGreaterThanOrEqual(runs)
  expect(report.resends).toBeLessThanOrEqual(report.openTakes)
  for (const point of CRASH_POINTS) expect(report.kills[point]).toBeGreaterThanOrEqual(FULL ? 8 : 1)
})
