/**
 * Who looks: a pass of the sweep, and the engine's own store. Each comes to the same small record; what it means is in `breach.ts`.
 */
import type { Store } from '../ports/store.ts'
import type { RepriseEvent } from '../run/event.ts'
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

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A run that is ready and was not taken for so long is stuck, as a silent document is. */
const STUCK_AGE_MS = DAY_MS
const WEEK_MS = 7 * DAY_MS
/** Failed runs are history and stay: those of the last day are what somebody has to decide about. */
const FAILED_WITHIN_MS = DAY_MS

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

/** What the engine's store shows, by task: three counts, each by an index. */
export async function sightingsOfStore(
  store: Store,
  exhausted: ReadonlyMap<string, number> = new Map(),
): Promise<Sighting[]> {
  const { now } = await store.find({ limit: 1 })
  const [stuck, old, failed, known] = await Promise.all([
    store.count({ states: ['ready'], submittedBefore: now - STUCK_AGE_MS }),
    store.count({ states: ['ready'], submittedBefore: now - WEEK_MS }),
    store.count({ states: ['failed'], submittedAfter: now - FAILED_WITHIN_MS }),
    store.count({ states: ['ready', 'running', 'waiting', 'blocked', 'review'] }),
  ])
  const sum = (counts: typeof stuck, task: string) =>
    counts.reduce((total, each) => (each.task === task ? total + each.runs : total), 0)
  const tasks = new Set([...stuck, ...failed, ...known].map(({ task }) => task).concat(...exhausted.keys()))
  return [...tasks].map((task) => ({
    subject: `task:${task}`,
    stuck: sum(stuck, task),
    // How old the oldest is would need a walk over all of them; that one is older than a week is what is asked.
    oldestStuckMs: sum(old, task) > 0 ? WEEK_MS + 1 : 0,
    exhausted: exhausted.get(task) ?? 0,
    failed: sum(failed, task),
    isPartial: false,
  }))
}
