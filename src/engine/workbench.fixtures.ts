/**
 * A place to try the engine in tests: memory store, virtual time, fixed dice, and every event kept.
 */
import type { EventName, EventOf, RepriseEvent } from '../run/event.ts'
import { memory } from '../stores/memory/index.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import { createReprise, type RunningWorker, type WorkOptions } from './reprise.ts'

export function workbench(dice: () => number = () => 0.5) {
  const clock = virtualClock()
  const store = memory({ clock })
  const reprise = createReprise({ store, clock, dice })
  const events: RepriseEvent[] = []
  reprise.on('*', (event) => events.push(event))
  return {
    clock,
    store,
    reprise,
    events,
    /** The events of one name. The compiler cannot follow a generic name through the union. */
    named: <Name extends EventName>(name: Name) =>
      events.filter((event) => event.name === name) as unknown as EventOf<Name>[],
    /** Works until nothing is claimable now, or nothing waits any more, then stops. */
    async workUntil(until: 'idle' | 'settled' = 'settled', options: WorkOptions = {}): Promise<void> {
      const worker: RunningWorker = reprise.work({ concurrency: 4, ...options })
      await clock.runUntilSettled(worker.idle(until === 'settled' ? { until } : {}))
      await clock.runUntilSettled(worker.stop())
    },
  }
}
