/**
 * Waiting for something to become true, with an end: no test sleeps and hopes.
 */
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_EVERY_MS = 15

/** The machine may be busy with other tests: long, because only a failing test waits this long. */
export const PATIENCE_MS = 60_000

/** Resolves with the first answer that is not `undefined` and not `false`; afterwards throws what was waited for in vain. */
export async function until<Found>(
  what: string,
  look: () => Found | undefined | false | Promise<Found | undefined | false>,
  withinMs: number = PATIENCE_MS,
): Promise<Found> {
  const startedAt = performance.now()
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (performance.now() - startedAt > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`)
    await sleep(LOOK_EVERY_MS)
  }
}
