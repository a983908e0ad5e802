/**
 * Looking after something in the background, in real time, without keeping the process alive for it.
 * For hints that nobody depends on; whatever must happen uses a Clock.
 */
import type { Cancel } from './clock.ts'

/** Calls `run` about every `ms` until cancelled. A process with nothing else to do ends all the same. */
export function inBackground(ms: number, run: () => void): Cancel {
  const timer = setInterval(run, ms)
  timer.unref()
  return () => clearInterval(timer)
}
