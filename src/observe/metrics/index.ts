/**
 * Metrics for Prometheus: a listener that counts events, and gauges that read the store when somebody looks.
 * Public as `reprise/metrics`. No label carries an id or a user's text, and each has a bounded number of values.
 */
import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Store } from '../../ports/store.ts'
import type { RepriseEvent } from '../../run/event.ts'
import { STUCK_AFTER_MS } from '../../run/stuck.ts'
import { type Clock, systemClock } from '../../time/clock.ts'
import { eventMetrics } from './event-metrics.ts'
import { storeGauges } from './store-gauges.ts'

export interface MetricsOptions {
  /** Whose runs and holds are shown; absent: only what this process tells. */
  readonly store?: Store
  /** To add them to metrics of the application's own. @default a registry of their own */
  readonly register?: Registry
  /** Also the process's own: memory, event loop, garbage collection. @default false */
  readonly processMetrics?: boolean
  /** A run that could have been claimed for longer is counted as stuck. @default 24 hours */
  readonly stuckAfterMs?: number
  readonly clock?: Clock
}

export interface Metrics {
  readonly register: Registry
  /** @example reprise.on('*', metrics.listen) */
  readonly listen: (event: RepriseEvent) => void
  /** What a scrape is answered with. */
  readonly page: () => Promise<{ readonly contentType: string; readonly body: string }>
}

export function createMetrics(options: MetricsOptions = {}): Metrics {
  const { store, register = new Registry(), processMetrics = false, clock = systemClock } = options
  const { stuckAfterMs = STUCK_AFTER_MS } = options
  if (!Number.isFinite(stuckAfterMs) || stuckAfterMs < 0)
    throw new RangeError(`stuckAfterMs: ${stuckAfterMs}; allowed are milliseconds from 0`)
  const hear = eventMetrics(register)
  if (store) storeGauges(register, store, { clock, stuckAfterMs })
  if (processMetrics) collectDefaultMetrics({ register })
  return {
    register,
    listen: (event) => {
      // The compiler cannot see that an event and the entry of its name belong together.
      const counted = hear[event.name] as ((event: RepriseEvent) => void) | undefined
      counted?.(event)
    },
    page: async () => ({ contentType: register.contentType, body: await register.metrics() }),
  }
}
