/**
 * A small world for tests of this room: memory store, virtual time, and handlers that fail as told.
 */
import { createReprise } from '../engine/reprise.ts'
import { memoryOn } from '../stores/memory/index.ts'
import { emptyTables } from '../stores/memory/rows.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import type { FilterOptions } from './filter.ts'

/** 2026-11-15T14:00:00Z */
export const NOON = 1_794_751_200_000

export function bench(dice: () => number = () => 0.5) {
  const clock = virtualClock({ startAt: NOON })
  const tables = emptyTables()
  const store = memoryOn(tables, { clock })
  let id = 0
  const ids = (bytes: number) => (id++).toString(16).padStart(bytes * 2, '0')
  const reprise = createReprise({ store, clock, dice, ids })
  return {
    clock,
    tables,
    store,
    reprise,
    filterOptions: (): FilterOptions => ({ now: clock.now() }),
    /** Works until nothing is claimable now, or nothing waits any more, then stops. */
    async work(until: 'idle' | 'settled' = 'settled', drainMs = 30_000): Promise<void> {
      const worker = reprise.work({ concurrency: 4, drainMs })
      await clock.runUntilSettled(worker.idle(until === 'settled' ? { until } : {}))
      await clock.runUntilSettled(worker.stop())
    },
  }
}

/** An error as HTTP clients throw it. */
export function httpError(status: number, headers: Record<string, string> = {}): Error {
  return Object.assign(new Error(`HTTP ${status}`), { status, headers })
}
