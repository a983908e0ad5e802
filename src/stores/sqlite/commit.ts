/**
 * `commit`: the fenced writes of a run's owner. A refused write changes nothing and is noted; a late answer is kept.
 * It writes what it is told; what the next state should be is decided elsewhere.
 */
import type { AnswerChange, Change, CommitAnswer, EndChange, IntentChange, ProgressChange } from '../../ports/store.ts'
import { checkJoin } from '../../run/check-flow.ts'
import { isTerminal } from '../../run/run.ts'
import { spilled } from './body.ts'
import { reserveAll, settleAll } from './budgets.ts'
import { check, createOne } from './create.ts'
import type { Work, WorkSet } from './group-commit.ts'
import { healthAtEnd, holdAtEnd, holdByAnswer } from './holds.ts'
import { idRangeOf } from './id-range.ts'
import { answer, keepEntry, keepReceipt } from './journal.ts'
import { wakeAfter } from './keys.ts'
import { mayBeNeeded, moveDependents, tie } from './needs.ts'
import { jsonOrNull, numberOf, rareLedgers, readMore, STATE_NUMBER, writeMore } from './row.ts'
import type { Tx } from './session.ts'

/** The `what` of the note about a write that came too late. */
const STALE = 'write.stale'

export function commitWork(change: Change): Work<CommitAnswer> {
  return { rows: rowsOf(change), wakes: change.type === 'end', execute: (tx) => commit(tx, change) }
}

interface EndsWork extends Work<readonly CommitAnswer[]> {
  readonly ends: readonly EndChange[]
}

export function commitAllWork(ends: readonly EndChange[]): Work<readonly CommitAnswer[]> {
  let rows = 0
  for (const end of ends) rows += rowsOf(end)
  const execute = (tx: Tx) => ends.map((end) => commit(tx, end))
  const work: EndsWork = { rows, wakes: true, ends, execute, together: endTogether }
  return work
}

function rowsOf(change: Change): number {
  return change.type === 'end' ? 1 + (change.join?.children ?? change.children ?? []).length : 1
}

function commit(tx: Tx, change: Change): CommitAnswer {
  const written = WRITE[change.type](tx, change as never)
  if (written === false) return refuse(tx, change)
  if (written === true) return { now: tx.now, answer: 'ok' }
  return { now: tx.now, answer: written.over ? 'over' : 'ok', ...written }
}

/** What a change did besides, if anything; or which limit kept it from doing anything. */
type Written = boolean | Omit<CommitAnswer, 'now' | 'answer'>

/** Each answers false when the lease is no longer its owner's. No look at the clock: time alone takes nothing away. */
const WRITE: { readonly [Type in Change['type']]: (tx: Tx, change: Extract<Change, { type: Type }>) => Written } = {
  end,
  intent,
  answer: answerOwned,
  progress,
}

function refuse(tx: Tx, change: Change): CommitAnswer {
  const { statements, now } = tx
  if (change.type === 'answer') keepReceipt(tx, change)
  // A reservation ends with its answer, whoever owns the run by then.
  const settled = change.type === 'answer' ? settleAll(tx, change) : {}
  const by = statements.workerOf.get(change.token)?.worker ?? 'unknown'
  statements.insertNote.run(change.run, now, by, STALE, JSON.stringify({ type: change.type, token: change.token }))
  return { now, answer: 'lost', ...settled }
}

/** A first-try success without output: the end of most runs that are made for their effect. */
function isPlainSuccess(end: EndChange): boolean {
  return isSuccess(end) && end.output === undefined && end.attempt === undefined
}

function isSuccess(change: EndChange): boolean {
  const {
    state,
    lane,
    rung,
    ledgers,
    suspensions,
    why,
    failure,
    unstarted,
    journal,
    children,
    join,
    hold,
    trouble,
    note,
    again,
  } = change
  const more =
    lane ??
    rung ??
    ledgers ??
    suspensions ??
    why ??
    failure ??
    unstarted ??
    journal ??
    children ??
    join ??
    hold ??
    trouble ??
    note ??
    again
  return state === 'succeeded' && more === undefined
}

/** Plain successes in one statement, the others one by one. If one of the plain ones is stale, all are written one by one, to find out which. */
const endTogether: WorkSet = (tx, works) => {
  const groups = (works as readonly EndsWork[]).map(({ ends }) => ends)
  const plain = new Set(groups.flatMap((ends) => ends.filter(isPlainSuccess)))
  if (!succeedMany(tx, [...plain])) return undefined
  const moved = moveAfter(tx, [...plain])
  const ok: CommitAnswer = { now: tx.now, answer: 'ok' }
  const answerOf = (end: EndChange): CommitAnswer => {
    if (!plain.has(end)) return commit(tx, end)
    const others = moved?.get(end)
    return others ? { ...ok, moved: others } : ok
  }
  return groups.map((ends) => ends.map(answerOf))
}

/** All of one claim in one statement. False when one of them is stale. */
function succeedMany(tx: Tx, ends: readonly EndChange[]): boolean {
  const { statements, now } = tx
  for (const [token, ofToken] of Map.groupBy(ends, ({ token }) => token)) {
    const ids = ofToken.map(({ run }) => numberOf(run))
    const range = idRangeOf(ids)
    const { changes } = range
      ? statements.succeedRange.run(now, range.first, range.last, token)
      : statements.succeedMany.run(now, JSON.stringify(ids), token)
    if (changes !== ids.length) return false
  }
  if (isAnswerAwaited(tx)) for (const end of ends) tellResource(tx, end)
  if (tx.lanes.anyKeyed)
    wakeAfter(
      tx,
      ends.map(({ run }) => numberOf(run)),
    )
  return true
}

/** What these ends moved; one look for all of them, because nobody needs most runs. */
function moveAfter(tx: Tx, ends: readonly EndChange[]): Map<EndChange, CommitAnswer['moved']> | undefined {
  if (!mayBeNeeded(tx)) return undefined
  const ids = JSON.stringify(ends.map(({ run }) => numberOf(run)))
  if (tx.statements.neededAmong.get(ids) === undefined) return undefined
  return new Map(ends.map((end) => [end, moveDependents(tx, numberOf(end.run))]))
}

function end(tx: Tx, change: EndChange): Written {
  const ended = isSuccess(change) ? succeed(tx, change) : endOtherwise(tx, change)
  const isTold = change.hold !== undefined || change.trouble !== undefined || isAnswerAwaited(tx)
  if (ended && isTold) tellResource(tx, change)
  if (ended) wakeAfter(tx, [numberOf(change.run)])
  return ended
}

/** Hardly ever does a plain success decide anything about a resource: only while one is tried out, or watched. */
function isAnswerAwaited({ lanes }: Tx): boolean {
  if (lanes.buckets.size > 0) return true
  for (const { probing } of lanes.holds.values()) if (probing) return true
  return false
}

function tellResource(tx: Tx, change: EndChange): void {
  holdAtEnd(tx, change)
  healthAtEnd(tx, change)
}

/** Fenced by the update itself: nothing of the row has to be read. */
function succeed(tx: Tx, { run, token, output, attempt }: EndChange): Written {
  const { statements, now } = tx
  const id = numberOf(run)
  const spill = output !== undefined && spilled(output)
  const { changes } = statements.succeed.run(now, spill ? null : (output ?? null), id, token)
  if (changes === 0) return false
  if (spill) statements.keepOutput.run(id, output)
  if (attempt) recordAttempt(tx, id, attempt)
  const moved = moveDependents(tx, id)
  return moved ? { moved } : true
}

function endOtherwise(tx: Tx, change: EndChange): Written {
  const { statements, now } = tx
  const { state, token, ledgers, rung, unstarted = false } = change
  checkJoin(change)
  const id = numberOf(change.run)
  const row = statements.owned.get(id, token)
  if (!row) return false
  const { lapsed, ...before } = readMore(row.more)
  const more = writeMore({
    ...before,
    ...(ledgers === undefined ? {} : rareLedgers(ledgers)),
    ...(rung === undefined ? {} : { rung }),
    suspensions: (before.suspensions ?? 0) + (change.suspensions ?? 0),
    ...(change.lane && before.home === undefined ? { home: row.lane } : {}),
    // An owner that never began has not told anybody of the lapse either: the next one still has to.
    ...(unstarted && lapsed ? { lapsed } : {}),
    ...(unstarted && (change.journal ?? statements.hasJournal.get(id, row.generation)) ? { journaled: true } : {}),
  })
  const output = state === 'succeeded' ? change.output : undefined
  const spill = output !== undefined && spilled(output)
  statements.end.run(
    STATE_NUMBER[state],
    laneAfter(tx, row.lane, change),
    state === 'waiting' || state === 'review' ? (change.dueAt ?? null) : null,
    // Once the handler ran and its owner lived to tell, whatever was suspected of the run is settled.
    unstarted ? row.suspect : 0,
    unstarted ? row.attempt - 1 : row.attempt,
    ledgers?.errors ?? row.errors,
    ledgers?.lapses ?? row.lapses,
    token,
    isTerminal(state) ? now : null,
    more,
    unstarted ? row.why : jsonOrNull(change.why),
    unstarted ? row.failure : jsonOrNull(change.failure),
    spill ? null : (output ?? null),
    state === 'ready' ? now : null,
    id,
  )
  if (spill) statements.keepOutput.run(id, output)
  if (change.attempt) recordAttempt(tx, id, change.attempt)
  if (change.journal) keepEntry(tx, id, row.generation, change.journal)
  const { note } = change
  if (note) statements.insertNote.run(change.run, now, note.by, note.what, jsonOrNull(note.data))
  const created = createChildren(tx, id, row.generation, change)
  const moved = isTerminal(state) ? moveDependents(tx, id) : undefined
  return { ...(created.length > 0 ? { created } : {}), ...(moved ? { moved } : {}) }
}

function createChildren(tx: Tx, parent: number, generation: number, { children, join }: EndChange) {
  const wanted = join?.children ?? children ?? []
  wanted.forEach(check)
  const created = wanted.map((child) => createOne(tx, child))
  for (const [place, child] of join ? created.entries() : []) {
    if (child !== 'conflict') tie(tx, parent, numberOf(child.id), 'join', place, { name: join?.name ?? '', generation })
  }
  return created
}

/** Where the run waits next: after trouble among the retries of its resource. */
function laneAfter({ lanes }: Tx, lane: number, change: EndChange): number {
  const { lane: next, trouble, unstarted } = change
  const again = unstarted ? lanes.isAgain(lane) : (change.again ?? trouble !== undefined)
  if (next === undefined && again === lanes.isAgain(lane)) return lane
  return lanes.numberOf(next ?? lanes.laneOf(lane), { again, keyed: lanes.isKeyed(lane) })
}

function recordAttempt({ statements }: Tx, id: number, record: NonNullable<EndChange['attempt']>): void {
  const { generation, attempt, token, worker, startedAt, endedAt, outcome, ...rest } = record
  const more = JSON.stringify(rest)
  const values = [id, generation, attempt, token, worker, startedAt, endedAt, outcome] as const
  statements.insertAttempt.run(...values, more === '{}' ? null : more)
}

function intent(tx: Tx, change: IntentChange): Written {
  const { statements, now } = tx
  const { generation, name, inputHash, take, token } = change
  const run = numberOf(change.run)
  // Most calls have no budget, and then the lease is looked at by the one statement that writes.
  if (change.reserve && !statements.owned.get(run, token)) return false
  const taken = change.reserve ? reserveAll(tx, change) : undefined
  if (taken?.over) return taken
  return statements.intent.run(generation, name, inputHash, take, now, run, token).changes > 0 && (taken ?? true)
}

function answerOwned(tx: Tx, change: AnswerChange): Written {
  if (!tx.statements.owned.get(numberOf(change.run), change.token)) return false
  answer(tx, change)
  const settled = settleAll(tx, change)
  const hold = change.quotas && holdByAnswer(tx, change.quotas)
  return hold ? { ...settled, hold } : settled
}

function progress({ statements }: Tx, { run, token, progress }: ProgressChange): boolean {
  const id = numberOf(run)
  const row = statements.owned.get(id, token)
  if (!row) return false
  statements.setMore.run(writeMore({ ...readMore(row.more), progress }), id)
  return true
}
