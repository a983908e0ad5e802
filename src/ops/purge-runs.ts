/**
 * `purge`: deletes ended runs after a look at how many they are: those that an export holds as they are, or all that are old.
 * What retention does by itself, an operator does here once. Keys and notes stay for their own time.
 */
import { isDeepStrictEqual } from 'node:util'
import { RepriseError } from '../failure/reprise-error.ts'
import type { PruneRequest, Store } from '../ports/store.ts'
import { isTerminal, type TerminalState } from '../run/run.ts'
import { type ExportedRun, exportedRun } from './export-runs.ts'
import { storeNow } from './store-now.ts'

export interface PurgeOptions {
  readonly olderThanMs: number
  /** What they ended in. */
  readonly states: readonly TerminalState[]
  /** How long keys are kept after the end of their runs. */
  readonly keysMs: number
  /** Who acts: stands in the audit. */
  readonly by: string
  /** Records of an export. Only what they hold just as the store does is deleted. Absent: whatever is old enough. */
  readonly exported?: AsyncIterable<ExportedRun>
  /** What else the audit should know, such as which file the records are of. Asked for after they have been read. */
  readonly audit?: () => Readonly<Record<string, string>>
  /** Only count. @default true */
  readonly dryRun?: boolean
}

/** Why a run that an export names is not deleted. */
export type Stays =
  | 'gone'
  | 'changed'
  | 'not ended'
  | 'of another state'
  | 'too young'
  /** With a run that stays, or it is the newest of the store. */
  | 'tied'

export interface Purged {
  readonly dryRun: boolean
  /** Runs that may go, by task and state. */
  readonly matched: readonly Matched[]
  /** Of the runs that an export names, how many stay and why. Absent without one. */
  readonly stays?: Readonly<Partial<Record<Stays, number>>>
  readonly done: number
  readonly keys: number
}

interface Matched {
  readonly task: string
  readonly state: TerminalState
  readonly runs: number
}

/** One transaction's worth, so that workers get their turn in between. */
const RUNS_PER_CALL = 500

export async function purgeRuns(store: Store, options: PurgeOptions): Promise<Purged> {
  const { olderThanMs, states, keysMs, by, exported, audit, dryRun = true } = options
  const prune = store.prune?.bind(store)
  if (!prune)
    throw new RepriseError('purge.store', `The ${store.name} store lets runs expire by its own means; look there.`)
  const finishedBefore = (await storeNow(store)) - olderThanMs + 1
  const held = exported && (await heldBy(store, exported, { states, finishedBefore }))
  const matched = held?.matched ?? ((await store.count({ states, finishedBefore })) as readonly Matched[])
  if (dryRun) return { dryRun, matched, ...(held ? { stays: held.stays } : {}), done: 0, keys: 0 }
  const keepMs = Object.fromEntries(states.map((state) => [state, olderThanMs]))
  const { done, keys } = await pruneAll(prune, { keepMs, keysMs, ...(held ? { only: held.only } : {}) })
  const how = exported ? { exported: true, ...audit?.() } : { exported: false }
  await store.note({ by, what: 'purge', data: { olderThanMs, states: states.join(','), done, keys, ...how } })
  if (!held) return { dryRun, matched, done, keys }
  const tied = held.only.size - done
  return { dryRun, matched, stays: { ...held.stays, ...(tied > 0 ? { tied } : {}) }, done, keys }
}

async function pruneAll(prune: NonNullable<Store['prune']>, request: Omit<PruneRequest, 'limit'>) {
  let [done, keys, more] = [0, 0, true]
  while (more) {
    const batch = await prune({ ...request, limit: RUNS_PER_CALL })
    done += batch.pruned.length
    keys += batch.keys
    more = batch.more
  }
  return { done, keys }
}

interface Held {
  /** Runs that may go, with the generation in which they are held. An ended run does not change within its generation. */
  readonly only: ReadonlyMap<string, number>
  readonly matched: readonly Matched[]
  readonly stays: Readonly<Partial<Record<Stays, number>>>
}

/** All records are read before anything is deleted: an export that cannot be read to its end deletes nothing. */
async function heldBy(store: Store, exported: AsyncIterable<ExportedRun>, asked: Asked): Promise<Held> {
  const only = new Map<string, number>()
  const matched = new Map<string, Matched>()
  const stays: Partial<Record<Stays, number>> = {}
  for await (const record of exported) {
    if (only.has(record.run.id)) continue
    const found = await lookAt(store, record, asked)
    if (typeof found === 'string') {
      stays[found] = (stays[found] ?? 0) + 1
      continue
    }
    const { generation, task, state } = found
    only.set(record.run.id, generation)
    const name = JSON.stringify([task, state])
    matched.set(name, { task, state, runs: (matched.get(name)?.runs ?? 0) + 1 })
  }
  return { only, matched: [...matched.values()], stays }
}

interface Asked {
  readonly states: readonly TerminalState[]
  readonly finishedBefore: number
}

async function lookAt(store: Store, record: ExportedRun, { states, finishedBefore }: Asked) {
  const run = await store.get({ id: record.run.id })
  if (!run) return 'gone'
  const { state, generation, task, finishedAt = Number.POSITIVE_INFINITY } = run
  if (!isTerminal(state)) return 'not ended'
  if (!states.includes(state)) return 'of another state'
  if (finishedAt >= finishedBefore) return 'too young'
  return isSame(record, await exportedRun(store, run)) ? { state, generation, task } : 'changed'
}

/** Notes are left out: they outlive the run, and one that was added since is no reason to keep it. */
function isSame({ notes: _then, ...then }: ExportedRun, { notes: _now, ...now }: ExportedRun): boolean {
  return isDeepStrictEqual(then, JSON.parse(JSON.stringify(now)))
}
