/**
 * `commit` and `steer` of the memory driver: the fenced writes of an owner, and an operator's acts.
 * It writes what it is told; what the next state should be is decided elsewhere.
 */
import type {
  Act,
  AnswerChange,
  Change,
  CommitAnswer,
  Committed,
  CreatedRun,
  EndChange,
  IntentChange,
  Move,
  MovedRun,
} from '../../ports/store.ts'
import { checkJoin } from '../../run/check-flow.ts'
import type { JournalEntry } from '../../run/journal.ts'
import { placeOf, placeWith } from '../../run/place.ts'
import { afterAnswers, afterTrouble } from '../../run/retry-bucket.ts'
import { isTerminal } from '../../run/run.ts'
import { recordAct } from './begin.ts'
import { reserveAll, settleAll } from './budgets.ts'
import { check, createOne } from './create.ts'
import { holdAtEnd, holdByAnswer } from './holds.ts'
import { wakeAfter } from './keys.ts'
import { beginFlowAgain, canBegin, moveDependents, tie } from './needs.ts'
import { copy, joined, journalOf, type Row, type Tables } from './rows.ts'

/** The `what` of the note about a write that came too late. */
const STALE = 'write.stale'

export function commit(tables: Tables, change: Change, now: number): CommitAnswer {
  const row = tables.runs.get(change.run)
  // No look at the clock: an expired lease that nobody ended is still its owner's.
  if (row?.lease?.token !== change.token) return refuse(tables, row, change, now)
  switch (change.type) {
    case 'end':
      return { now, answer: 'ok', ...end(tables, row, change, now) }
    case 'intent': {
      const taken = reserveAll(tables, change, now)
      if (taken.over) return { now, answer: 'over', over: taken.over }
      intent(row, change, now)
      return { now, answer: 'ok', ...taken }
    }
    case 'answer': {
      answer(row, change, now)
      const hold = change.quotas && holdByAnswer(tables, change.quotas, now)
      return { now, answer: 'ok', ...settleAll(tables, change, now), ...(hold ? { hold } : {}) }
    }
    case 'progress':
      row.progress = copy(change.progress)
  }
  return { now, answer: 'ok' }
}

function refuse(tables: Tables, row: Row | undefined, change: Change, now: number): CommitAnswer {
  if (row && change.type === 'answer') keepReceipt(row, change, now)
  // A reservation ends with its answer, whoever owns the run by then.
  const settled = change.type === 'answer' ? settleAll(tables, change, now) : {}
  const by = tables.claims.get(change.token)?.worker ?? 'unknown'
  tables.notes.push({ run: change.run, by, what: STALE, data: { type: change.type, token: change.token }, at: now })
  return { now, answer: 'lost', ...settled }
}

function end(tables: Tables, row: Row, change: EndChange, now: number): Omit<Committed, 'now' | 'answer'> {
  const { state } = change
  checkJoin(change)
  const children = change.join?.children ?? change.children ?? []
  children.forEach(check)
  holdAtEnd(tables, row, change, now)
  healthAtEnd(tables, row, change, now)
  row.lease = undefined
  row.endedBy = change.token
  row.state = state
  row.readyAt = now
  row.dueAt = state === 'waiting' || state === 'review' ? change.dueAt : undefined
  row.output = state === 'succeeded' ? change.output : undefined
  row.finishedAt = isTerminal(state) ? now : undefined
  if (isTerminal(state)) tables.open.delete(row)
  if (change.lane) row.lane = copy(change.lane)
  if (change.rung !== undefined) row.rung = change.rung
  if (change.ledgers) row.ledgers = copy(change.ledgers)
  row.suspensions += change.suspensions ?? 0
  if (change.unstarted) row.attempt -= 1
  else {
    // The handler ran and its owner lived to tell: whatever was suspected of the run is settled.
    row.why = change.why && copy(change.why)
    row.failure = change.failure && copy(change.failure)
    row.suspect = false
    row.uncounted = 0
    row.again = change.again ?? change.trouble !== undefined
    // An owner that never began has not told anybody of the lapse either: the next one still has to.
    row.lapsed = undefined
  }
  if (change.attempt) row.history.push(copy(change.attempt))
  if (change.journal) {
    const entry = copy(change.journal)
    journalOf(row, row.generation).set(joined(entry.name, entry.inputHash), entry)
  }
  if (change.note) tables.notes.push(copy({ ...change.note, run: row.id, at: now }))
  wakeAfter(tables, row, now)
  const created = children.map((child) => createOne(tables, child, now))
  if (change.join) tieChildren(tables, row, change.join.name, created)
  const moved = isTerminal(state) ? moveDependents(tables, row, now) : []
  return { ...(created.length > 0 ? { created } : {}), ...(moved.length > 0 ? { moved } : {}) }
}

function tieChildren(tables: Tables, row: Row, name: string, created: readonly (CreatedRun | 'conflict')[]): void {
  for (const [index, child] of created.entries()) {
    const needed = child === 'conflict' ? undefined : tables.runs.get(child.id)
    if (needed) tie(row, needed, 'join', { name, generation: row.generation, index })
  }
}

/** What the attempt says about the health of the resource that it needed. */
function healthAtEnd(tables: Tables, row: Row, { state, trouble }: EndChange, now: number): void {
  if (trouble !== undefined) tables.buckets.set(trouble, afterTrouble(tables.buckets.get(trouble), trouble, now))
  const { resource } = row.lane
  const bucket =
    state === 'succeeded' && trouble === undefined && resource !== undefined && tables.buckets.get(resource)
  if (!bucket) return
  const next = afterAnswers(bucket, now, () => tables.last.token)
  if (next) tables.buckets.set(bucket.resource, next)
  else tables.buckets.delete(bucket.resource)
}

function intent(row: Row, change: IntentChange, now: number): void {
  const { name, inputHash, token, take } = change
  const journal = journalOf(row, change.generation)
  const known = journal.get(joined(name, inputHash))
  // The latest take is open again, so the answer or failure of the take before is no longer the entry's; a receipt is paid for and stays.
  const { answer, answeredAt } = known ?? {}
  const receipt =
    known?.late && answer !== undefined && answeredAt !== undefined ? { answer, answeredAt, late: true } : {}
  const kept = {
    ...(known?.costUsd === undefined ? {} : { costUsd: known.costUsd }),
    ...(known?.question === undefined ? {} : { question: known.question }),
  }
  journal.set(joined(name, inputHash), { name, inputHash, token, takes: take, intentAt: now, ...receipt, ...kept })
}

function answer(row: Row, change: AnswerChange, now: number): void {
  const { name, inputHash, token } = change
  const known = journalOf(row, change.generation).get(joined(name, inputHash))
  // Asked again after an unknown outcome, the take is settled already and must not be charged twice.
  if (known && (known.failure || (known.answeredAt !== undefined && !known.late))) return
  const entry = known ?? { name, inputHash, token, takes: 1, intentAt: now }
  const { late: _receipt, ...own } = entry
  // The owner's own answer takes the place of a receipt; its failure does not.
  settle(row, change.failure ? entry : own, change, now)
}

/** A paid answer is kept whoever owns the run now; it never takes the place of the owner's own. */
function keepReceipt(row: Row, change: AnswerChange, now: number): void {
  const known = row.journals.get(change.generation)?.get(joined(change.name, change.inputHash))
  if (!known || known.answer !== undefined || change.answer === undefined) return
  settle(row, { ...known, late: true }, change, now)
}

function settle(row: Row, entry: JournalEntry, change: AnswerChange, now: number): void {
  const { answer: text, failure, costUsd } = change
  row.costUsd += costUsd ?? 0
  journalOf(row, change.generation).set(joined(change.name, change.inputHash), {
    ...entry,
    answeredAt: now,
    ...(text === undefined ? {} : { answer: text }),
    ...(failure === undefined ? {} : { failure: copy(failure) }),
    ...(costUsd === undefined ? {} : { costUsd: (entry.costUsd ?? 0) + costUsd }),
  })
}

export function steer(tables: Tables, act: Act, now: number): Committed {
  const row = tables.runs.get(act.run)
  const expected = row && row.generation === act.expect.generation && act.expect.states.includes(row.state)
  // An ended run is never cancelled, whatever the operator expected: terminal states do not change.
  if (!expected || (act.type === 'cancel' && isTerminal(row.state))) return { now, answer: 'lost' }
  if (act.type === 'retry' && !canBegin(row)) return { now, answer: 'lost' }
  const moved = act.type === 'cancel' ? cancel(tables, row, act, now) : beginFlowAgain(tables, row, now, act)
  wakeAfter(tables, row, now)
  tables.notes.push({ run: row.id, by: act.by, what: act.type, at: now })
  return { now, answer: 'ok', ...(moved.length > 0 ? { moved } : {}) }
}

export function reorder(tables: Tables, move: Move, now: number): Committed {
  const { priority, dueAt, expect, by } = move
  const row = tables.runs.get(move.run)
  const expected = row && row.generation === expect.generation && expect.states.includes(row.state)
  const waits = row && (row.state === 'ready' || row.state === 'waiting') && !row.lease
  if (!expected || !waits) return { now, answer: 'lost' }
  const { priority: to = row.priority } = move
  row.place =
    dueAt === undefined
      ? placeWith(to, row, tables.ageingMs)
      : placeOf({ priority: to, submittedAt: row.submittedAt, dueAt }, tables.ageingMs)
  row.priority = to
  if (dueAt !== undefined) {
    row.state = dueAt > now ? 'waiting' : 'ready'
    row.readyAt = now
    row.dueAt = dueAt > now ? dueAt : undefined
    row.why = copy(move.why)
    // Its time is the operator's now, and no longer a wait for its resource.
    row.again = false
  }
  wakeAfter(tables, row, now)
  recordAct(row, now, move)
  const what = dueAt === undefined ? 'reprioritise' : 'reschedule'
  tables.notes.push(copy({ run: row.id, by, what, data: { priority, dueAt }, at: now }) as Tables['notes'][number])
  return { now, answer: 'ok' }
}

function cancel(tables: Tables, row: Row, act: Act, now: number): MovedRun[] {
  row.state = 'cancelled'
  row.lease = undefined
  row.dueAt = undefined
  row.finishedAt = now
  row.why = copy(act.why)
  row.suspect = false
  row.uncounted = 0
  tables.open.delete(row)
  recordAct(row, now, act)
  return moveDependents(tables, row, now)
}
