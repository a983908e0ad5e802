/**
 * A clock on which time passes a whole number of times faster, so that a demonstration need not last as long as life.
 * Everything that reads it sees the same, consistent time.
 */
import { type Clock, sleepBy } from '../../time/clock.ts'

export function fastClock(clock: Clock, times: number): Clock {
  const startedAt = clock.now()
  const origin = clock.monotonic()
  const passed = () => (clock.monotonic() - origin) * times
  const after: Clock['after'] = (ms, run) => clock.after(ms / times, run)
  return {
    now: () => Math.round(startedAt + passed()),
    monotonic: passed,
    after,
    sleep: (ms, signal) => sleepBy(after, ms, signal),
  }
}
