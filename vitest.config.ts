import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import { LEFT_OUT } from './scripts/long-suites.ts'
import { faces } from './test/e2e/faces.ts'

/** Suites in the order in which a failure is most useful to see; each prints its own time. */
const SUITES = {
  house: 'test/house/**/*.test.ts',
  unit: 'src/**/*.test.ts',
  contract: 'test/contract/**/*.test.ts',
  simulation: 'test/simulation/**/*.test.ts',
  chaos: 'test/chaos/**/*.test.ts',
  flows: 'test/flows/**/*.test.ts',
  e2e: 'test/e2e/**/*.test.ts',
  deploy: 'test/deploy/**/*.test.ts',
}

/** Chaos at its full size wants the machine for itself; else two cores have three files to work on, as one of them often waits for a server. */
const WORKERS = process.env['REPRISE_TEST_CHAOS'] === 'full' ? {} : { maxWorkers: 3 }

/** Examples import the package by its name; here that is the source. */
const alias = [...faces()].map(([name, url]) => ({
  find: new RegExp(`^${name}$`),
  replacement: fileURLToPath(url),
}))

export default defineConfig({
  test: {
    ...WORKERS,
    projects: Object.entries(SUITES)
      .filter(([name]) => name === 'unit' || existsSync(`test/${name}`))
      .map(([name, include]) => ({
        resolve: { alias },
        test: {
          ...{ name, include: [include], testTimeout: 60_000, hookTimeout: 60_000, restoreMocks: true },
          // Tests leave nothing behind in a process, so one process loads the code once for many of them.
          isolate: false,
          exclude: [...configDefaults.exclude, ...LEFT_OUT],
          // The end-to-end tests start the command line as it is shipped.
          globalSetup: name === 'e2e' ? ['test/built.ts'] : [],
        },
      })),
  },
})
