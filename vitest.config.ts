import { existsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

/** Suites in the order in which a failure is most useful to see; each prints its own time. */
const SUITES = {
  house: 'test/house/**/*.test.ts',
  unit: 'src/**/*.test.ts',
  contract: 'test/contract/**/*.test.ts',
  simulation: 'test/simulation/**/*.test.ts',
  chaos: 'test/chaos/**/*.test.ts',
  flows: 'test/flows/**/*.test.ts',
  e2e: 'test/e2e/**/*.test.ts',
}

/** Chaos at its full size wants the machine for itself; else both cores of a small machine are used. */
const WORKERS = process.env['REPRISE_TEST_CHAOS'] === 'full' ? {} : { maxWorkers: 2 }

export default defineConfig({
  test: {
    ...WORKERS,
    projects: Object.entries(SUITES)
      .filter(([name]) => name === 'unit' || existsSync(`test/${name}`))
      .map(([name, include]) => ({
        test: { name, include: [include], testTimeout: 30_000, hookTimeout: 60_000, restoreMocks: true },
      })),
  },
})
