/**
 * Who looks: a pass of the sweep, and the engine's own store. Each comes to the same small record; what it means is in `breach.ts`.
 */
import type { Store } from '../ports/store.ts'
import type { RepriseEvent } from '../run/event.ts'
import { STUCK_AFTER_MS } from '../run/stuck.ts'
import type { PassReport } from '../sweep/sweep.ts'
import type { Sighting } from './breach.ts'

/** What a pass saw. A dry run saw nothing, because nothing follows from it. */
export function sightingsOfPass({ collections, dryRun }: Pick<PassReport, 'collections' | 'dryRun'>): Sighting[] {
  if (dryRun) return []
  return collections.map(({ collection, stuck, oldestStuckMs, ended, failed, errors }) => ({
    subject: `collection:${collection}`,
    stuck,
    oldestStuckMs,
    exhausted: ended,
    failed,
    // Messages that were put aside hide nothing; any other trouble may have kept a count at 0.
    isPartial: Object.keys(errors).some((type) => type !== 'unreadable'),
  }))
}

/** Failed runs are history and stay: those of the last day are what somebody has to decide about. */
const FAILED_WITHIN_MS = 24 * 3_600_000

/** Runs that ended because their attempts were used up, by task, since they were last asked for. */
export interface Exhaustion {
  hear(event: RepriseEvent): void
  take(): ReadonlyMap<string, number>
}

/** Tasks are few; the bound is for the day when they are not. */
const TASKS_MAX = 1_000

export function hearExhaustion(): Exhaustion {
  let counts = new Map<string, number>()
  return {
    hear(event) {
      if (event.name !== 'run.failed' || event.ledger !== 'errors') return
      if (counts.has(event.task) || counts.size < TASKS_MAX) counts.set(event.task, (counts.get(event.task) ?? 0) + 1)
    },
    take() {
      const taken = counts
      counts = new Map()
      return taken
    },
  }
}

export interface StoreLook {
  /** Runs that ran out of attempts, by task, since the last look. */
  readonly exhausted?: ReadonlyMap<string, number>
  /** A run that could have been claimed for longer is stuck, as a silent document is. @default 24 hours */
  readonly stuckAfterMs?: number
}

/** What the engine's store shows, by task. What is held waits for a reason, and is not stuck. */
export async function sightingsOfStore(store: Store, look: StoreLook = {}): Promise<Sighting[]> {
  const { exhausted = new Map<string, number>(), stuckAfterMs = STUCK_AFTER_MS } = look
  const pulse = await store.pulse({ stuckAfterMs })
  const { now } = pulse
  const [failed, known] = await Promise.all([
    store.count({ states: ['failed'], submittedAfter: now - FAILED_WITHIN_MS }),
    store.count({ states: ['ready', 'running', 'waiting', 'blocked', 'review'] }),
  ])
  const tasks = new Set([...failed, ...known].map(({ task }) => task).concat(...exhausted.keys()))
  return [...tasks].map((task) => {
    const { stuck = 0, oldestAt = now } = pulse.tasks.find((each) => each.task === task) ?? {}
    return {
      subject: `task:${task}`,
      stuck,
      oldestStuckMs: stuck > 0 ? now - oldestAt : 0,
      exhausted: exhausted.get(task) ?? 0,
      failed: failed.reduce((total, each) => (each.task === task ? total + each.runs : total), 0),
      isPartial: false,
    }
  })
}
