/**
 * `prune`: a walk over the oldest rows, a bounded stretch in each call, that goes on where the last call stopped.
 * No index is kept for it, because an index of ended runs would cost every end; ids rise with the time of submit, so the walk knows
 * where nothing can be old enough any more.
 */
import type { Pruned, PruneRequest } from '../../ports/store.ts'
import { isTerminal } from '../../run/run.ts'
import { turn } from '../../time/clock.ts'
import type { GroupCommit } from './group-commit.ts'
import type { Readers } from './read.ts'
import { idOf, numberOf, stateOf } from './row.ts'
import type { Tx } from './session.ts'
import type { EndedRow } from './statements.ts'

/** Rows of each table that one call looks at: a few milliseconds. */
const LOOK_MAX = 2_000

/** Rows fetched at a time, because most looks end at the first. */
const CHUNK = 250

/** Ended runs counted before others may run. */
const STRETCH = 10_000

/** The same month ends in no two zones further apart. */
const ZONES_APART_MS = 2 * 86_400_000

/** A run that goes takes rows of four tables with it. */
const ROWS_PER_RUN = 4

/** How far a walk has come in each table, and by lane the oldest run that `keepMax` keeps. */
interface Pass {
  readonly run: number
  readonly key: number
  readonly note: number
  readonly spend: number
  readonly floors: ReadonlyMap<number, number>
}

interface Step {
  readonly now: number
  readonly pruned: readonly number[]
  readonly keys: number
  readonly next: Pass
  readonly more: boolean
}

/** What one table's walk came to. */
interface Walked {
  readonly ids: readonly number[]
  readonly at: number
  readonly more: boolean
}

interface Ways {
  read<Answer>(ask: (readers: Readers) => Answer | Promise<Answer>): Promise<Answer>
  readonly write: GroupCommit['do']
}

export class Pruner {
  /** Of the request with this text and these runs: another request has its own idea of what is old. */
  #under: { readonly request: string; readonly only: PruneRequest['only']; readonly pass: Pass } | undefined

  async prune(request: PruneRequest, { read, write }: Ways): Promise<Pruned> {
    check(request)
    const { only, ...rest } = request
    const text = JSON.stringify(rest)
    const pass =
      this.#under?.request === text && this.#under.only === only
        ? this.#under.pass
        : { run: 0, key: 0, note: 0, spend: 0, floors: await read((readers) => floorsOf(readers, request.keepMax)) }
    const { now, pruned, keys, next, more } = await write<Step>({
      rows: request.limit * ROWS_PER_RUN,
      wakes: false,
      execute: (tx) => step(tx, request, pass),
    })
    this.#under = more ? { request: text, only, pass: next } : undefined
    return { now, pruned: pruned.map(idOf), keys, more }
  }
}

function check({ keepMs, keepMax, keysMs, limit }: PruneRequest): void {
  const numbers = { ...keepMs, keysMs, keepMax: keepMax ?? 0, limit: limit - 1 }
  const [name] = Object.entries(numbers).find(([, value]) => !(value !== undefined && value >= 0)) ?? []
  if (name !== undefined) throw new RangeError(`prune: ${name} is too small; limit is 1 or more, all else 0 or more`)
}

function step(tx: Tx, request: PruneRequest, pass: Pass): Step {
  const { now } = tx
  const before = now - request.keysMs
  const runs = pruneRuns(tx, request, pass)
  const keys = pruneKeys(tx, before, pass.key, request.limit)
  const notes = pruneNotes(tx, before, pass.note)
  const spends = pruneSpends(tx, before, pass.spend)
  const claimsMore = pruneClaims(tx, before)
  return {
    now,
    pruned: runs.ids,
    keys: keys.ids.length,
    next: { ...pass, run: runs.at, key: keys.at, note: notes.at, spend: spends.at },
    more: runs.more || keys.more || notes.more || spends.more || claimsMore,
  }
}

function pruneRuns(tx: Tx, { keepMs, keysMs, limit, only }: PruneRequest, { run: from, floors }: Pass): Walked {
  const { statements, now } = tx
  const newest = statements.newestRun.get()?.id
  const isOld = (row: EndedRow) => {
    const state = stateOf(row.state)
    if (!isTerminal(state) || row.id === newest) return false
    if (only !== undefined && only.get(idOf(row.id)) !== row.generation) return false
    const endedAt = row.finished_at ?? now
    return endedAt <= now - (keepMs[state] ?? Number.POSITIVE_INFINITY) || row.id < (floors.get(row.lane) ?? 0)
  }
  const latest = now - Math.min(...Object.values(keepMs), Number.POSITIVE_INFINITY)
  const lastFloor = Math.max(...floors.values(), 0)
  const old: EndedRow[] = []
  const judged = new Set<number>()
  const walked = walk(statements.oldestRuns, from, (row) => {
    // Nothing ends before it is submitted, and whatever follows was submitted later.
    if (row.submitted_at > latest && row.id >= lastFloor) return 'end'
    if (judged.has(row.id) || !isOld(row)) return 'pass'
    const all = linkedTo(tx, row)
    for (const { id } of all) judged.add(id)
    if (!all.every((each) => isOld(each) && isKeyOld(tx, each, now - keysMs))) return 'pass'
    if (old.length > 0 && old.length + all.length > limit) return 'later'
    old.push(...all)
    return old.length >= limit ? 'last' : 'take'
  })
  if (old.length > 0) dropRuns(tx, old)
  return { ...walked, ids: old.map(({ id }) => id) }
}

/** A run and all that it is linked to, by needs, joins and flows, through however many others; oldest first. */
function linkedTo({ statements }: Tx, first: EndedRow): EndedRow[] {
  const reached = new Set([first.id])
  for (const id of reached) for (const { run } of statements.linkedTo.all(id, id, id, id)) reached.add(run)
  if (reached.size === 1) return [first]
  const ids = [...reached].sort((a, b) => a - b)
  return ids.flatMap((id) => statements.endedRun.get(id) ?? [])
}

/** The key of a flow answers with its steps, so they stay as long as it is kept. */
function isKeyOld({ statements }: Tx, { id, finished_at: endedAt }: EndedRow, before: number): boolean {
  return (endedAt ?? 0) <= before || statements.flowKeyOf.get(id) === undefined
}

function dropRuns({ statements, lanes }: Tx, rows: readonly EndedRow[]): void {
  for (const { id, key, lane, finished_at: endedAt } of rows) {
    // The key's age counts from the end of its run, however long ago it was submitted.
    if (key !== null) statements.ageKey.run(endedAt, lanes.laneOf(lane).task, key, id)
  }
  const ids = JSON.stringify(rows.map(({ id }) => id))
  statements.dropAttempts.run(ids)
  statements.dropJournals.run(ids)
  statements.dropBodies.run(ids)
  // Both ends of a need go at once, and a flow has the number of its first step.
  statements.dropNeeds.run(ids)
  statements.dropSteps.run(ids)
  statements.dropFlows.run(ids)
  statements.dropRunWindows.run(ids)
  statements.dropRunSpends.run(ids)
  statements.dropRuns.run(ids)
}

function pruneKeys({ statements }: Tx, before: number, from: number, limit: number): Walked {
  let waiting = false
  const walked = walk(statements.oldestKeys, from, ({ at, submitted_at: runAt }) => {
    if (runAt !== null) return runAt > before ? 'end' : 'pass'
    waiting = at > before
    if (waiting) return 'pass'
    limit -= 1
    return limit === 0 ? 'last' : 'take'
  })
  if (walked.ids.length > 0) statements.dropKeys.run(JSON.stringify(walked.ids))
  // A whole stretch of keys that are too young, and the last one too: those that follow are hardly older.
  const isEnough = waiting && walked.ids.length === 0
  return isEnough ? { ...walked, more: false } : walked
}

function pruneNotes({ statements }: Tx, before: number, from: number): Walked {
  const walked = walk(statements.oldestNotes, from, ({ run, at }) => {
    if (at > before) return 'end'
    return run === null || statements.stateOf.get(numberOf(run)) ? 'pass' : 'take'
  })
  if (walked.ids.length > 0) statements.dropNotes.run(JSON.stringify(walked.ids))
  return walked
}

/** Windows that ended long ago go with all that was counted in them, the windows first: a count never outlives what it counts. */
function pruneSpends({ statements }: Tx, before: number, from: number): Walked {
  statements.dropWindows.run(before)
  const walked = walk(statements.oldestSpends, from, ({ ends_at: endsAt }) => {
    if (endsAt === null) return 'pass'
    if (endsAt <= before) return 'take'
    return endsAt > before + ZONES_APART_MS ? 'end' : 'pass'
  })
  if (walked.ids.length > 0) statements.dropSpends.run(JSON.stringify(walked.ids))
  return walked
}

/** Claims are needed while a lease is of them; all before the first such one go at once. */
function pruneClaims({ statements }: Tx, before: number): boolean {
  const old = statements.oldestClaims.all(LOOK_MAX)
  const firstLeased = old[0] && old[0].at <= before ? (statements.firstLeased.get()?.token ?? undefined) : 0
  const until = old.findLast(({ token, at }) => at <= before && token < (firstLeased ?? Number.POSITIVE_INFINITY))
  if (until) statements.dropClaims.run(until.token)
  return until !== undefined && until === old[LOOK_MAX - 1]
}

/** `end`: neither this row nor any after it. `last`: this row, and then no more in this call. `later`: this row begins the next call. */
type Verdict = 'take' | 'last' | 'pass' | 'later' | 'end'

function walk<Row extends { readonly id: number }>(
  statement: { all(from: number, limit: number): Row[] },
  from: number,
  judge: (row: Row) => Verdict,
): Walked {
  const ids: number[] = []
  let at = from
  for (let looked = 0; looked < LOOK_MAX; looked += CHUNK) {
    const rows = statement.all(at, CHUNK)
    for (const row of rows) {
      const verdict = judge(row)
      if (verdict === 'end' || verdict === 'later') return { ids, at, more: verdict === 'later' }
      at = row.id
      if (verdict !== 'pass') ids.push(row.id)
      if (verdict === 'last') return { ids, at, more: true }
    }
    if (rows.length < CHUNK) return { ids, at, more: false }
  }
  return { ids, at, more: true }
}

/** By lane, the id of the oldest ended run that is among the newest `keepMax` of its task; lanes of tasks with fewer have none. */
async function floorsOf(readers: Readers, keepMax: number | undefined): Promise<ReadonlyMap<number, number>> {
  const floors = new Map<number, number>()
  if (keepMax === undefined) return floors
  const lanes = readers.all<{ id: number; task: string }>('SELECT id, task FROM reprise_lane')
  const tasks = new Map(lanes.map(({ id, task }) => [id, task]))
  const kept = new Map<string, { runs: number; floor: number }>()
  const [newest] = readers.all<{ id: number }>('SELECT id FROM reprise_run ORDER BY id DESC LIMIT 1')
  for (let before = (newest?.id ?? 0) + 1; before > 1; before -= STRETCH) {
    const rows = readers.all<{ id: number; lane: number }>(FLOORS_SQL, before, before - STRETCH)
    for (const { id, lane } of rows) {
      const task = tasks.get(lane) ?? ''
      const ofTask = kept.get(task) ?? { runs: 0, floor: Number.POSITIVE_INFINITY }
      kept.set(task, ofTask)
      ofTask.runs += 1
      if (ofTask.runs <= keepMax) ofTask.floor = id
    }
    await turn()
  }
  for (const [lane, task] of tasks) {
    const { runs, floor } = kept.get(task) ?? { runs: 0, floor: 0 }
    if (runs > keepMax) floors.set(lane, floor)
  }
  return floors
}

/** A stretch of ended runs, newest first. */
export const FLOORS_SQL = `SELECT id, lane FROM reprise_run
  WHERE id < ? AND id >= ? AND state IN (4, 5, 6) ORDER BY id DESC`
