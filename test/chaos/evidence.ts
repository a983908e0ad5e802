/**
 * Everything that a scenario left behind, gathered from outside after all workers are gone: what the client was told, what the provider
 * received, what each process logged, what was done to it, and what the store and the folder of artifacts hold.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { folder } from '../../src/artifacts/folder/index.ts'
import type { Finding, Note, RunView, Store } from '../../src/ports/store.ts'
import type { EventName, EventOf } from '../../src/run/event.ts'
import type { JournalEntry } from '../../src/run/journal.ts'
import type { AttemptRecord } from '../../src/run/run.ts'
import type { Arena } from './arena.ts'
import type { Done, Job, Send } from './job.ts'
import type { LostLease } from './leases-watched.ts'
import { readLines } from './line-log.ts'
import type { SubmitLine } from './submitter.ts'
import type { Fault, WorkerProcess } from './worker-pool.ts'
import type { WorkerLine } from './worker-process.ts'

const PAGE = 500

export interface SeenRun extends RunView {
  readonly job: Job
  readonly done?: Done
  readonly attempts: readonly AttemptRecord[]
  readonly journal: readonly JournalEntry[]
}

export interface Evidence {
  readonly leaseMs: number
  readonly submits: readonly SubmitLine[]
  readonly sends: readonly Send[]
  readonly lines: readonly WorkerLine[]
  readonly faults: readonly Fault[]
  readonly processes: readonly WorkerProcess[]
  readonly runs: readonly SeenRun[]
  readonly notes: readonly Note[]
  readonly policies: ReadonlyMap<string, string>
  /** By uri. */
  readonly artifacts: ReadonlyMap<string, Uint8Array | 'broken' | undefined>
  /** Names in the folder of artifacts that belong to no run. */
  readonly strayArtifacts: readonly string[]
  readonly findings: readonly Finding[]
  /** What SQLite's own check of the file says. */
  readonly integrity: string
}

export async function gather(arena: Arena): Promise<Evidence> {
  const { store, leaseMs, pool, submitter } = arena
  const runs = await allRuns(store)
  const root = join(arena.folder, 'artifacts')
  const stored = folder({ root })
  const uris = runs.flatMap(({ done }) => done?.artifact?.uri ?? [])
  const artifacts = new Map<string, Uint8Array | 'broken' | undefined>()
  for (const uri of uris) artifacts.set(uri, await stored.get(uri))
  const ids = new Set(runs.map(({ id }) => id))
  const hashes = new Set(runs.flatMap(({ attempts }) => attempts.flatMap(({ policy }) => policy ?? [])))
  const policies = new Map<string, string>()
  for (const hash of hashes) policies.set(hash, (await store.policy(hash)) ?? '')
  return {
    leaseMs,
    submits: [...submitter.log, ...submitsIn(join(arena.folder, 'submits'))],
    sends: readLines<Send>(join(arena.folder, 'provider.ndjson')),
    lines: logsIn(join(arena.folder, 'events')),
    faults: pool.faults,
    processes: pool.all,
    runs,
    notes: await store.notes({ limit: 10_000 }),
    policies,
    artifacts,
    strayArtifacts: namesIn(root).filter((name) => name !== '@tmp' && !ids.has(name)),
    findings: await store.verify(),
    integrity: integrityOf(arena.file),
  }
}

async function allRuns(store: Store): Promise<SeenRun[]> {
  const runs: SeenRun[] = []
  let cursor: string | undefined
  do {
    const page = await store.find({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) })
    for (const run of page.runs) {
      runs.push({
        ...run,
        job: JSON.parse(run.input) as Job,
        ...(run.output === undefined ? {} : { done: JSON.parse(run.output) as Done }),
        attempts: await store.attempts(run.id),
        journal: await store.journal(run.id, run.generation),
      })
    }
    cursor = page.cursor
  } while (cursor !== undefined)
  return runs
}

const namesIn = (root: string): string[] => {
  try {
    return readdirSync(root)
  } catch {
    return []
  }
}

const logsIn = (root: string): WorkerLine[] =>
  namesIn(root)
    .flatMap((name) => readLines<WorkerLine>(join(root, name)))
    .sort((a, b) => a.at - b.at)

/** What processes submitted themselves. */
const submitsIn = (root: string): SubmitLine[] =>
  namesIn(root).flatMap((name) => readLines<SubmitLine>(join(root, name)))

export function integrityOf(file: string): string {
  const database = new Database(file, { readonly: true })
  const found = database.pragma('integrity_check', { simple: true })
  database.close()
  return String(found)
}

/** Events of one name, with the time at which their process logged them. */
export function eventsOf<Name extends EventName>(
  { lines }: Pick<Evidence, 'lines'>,
  name: Name,
): readonly (EventOf<Name> & { readonly loggedAt: number })[] {
  return lines.flatMap(({ at, event }) =>
    event?.name === name ? [{ ...(event as unknown as EventOf<Name>), loggedAt: at }] : [],
  )
}

/** Leases that a worker found to be gone while it lived. */
export const lostLeases = ({ lines }: Pick<Evidence, 'lines'>): readonly (LostLease & { readonly worker: string })[] =>
  lines.flatMap((line) => (line.event === undefined ? [line] : []))
