import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import type { History } from '../../src/testing/simulation/history.ts'
import { simulate } from '../../src/testing/simulation/simulate.ts'
import { trace } from '../../src/testing/simulation/trace.ts'

const SEEDS = Number(process.env['REPRISE_TEST_DIFFERENTIAL_SEEDS'] ?? 40)

const folder = mkdtempSync(join(tmpdir(), 'reprise-differential-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What must be the same: everything but the name of the driver. */
const comparable = (history: History) => ({
  trace: trace(history)
    .replaceAll(/starts on (memory|sqlite)/g, 'starts on a store')
    .split('\n'),
  dump: history.dump,
})

test(
  `${SEEDS} seeds give the same history on memory and on SQLite`,
  async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const onMemory = comparable(await simulate({ seed }))
      const file = join(folder, `${seed}.db`)
      // Power is not lost here, so there is nothing to flush for.
      const onSqlite = comparable(
        await simulate({ seed, open: (clock, ageingMs) => sqlite({ file, clock, ageingMs, durability: 'process' }) }),
      )
      const first = onMemory.trace.findIndex((line, index) => line !== onSqlite.trace[index])
      expect(onSqlite.trace[first], `seed ${seed}, line ${first}`).toBe(onMemory.trace[first])
      expect(onSqlite.trace.length, `seed ${seed}`).toBe(onMemory.trace.length)
      expect(onSqlite.dump, `seed ${seed}`).toEqual(onMemory.dump)
      rmSync(file)
    }
  },
  60_000 + SEEDS * 2_000,
)
