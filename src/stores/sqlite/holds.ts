/**
 * Holds as a file keeps them: set and released by operators, set by the end of an attempt, moved on by claims and probes.
 * When a hold opens is `run/hold.ts`'s affair.
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
import { afterAnswers, afterTrouble } from '../../run/retry-bucket.ts'
import { bringForwardOf } from './bring-forward.ts'
import { AGAIN, type Work } from './group-commit.ts'
import type { Readers } from './read.ts'
import { laneOf, numberOf } from './row.ts'
import type { Tx } from './session.ts'

export function holdWork(order: HoldOrder): Work<Committed> {
  const { what, until, why, by } = order
  const data = JSON.stringify({ what, why, ...(until === undefined ? {} : { until }) })
  return {
    rows: 1,
    wakes: true,
    execute: ({ statements, lanes, now }) => {
      lanes.setHold(what, heldBy(order, now))
      statements.insertNote.run(null, now, by, 'hold.set', data)
      return { now, answer: 'ok' }
    },
  }
}

export function releaseWork({ what, by }: { readonly what: HoldTarget; readonly by: string }): Work<Committed> {
  return {
    rows: 1,
    wakes: true,
    execute: (tx) => {
      const { statements, lanes, now } = tx
      const known = lanes.holds.get(what)
      if (!known || !standing(known, now)) return { now, answer: 'lost' }
      if (bringForwardOf(tx, what, Number.MAX_SAFE_INTEGER)) return AGAIN
      lanes.setHold(what, undefined)
      statements.insertNote.run(null, now, by, 'hold.released', JSON.stringify({ what }))
      return { now, answer: 'ok' }
    },
  }
}

/** What the end of an attempt means for holds: its own order, and its verdict if it was a probe. */
export function holdAtEnd(tx: Tx, change: EndChange): void {
  const { lanes, now } = tx
  const { hold: order } = change
  if (change.state === 'succeeded' || change.admits) {
    for (const hold of lanes.holds.values()) {
      if (isProbe(hold, change) && hold.what !== order?.what)
        lanes.setHold(hold.what, afterProbe(hold, now, lastToken(tx)))
    }
  }
  if (!order) return
  const known = lanes.holds.get(order.what)
  const next = extended(known, order, now)
  if (next !== known) lanes.setHold(order.what, next)
}

/** Too little is left for those that are out: the hold that was put on the resource, if it is not held longer already. */
export function holdByAnswer({ lanes, statements, now }: Tx, quotas: readonly Quota[]): HoldOrder | undefined {
  const [first] = quotas
  if (!first) return undefined
  const leased = statements.leasedLanes.all()
  const out = leased.filter(({ lane }) => lanes.laneOf(lane).resource === first.resource).length
  const order = holdByQuotas(quotas, out, now)
  const known = order && lanes.holds.get(order.what)
  const next = order && extended(known, order, now)
  if (!order || !next || next === known) return undefined
  lanes.setHold(order.what, next)
  return order
}

const isProbe = ({ probing }: Hold, { run, token }: EndChange): boolean =>
  probing?.run === run && probing.token === token

/** What the attempt says about the health of the resource that it needed. Called before the run leaves its lane. */
export function healthAtEnd(tx: Tx, { run, state, trouble }: EndChange): void {
  const { lanes, statements, now } = tx
  if (trouble !== undefined) lanes.setBucket(trouble, afterTrouble(lanes.buckets.get(trouble), trouble, now))
  if (trouble !== undefined || state !== 'succeeded' || lanes.buckets.size === 0) return
  const row = statements.laneOfRun.get(numberOf(run))
  const { resource } = row === undefined ? {} : lanes.laneOf(row.lane)
  const bucket = resource === undefined ? undefined : lanes.buckets.get(resource)
  if (bucket)
    lanes.setBucket(
      bucket.resource,
      afterAnswers(bucket, now, () => lastToken(tx)),
    )
}

const lastToken = ({ statements }: Tx): number => statements.lastToken.get()?.token ?? 0

export const HOLDS_SQL = {
  holds: 'SELECT hold FROM reprise_hold ORDER BY what',
  lanes: 'SELECT id, task, category, resource FROM reprise_lane',
  waiting: `SELECT count(*) AS runs FROM (SELECT 1 FROM reprise_run INDEXED BY reprise_ready
    WHERE state = 1 AND lease IS NULL AND suspect = 0 AND lane = ? LIMIT 0 + ?)`,
  isOut: 'SELECT 1 AS found FROM reprise_run WHERE id = ? AND lease = ?',
} as const

export interface LaneRow {
  readonly id: number
  readonly task: string
  readonly category: string | null
  readonly resource: string | null
}

export function readHolds(readers: Readers, now: number): { now: number; holds: HoldView[] } {
  const current = holdsAsTheyStand(readers, now)
  if (current.length === 0) return { now, holds: [] }
  const lanes = readers.all<LaneRow>(HOLDS_SQL.lanes)
  return { now, holds: current.map((hold) => ({ ...hold, waiting: waitingFor(readers, hold.what, lanes) })) }
}

/** Those that are not over, by name: as a claim would find them. */
export function holdsAsTheyStand(readers: Readers, now: number): Hold[] {
  const stored = readers.all<{ hold: string }>(HOLDS_SQL.holds).map(({ hold }) => JSON.parse(hold) as Hold)
  return stored.flatMap((hold) => {
    const { probing } = hold
    const isGone =
      probing !== undefined && readers.all(HOLDS_SQL.isOut, numberOf(probing.run), probing.token).length === 0
    return standing(isGone ? withoutProbe(hold) : hold, now) ?? []
  })
}

function waitingFor(readers: Readers, what: HoldTarget, lanes: readonly LaneRow[]): number {
  let runs = 0
  for (const row of lanes) {
    if (!covers(what, laneOf(row))) continue
    runs += readers.all<{ runs: number }>(HOLDS_SQL.waiting, row.id, WAITING_MAX - runs)[0]?.runs ?? 0
    if (runs >= WAITING_MAX) break
  }
  return runs
}
