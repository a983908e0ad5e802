import { expect, test } from 'vitest'
import { FULL, SEED } from './arena.ts'
import { budgetScenario } from './budget-scenario.ts'

const [processes, limit] = FULL ? [32, 50] : [4, 12]
const timeout = FULL ? 600_000 : 120_000

test('a hard budget over many processes: exactly as many requests as it allows, on each side of midnight', {
  timeout,
}, async () => {
  const report = await budgetScenario({ processes, limit, seed: SEED, days: 2 })
  console.log(JSON.stringify(report))
  expect(report).toEqual({
    days: [
      { requests: limit, given: limit },
      { requests: limit, given: limit },
    ],
    unsentKills: 0,
    randomKills: 0,
    spent: limit,
    reserved: 0,
    findings: [],
  })
})

test('with kills: all of it is spent, never one request more, and none missing but for a kill before its send', {
  timeout,
}, async () => {
  const [unsent, random] = FULL ? [8, 8] : [1, 1]
  const days = FULL ? 2 : 1
  const report = await budgetScenario({ processes, limit, seed: SEED, days, unsent, random })
  console.log(JSON.stringify(report))
  const requests = report.days.reduce((sum, day) => sum + day.requests, 0)
  const missing = days * limit - requests
  expect(report.days.map(({ given }) => given)).toEqual(Array(days).fill(limit))
  for (const day of report.days) expect(day.requests).toBeLessThanOrEqual(limit)
  expect(report.unsentKills).toBe(unsent)
  // Whoever died at the point had reserved and not sent; whoever was killed at random may have.
  expect(missing).toBeGreaterThanOrEqual(report.unsentKills)
  expect(missing).toBeLessThanOrEqual(report.unsentKills + report.randomKills)
  expect([report.spent, report.reserved, report.findings]).toEqual([limit, 0, []])
})
