/**
 * `steer` and `reorder` of the Firestore driver: an operator's acts, by comparison with what they expect.
 * It does not know who may act.
 */
import type { Act, Committed, Move } from '../../ports/store.ts'
import { isTerminal } from '../../run/run.ts'
import { beginFlowAgain, canBegin, moveDependents, recordAct } from './needs.ts'
import type { Place } from './place.ts'
import type { Row } from './row.ts'
import { atomically } from './unit.ts'

/** A waiting run that is due is ready, whether or not a claim has come by to say so. */
function isExpected(row: Row, { generation, states }: Act['expect'], now: number): boolean {
  const isDue = row.state === 'waiting' && row.dueAt !== undefined && row.dueAt <= now
  return row.generation === generation && (states.includes(row.state) || (isDue && states.includes('ready')))
}

export function steer(place: Place, act: Act): Promise<Committed> {
  return atomically(place, async (unit): Promise<Committed> => {
    const { now } = unit
    const row = await unit.row(act.run)
    // An ended run is never cancelled, whatever the operator expected: terminal states do not change.
    if (!row || !isExpected(row, act.expect, now) || (act.type === 'cancel' && isTerminal(row.state)))
      return { now, answer: 'lost' }
    if (act.type === 'retry' && !(await canBegin(unit, row))) return { now, answer: 'lost' }
    await unit.revoke(row)
    if (row.lease) row.lastWorker = row.lease.worker
    if (act.type === 'cancel') {
      Object.assign(row, { state: 'cancelled', lease: undefined, dueAt: undefined, finishedAt: now, why: act.why })
      Object.assign(row, { suspect: undefined, uncounted: 0 })
      recordAct(unit, row, act)
    }
    const moved = act.type === 'cancel' ? await moveDependents(unit, row) : await beginFlowAgain(unit, row, act)
    unit.note({ run: row.id, by: act.by, what: act.type })
    return { now, answer: 'ok', ...(moved.length > 0 ? { moved } : {}) }
  })
}

export function reorder(place: Place, move: Move): Promise<Committed> {
  const { priority, dueAt, expect, by } = move
  return atomically(place, async (unit): Promise<Committed> => {
    const { now } = unit
    const row = await unit.row(move.run)
    const waits = row && (row.state === 'ready' || row.state === 'waiting') && !row.lease
    if (!row || !waits || !isExpected(row, expect, now)) return { now, answer: 'lost' }
    if (priority !== undefined) row.priority = priority
    if (dueAt !== undefined) {
      row.setFor = dueAt
      row.state = dueAt > now ? 'waiting' : 'ready'
      row.readyAt = dueAt > now ? undefined : now
      row.dueAt = dueAt > now ? dueAt : undefined
      row.why = move.why
      // Its time is the operator's now, and no longer a wait for its resource.
      row.again = undefined
    }
    recordAct(unit, row, move)
    const what = dueAt === undefined ? 'reprioritise' : 'reschedule'
    const data = { ...(priority === undefined ? {} : { priority }), ...(dueAt === undefined ? {} : { dueAt }) }
    unit.note({ run: row.id, by, what, data })
    return { now, answer: 'ok' }
  })
}
