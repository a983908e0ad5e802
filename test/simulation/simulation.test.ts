import { describe, expect, test } from 'vitest'
import { check } from '../../src/testing/simulation/checker.ts'
import type { History } from '../../src/testing/simulation/history.ts'
import { simulate } from '../../src/testing/simulation/simulate.ts'
import { addCounts, type Counts, countsOf } from '../../src/testing/simulation/sometimes.ts'
import { trace } from '../../src/testing/simulation/trace.ts'
import { KEPT_SEEDS } from './kept-seeds.ts'

/** Of the planted bugs that many seeds find, the last is found by seed 155. */
const SEEDS = Number(process.env['REPRISE_TEST_SIM_SEEDS'] ?? 160)
/** Sees what the first ones do not: a run that is cancelled out of a person’s hands. */
const RARE_SEEDS: readonly number[] = [193]
const SECONDS_PER_SEED_MAX = 2

async function expectSound(seed: number): Promise<History> {
  const history = await simulate({ seed })
  const breaches = check(history).map(({ invariant, found }) => `${invariant}: ${found}`)
  expect(breaches, `replay with: npm run simulate -- --seeds 1 --seed ${seed} --trace`).toEqual([])
  return history
}

describe('the engine in simulation', () => {
  test(
    `${SEEDS} seeds keep every invariant, and between them see everything that is rare`,
    async () => {
      let counts: Counts = {}
      const first = Array.from({ length: SEEDS }, (_, index) => index + 1)
      for (const seed of new Set([...first, ...RARE_SEEDS]))
        counts = addCounts(counts, countsOf(await expectSound(seed)))
      const never = Object.entries(counts).filter(([, seen]) => seen === 0)
      expect(never).toEqual([])
    },
    30_000 + SEEDS * SECONDS_PER_SEED_MAX * 1_000,
  )

  test.each(KEPT_SEEDS)('seed %i, which once found: %s', async (seed) => {
    await expectSound(seed)
  })

  test.each([3, 17, 171])('seed %i gives the same history twice, byte for byte', async (seed) => {
    const [first, second] = [await simulate({ seed }), await simulate({ seed })]
    expect(trace(second)).toBe(trace(first))
    expect(JSON.stringify(second)).toBe(JSON.stringify(first))
  })
})
