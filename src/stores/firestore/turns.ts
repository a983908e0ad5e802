/**
 * Concurrency keys of the Firestore driver: one document for each task and key has its line, and is written with every run that joins
 * or leaves it, on the condition that nobody wrote it since. So no two claims see the same room, and no wake is missed.
 */
import type { DocumentReference, Timestamp } from '@google-cloud/firestore'
import { placeOf } from '../../run/place.ts'
import { named, turnsOf } from './place.ts'
import { isOut, isParked, type Row, standingOf, turnMark } from './row.ts'
import { isEmptyLine, isIn, type Line, NO_LINE, nextToWake, type Waiter, withOut, without, withWaiter } from './turn.ts'
import type { Unit } from './unit.ts'

export interface Turn {
  readonly ref: DocumentReference
  readonly task: string
  readonly key: string
  readonly since: Timestamp | undefined
  readonly asRead: Line
  line: Line
}

export const turnName = ({ lane, concurrency }: Row): string => named('turn', lane.task, concurrency?.key ?? '')

export const lineOf = (value: unknown): Line => (typeof value === 'string' ? (JSON.parse(value) as Line) : NO_LINE)

/** The line of a run's key as this unit sees and changes it. */
export async function turnOf(unit: Unit, row: Row): Promise<Turn> {
  const name = turnName(row)
  const known = unit.turns.get(name)
  if (known) return known
  const snapshot = await unit.read(turnsOf(unit.place).doc(name))
  const line = lineOf(snapshot.get('value'))
  const turn: Turn = {
    ref: snapshot.ref,
    task: row.lane.task,
    key: row.concurrency?.key ?? '',
    since: snapshot.exists ? snapshot.updateTime : undefined,
    asRead: line,
    line,
  }
  unit.turns.set(name, turn)
  return turn
}

/** Before a unit is written: the lines of all runs that it moves are brought up to date, and those that fit now are woken. */
export async function settleTurns(unit: Unit): Promise<void> {
  for (const row of unit.rows()) {
    // A new run joins no line: the first claim that meets it lets it out or parks it.
    if (!row.concurrency || !row.doc.updateTime || turnMark(row) === row.turnAsRead) continue
    row.turnAsRead = turnMark(row)
    const turn = await turnOf(unit, row)
    turn.line = afterMove(turn.line, row, unit.place.ageingMs)
  }
  for (const turn of unit.turns.values()) {
    if (turn.line === turn.asRead) continue
    await wake(unit, turn)
    const { ref, task, key, since, line } = turn
    const idleSince = isEmptyLine(line) ? unit.now : null
    // The mark makes every write a change: one that changes nothing would leave the document's time as it was.
    unit.replace(ref, { task, key, value: JSON.stringify(line), idleSince, op: unit.op }, since)
  }
}

function afterMove(line: Line, row: Row, ageingMs: number): Line {
  switch (standingOf(row)) {
    case 'out':
      return withOut(line, row.id)
    case 'parked':
      return withWaiter(line, waiterOf(row, ageingMs))
    case 'ready':
      return isIn(line, row.id) ? withWaiter(line, { ...waiterOf(row, ageingMs), ready: true }) : line
    case 'none':
      return isIn(line, row.id) ? without(line, row.id) : line
  }
}

function waiterOf(row: Row, ageingMs: number): Waiter {
  const { id: run, lane, again, priority, submittedAt, setFor, doc, n, concurrency } = row
  return {
    run,
    lane: named(JSON.stringify([lane.category, lane.resource, again])).slice(0, 12),
    place: placeOf({ priority, submittedAt, dueAt: setFor }, ageingMs),
    order: doc.order,
    n,
    max: concurrency?.max ?? 1,
  }
}

async function wake(unit: Unit, turn: Turn): Promise<void> {
  for (let next = nextToWake(turn.line); next; next = nextToWake(turn.line)) {
    const row = await unit.row(next.run)
    if (row && isParked(row)) {
      row.state = 'ready'
      row.readyAt = unit.now
      row.turnAsRead = turnMark(row)
      turn.line = withWaiter(turn.line, { ...next, ready: true })
    } else turn.line = without(turn.line, next.run)
  }
}

/** A run that left its place without a word, as one that another worker ended: what is stored of it counts. */
export async function leaveTurn(unit: Unit, row: Row): Promise<void> {
  if (!row.concurrency || isOut(row)) return
  const turn = await turnOf(unit, row)
  turn.line = afterMove(turn.line, row, unit.place.ageingMs)
}

/** A step that somebody else ended is out no more, though nobody said so to its key: asked only where the key looks full. */
export async function dropGone(unit: Unit, turn: Turn): Promise<void> {
  for (const run of turn.line.out) {
    const row = await unit.row(run)
    if (!row || !isOut(row)) turn.line = without(turn.line, run)
  }
}
