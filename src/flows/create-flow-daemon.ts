/**
 * The polling daemon over a collection of flows: an ordinary worker, and a look at documents that others made and whose events were lost.
 * Polling is the truth; an event only makes it faster.
 */
import type { Reprise, WorkOptions } from '../engine/reprise.ts'
import type { Store } from '../ports/store.ts'
import { adoptFlow, strangers } from '../stores/firestore/adopt.ts'
import { type FirestoreOptions, firestore } from '../stores/firestore/index.ts'
import { type Clock, systemClock } from '../time/clock.ts'

export interface FlowDaemonOptions extends Pick<WorkOptions, 'concurrency' | 'leaseMs' | 'pollMs'> {
  readonly firestore?: Omit<FirestoreOptions, 'only'>
  readonly open: (store: Store) => Pick<Reprise<never>, 'work' | 'close'>
  /** How often documents that others made or changed are looked for; 0 for never. @default 30,000 */
  readonly adoptEveryMs?: number
  readonly clock?: Clock
}

export interface FlowDaemon {
  /** Resolves when nothing is claimable now and nothing is in hand. */
  idle(): Promise<void>
  /** Goes on looking for documents that others made or changed, a bounded step; says how many were found. */
  adopt(): Promise<number>
  stop(): Promise<void>
}

const ADOPT_EVERY_MS = 30_000

export function createFlowDaemon(options: FlowDaemonOptions): FlowDaemon {
  const { firestore: place = {}, adoptEveryMs = ADOPT_EVERY_MS, clock = systemClock } = options
  const { concurrency, leaseMs, pollMs } = options
  if (!Number.isInteger(adoptEveryMs) || adoptEveryMs < 0)
    throw new RangeError(`adoptEveryMs: ${adoptEveryMs}; allowed are whole numbers from 0`)
  const reprise = options.open(firestore(place))
  const worker = reprise.work({
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(leaseMs === undefined ? {} : { leaseMs }),
    ...(pollMs === undefined ? {} : { pollMs }),
  })
  const stopping = new AbortController()
  let after: string | undefined
  const adopt = async (): Promise<number> => {
    const { ids, next } = await strangers(place, after)
    for (const id of ids) await adoptFlow(place, id)
    // Only now: after a look that failed half-way the next one sees the same documents.
    after = next
    return ids.length
  }
  const looking = adoptEveryMs > 0 ? lookNowAndThen(adopt, adoptEveryMs, clock, stopping.signal) : Promise.resolve()
  return {
    idle: () => worker.idle(),
    adopt,
    stop: async () => {
      stopping.abort()
      await looking
      await worker.stop()
      await reprise.close()
    },
  }
}

async function lookNowAndThen(
  look: () => Promise<unknown>,
  everyMs: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    // A store that is not there now is there at the next look.
    await look().catch(() => {})
    await clock.sleep(everyMs, signal).catch(() => {})
  }
}
