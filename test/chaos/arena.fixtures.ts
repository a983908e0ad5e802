/**
 * Arenas for tests: whatever a test left running is stopped and removed after it, also when it failed.
 */
import { expect, onTestFinished } from 'vitest'
import { Arena, type ArenaOptions } from './arena.ts'
import { breachesOf } from './check.ts'
import { type Evidence, gather } from './evidence.ts'

/** Called after the present test, the last one first. */
export function afterwards(close: () => unknown): void {
  onTestFinished(async () => {
    await close()
  })
}

export function openArena(options: ArenaOptions): Arena {
  const arena = new Arena(options)
  afterwards(() => arena.close())
  return arena
}

/** Everybody stops when told, and the evidence breaks no law. */
export async function expectSound(arena: Arena): Promise<Evidence> {
  const exits = await arena.pool.stopAll()
  expect(exits.map(({ code }) => code)).toEqual(exits.map(() => 0))
  const evidence = await gather(arena)
  expect(breachesOf(evidence)).toEqual([])
  return evidence
}
