/**
 * `purge`: deletes ended runs that are older than asked, after a look at how many they are. Its keys stay for their own time.
 * What retention does by itself, an operator does here once.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { Store } from '../ports/store.ts'
import type { TerminalState } from '../run/run.ts'
import { storeNow } from './store-now.ts'

export interface PurgeOptions {
  readonly olderThanMs: number
  /** What they ended in. */
  readonly states: readonly TerminalState[]
  /** How long keys are kept after the end of their runs. */
  readonly keysMs: number
  /** Who acts: stands in the audit. */
  readonly by: string
  /** Only count. @default true */
  readonly dryRun?: boolean
}

export interface Purged {
  readonly dryRun: boolean
  /** Runs that are old enough, by task and state. */
  readonly matched: readonly { readonly task: string; readonly state: TerminalState; readonly runs: number }[]
  readonly done: number
  readonly keys: number
}

/** One transaction's worth, so that workers get their turn in between. */
const RUNS_PER_CALL = 500

export async function purgeRuns(store: Store, options: PurgeOptions): Promise<Purged> {
  const { olderThanMs, states, keysMs, by, dryRun = true } = options
  if (!store.prune)
    throw new RepriseError('purge.store', `The ${store.name} store lets runs expire by its own means; look there.`)
  const finishedBefore = (await storeNow(store)) - olderThanMs + 1
  const matched = (await store.count({ states, finishedBefore })) as Purged['matched']
  if (dryRun) return { dryRun, matched, done: 0, keys: 0 }
  const keepMs = Object.fromEntries(states.map((state) => [state, olderThanMs]))
  let [done, keys, more] = [0, 0, true]
  while (more) {
    const batch = await store.prune({ keepMs, keysMs, limit: RUNS_PER_CALL })
    done += batch.pruned.length
    keys += batch.keys
    more = batch.more
  }
  await store.note({ by, what: 'purge', data: { olderThanMs, states: states.join(','), done, keys } })
  return { dryRun, matched, done, keys }
}
