/**
 * `commit` of the Firestore driver: the fenced writes of an owner, each one write of all the documents that it concerns.
 * It writes what it is told; what the next state should be is decided elsewhere.
 */
import type { Transaction } from '@google-cloud/firestore'
import type {
  AnswerChange,
  Change,
  CommitAnswer,
  Committed,
  CreatedRun,
  EndChange,
  IntentChange,
} from '../../ports/store.ts'
import { checkJoin } from '../../run/check-flow.ts'
import { afterProbe, extended, type HoldOrder, type HoldTarget } from '../../run/hold.ts'
import { holdByQuotas, type Quota } from '../../run/quota.ts'
import { afterAnswers, afterTrouble } from '../../run/retry-bucket.ts'
import { isTerminal } from '../../run/run.ts'
import { bringForward, type Healed } from './bring-forward.ts'
import { reserveAll, settleAll } from './budgets.ts'
import { createAll, laneOf } from './create.ts'
import { bucketId, gateData, holdId, keptOf } from './gates.ts'
import { answer, intent, keepEntry, keepReceipt } from './journal.ts'
import { read } from './look.ts'
import { moveDependents } from './needs.ts'
import { gatesOf, type Place } from './place.ts'
import { isOut, type Row } from './row.ts'
import { leaveTurn } from './turns.ts'
import { atomically, docOf, readRef, type Unit } from './unit.ts'

/** The `what` of the note about a write that came too late. */
const STALE = 'write.stale'

export function commit(place: Place, change: Change): Promise<CommitAnswer> {
  const isMoney =
    (change.type === 'intent' && (change.reserve?.length ?? 0) > 0) ||
    (change.type === 'answer' && change.settle !== undefined && change.take !== undefined)
  if (isMoney) return commitMoney(place, change)
  return commitPlain(place, change)
}

async function commitPlain(place: Place, change: Change): Promise<CommitAnswer> {
  let healed: readonly Healed[] = []
  const answered = await atomically(place, async (unit) => {
    const answer = await apply(unit, change)
    healed = unit.healed
    return answer
  })
  for (const each of healed) await bringForward(place, each, answered.now)
  return answered
}

async function apply(unit: Unit, change: Change): Promise<CommitAnswer> {
  const { now } = unit
  const row = await unit.row(change.run)
  // No look at the clock: an expired lease that nobody ended is still its owner's.
  if (!row?.lease || row.token !== change.token) return refuse(unit, row, change)
  unit.touch(row)
  switch (change.type) {
    case 'end':
      return { now, answer: 'ok', ...(await end(unit, row, change)) }
    case 'intent':
      await intent(unit, row, change)
      break
    case 'answer': {
      await answer(unit, row, change)
      const hold = change.quotas && (await holdByAnswer(unit, change.quotas))
      return { now, answer: 'ok', ...(hold ? { hold } : {}) }
    }
    case 'progress':
      row.progress = change.progress
  }
  return { now, answer: 'ok' }
}

async function refuse(unit: Unit, row: Row | undefined, change: Change): Promise<CommitAnswer> {
  if (row && change.type === 'answer') await keepReceipt(unit, row, change)
  if (row && change.type === 'end') await leaveTurn(unit, row)
  const by = row && row.token === change.token ? (row.lease?.worker ?? row.lastWorker) : undefined
  const data = { type: change.type, token: change.token }
  unit.note({ run: change.run, by: by ?? 'unknown', what: STALE, data })
  return { now: unit.now, answer: 'lost' }
}

/**
 * Reservations are taken and settled by a transaction that reads the documents of the budgets alone; the run's document is read
 * before it and written in it, with a precondition, so that nobody waits for a lock on a flow.
 */
function commitMoney(place: Place, change: IntentChange | AnswerChange): Promise<CommitAnswer> {
  let told: Partial<CommitAnswer> = {}
  const inTransaction = (unit: Unit) =>
    place.db.runTransaction(async (tx: Transaction) => {
      if (change.type === 'answer') {
        const { write, ...settled } = await settleAll(place, tx, change, unit.now)
        told = settled
        write()
      } else if (!unit.isRefused) {
        const { write, ...reserved } = await reserveAll(place, tx, change, unit.now)
        told = reserved
        if (reserved.over) return
        write()
      }
      unit.write(tx)
    })
  const applied = async (unit: Unit): Promise<CommitAnswer> => {
    const answered = await apply(unit, change)
    unit.isRefused = answered.answer === 'lost'
    return answered
  }
  return atomically(place, applied, inTransaction).then((answered) => ({
    ...answered,
    ...told,
    ...(told.over ? { answer: 'over' as const } : {}),
  }))
}

async function end(unit: Unit, row: Row, change: EndChange): Promise<Omit<Committed, 'now' | 'answer'>> {
  const { state } = change
  checkJoin(change)
  const created = await createAll(unit, change.join?.children ?? change.children ?? [])
  await gatesAtEnd(unit, row, change)
  row.lastWorker = row.lease?.worker
  row.lease = undefined
  row.endedBy = change.token
  row.state = state
  row.readyAt = state === 'ready' ? unit.now : undefined
  row.dueAt = state === 'waiting' || state === 'review' ? change.dueAt : undefined
  row.output =
    state === 'succeeded' && change.output !== undefined ? unit.text(row.doc.id, 'output', change.output) : undefined
  row.finishedAt = isTerminal(state) ? unit.now : undefined
  if (change.lane) {
    row.home ??= row.lane
    row.lane = laneOf(change.lane)
  }
  if (change.rung !== undefined) row.rung = change.rung
  if (change.ledgers) row.ledgers = change.ledgers
  row.suspensions = (row.suspensions ?? 0) + (change.suspensions ?? 0)
  if (change.unstarted) row.attempt -= 1
  else {
    // The handler ran and its owner lived to tell: whatever was suspected of the run is settled.
    row.why = change.why
    row.failure = change.failure
    row.suspect = undefined
    row.uncounted = 0
    row.again = (change.again ?? change.trouble !== undefined) ? true : undefined
    // An owner that never began has not told anybody of the lapse either: the next one still has to.
    row.lapsed = undefined
  }
  if (change.attempt) unit.record(row, change.attempt)
  if (change.journal) await keepEntry(unit, row, change.journal)
  if (change.note) unit.note({ ...change.note, run: row.id })
  if (change.join) await tieChildren(unit, row, change.join.name, created)
  const moved = isTerminal(state) ? await moveDependents(unit, row) : []
  return { ...(created.length > 0 ? { created } : {}), ...(moved.length > 0 ? { moved } : {}) }
}

async function tieChildren(
  unit: Unit,
  row: Row,
  name: string,
  created: readonly (CreatedRun | 'conflict')[],
): Promise<void> {
  const needs = [...(row.needs ?? [])]
  for (const [index, child] of created.entries()) {
    const needed = child === 'conflict' ? undefined : await unit.row(child.id)
    if (!needed) continue
    needed.parent = { run: row.id }
    needs.push({ run: needed.id, kind: 'join', open: true, join: { name, generation: row.generation, index } })
  }
  row.needs = needs
}

/** What the end means for holds and for the health of the resource: its own order, and its verdict if it was a probe. */
async function gatesAtEnd(unit: Unit, row: Row, change: EndChange): Promise<void> {
  const { hold: order, state, trouble, admits } = change
  const { resource } = row.lane
  if (state === 'succeeded' || admits) {
    for (const what of row.probes ?? []) if (what !== order?.what) await openAfterProbe(unit, row, what)
  }
  if (order) {
    await changeGate(unit, holdId(order.what), (kept) => ({
      kind: 'hold',
      hold: extended(kept?.kind === 'hold' ? kept.hold : undefined, order, unit.now),
    }))
  }
  if (trouble !== undefined) {
    await changeGate(unit, bucketId(trouble), (kept) => ({
      kind: 'bucket',
      bucket: afterTrouble(kept?.kind === 'bucket' ? kept.bucket : undefined, trouble, unit.now),
    }))
  } else if (state === 'succeeded' && resource !== undefined && row.watched) {
    await changeGate(unit, bucketId(resource), (kept) => {
      const bucket =
        kept?.kind === 'bucket' ? afterAnswers(kept.bucket, unit.now, () => lastToken(unit, row)) : undefined
      const isHealing = bucket?.phase === 'healing' && kept?.kind === 'bucket' && kept.bucket.phase !== 'healing'
      if (isHealing && bucket.healedAfter !== undefined)
        unit.healed.push({ what: `resource:${resource}`, after: bucket.healedAfter })
      return bucket && { kind: 'bucket', bucket }
    })
  }
}

/** Too little is left for those that are out: the hold that was put on the resource, if it is not held longer already. */
async function holdByAnswer(unit: Unit, quotas: readonly Quota[]): Promise<HoldOrder | undefined> {
  const [first] = quotas
  if (!first) return undefined
  const { place, now } = unit
  const page = await read(place, place.runs.where('leased', '==', true))
  const rows = page.docs.flatMap((snapshot) => [...(docOf(place, snapshot)?.rows.values() ?? [])])
  const out = rows.filter((row) => isOut(row) && row.lane.resource === first.resource).length
  const order = holdByQuotas(quotas, out, now)
  if (!order) return undefined
  let isHeld = false
  await changeGate(unit, holdId(order.what), (kept) => {
    const known = kept?.kind === 'hold' ? kept.hold : undefined
    const next = extended(known, order, now)
    isHeld = next !== known
    return { kind: 'hold', hold: next }
  })
  return isHeld ? order : undefined
}

const openAfterProbe = (unit: Unit, row: Row, what: HoldTarget): Promise<void> =>
  changeGate(unit, holdId(what), (kept) => {
    if (kept?.kind !== 'hold') return kept
    const isProbe = kept.hold.probing?.run === row.id && kept.hold.probing.token === row.token
    if (!isProbe) return kept
    const after = lastToken(unit, row)
    unit.healed.push({ what, after })
    return { kind: 'hold', hold: afterProbe(kept.hold, unit.now, after) }
  })

/** None that was given out so far is higher. */
const lastToken = (unit: Unit, row: Row): number => unit.place.numbers.token(unit.now, row.token)

async function changeGate(
  unit: Unit,
  id: string,
  change: (kept: ReturnType<typeof keptOf>) => ReturnType<typeof keptOf>,
): Promise<void> {
  const known = await readRef(unit.place, gatesOf(unit.place).doc(id))
  const before = keptOf(known)
  const after = change(before)
  if (after) unit.replace(known.ref, gateData(after), known.exists ? known.updateTime : undefined)
  else if (known.exists) unit.delete(known.ref)
}
