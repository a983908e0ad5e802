/**
 * Holds of the memory driver: what they allow a claim, and the verbs of operators.
 * When a hold opens is `run/hold.ts`'s affair; here it is kept and counted.
 */
import type { Committed, EndChange, HoldView } from '../../ports/store.ts'
import {
  afterProbe,
  covers,
  extended,
  type Hold,
  type HoldOrder,
  type HoldTarget,
  heldBy,
  standing,
  WAITING_MAX,
  withoutProbe,
} from '../../run/hold.ts'
import { holdByQuotas, type Quota } from '../../run/quota.ts'
import { copy, type Row, type Tables } from './rows.ts'

/** The hold as it stands: over, or its probe gone without a verdict. */
export function current(tables: Tables, hold: Hold, now: number): Hold | undefined {
  const { probing } = hold
  const isOut = probing !== undefined && tables.runs.get(probing.run)?.lease?.token === probing.token
  return standing(probing && !isOut ? withoutProbe(hold) : hold, now)
}

export function keep(tables: Tables, hold: Hold | undefined, what: HoldTarget): void {
  if (hold) tables.holds.set(what, hold)
  else tables.holds.delete(what)
}

export const waitingFor = (tables: Tables, what: HoldTarget): Row[] =>
  [...tables.open].filter((row) => row.state === 'ready' && !row.lease && !row.suspect && covers(what, row.lane))

/** Of all that heals now: runs that wait to try it again, and were claimed before it answered, become ready. */
export function bringForward(tables: Tables, now: number): void {
  for (const { what, phase, healedAfter } of tables.holds.values())
    if (phase === 'admitting' && healedAfter !== undefined) bringForwardOf(tables, what, healedAfter, now)
  for (const { resource, phase, healedAfter } of tables.buckets.values())
    if (phase === 'healing' && healedAfter !== undefined)
      bringForwardOf(tables, `resource:${resource}`, healedAfter, now)
}

function bringForwardOf(tables: Tables, what: HoldTarget, healedAfter: number, now: number): void {
  for (const row of tables.open) {
    const waits = row.state === 'waiting' && row.dueAt !== undefined && row.again
    if (!waits || !covers(what, row.lane) || (row.endedBy ?? 0) > healedAfter) continue
    row.state = 'ready'
    row.readyAt = now
    row.dueAt = undefined
  }
}

/** What the end of an attempt means for holds: its own order, and its verdict if it was a probe. */
export function holdAtEnd(tables: Tables, row: Row, change: EndChange, now: number): void {
  const { hold: order } = change
  if (change.state === 'succeeded' || change.admits) {
    for (const hold of tables.holds.values()) {
      const isProbe = hold.probing?.run === row.id && hold.probing.token === change.token && hold.what !== order?.what
      if (isProbe) tables.holds.set(hold.what, afterProbe(hold, now, tables.last.token))
    }
  }
  if (order) tables.holds.set(order.what, copy(extended(tables.holds.get(order.what), order, now)))
}

/** Too little is left for those that are out: the hold that was put on the resource, if it is not held longer already. */
export function holdByAnswer(tables: Tables, quotas: readonly Quota[], now: number): HoldOrder | undefined {
  const [first] = quotas
  if (!first) return undefined
  const out = [...tables.open].filter(
    ({ state, lane, lease }) => state === 'ready' && lease && lane.resource === first.resource,
  ).length
  const order = holdByQuotas(quotas, out, now)
  const known = order && tables.holds.get(order.what)
  const next = order && extended(known, order, now)
  if (!order || !next || next === known) return undefined
  tables.holds.set(order.what, copy(next))
  return order
}

export function hold(tables: Tables, order: HoldOrder, now: number): Committed {
  tables.holds.set(order.what, copy(heldBy(order, now)))
  const { what, until, why, by } = order
  tables.notes.push(
    copy({ by, what: 'hold.set', data: { what, why, ...(until === undefined ? {} : { until }) }, at: now }),
  )
  return { now, answer: 'ok' }
}

export function release(
  tables: Tables,
  { what, by }: { readonly what: HoldTarget; readonly by: string },
  now: number,
): Committed {
  const known = tables.holds.get(what)
  if (!known || !standing(known, now)) return { now, answer: 'lost' }
  tables.holds.delete(what)
  bringForwardOf(tables, what, Number.MAX_SAFE_INTEGER, now)
  tables.notes.push({ by, what: 'hold.released', data: { what }, at: now })
  return { now, answer: 'ok' }
}

export function holds(tables: Tables, now: number): { now: number; holds: HoldView[] } {
  const all = [...tables.holds.values()].flatMap((hold) => current(tables, hold, now) ?? [])
  const waiting = (what: HoldTarget) => Math.min(WAITING_MAX, waitingFor(tables, what).length)
  const views = all.map((each) => ({ ...copy(each), waiting: waiting(each.what) }))
  return { now, holds: views.sort((a, b) => (a.what < b.what ? -1 : 1)) }
}
