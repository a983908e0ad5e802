/**
 * What a claim of the memory driver may give out: holds, limits and retry buckets as gates, all of which a run must pass.
 * How much a gate allows is computed in `run/`; here it is asked and counted.
 */
import type { ClaimRequest, Limit } from '../../ports/store.ts'
import { afterGiving, allowance, allowsMoreAt, covers, type Hold } from '../../run/hold.ts'
import { afterRate, rateLeft, rateOpensAt } from '../../run/rate.ts'
import { afterTries, type RetryBucket, retriesLeft, retriesOpenAt } from '../../run/retry-bucket.ts'
import { current, keep, waitingFor } from './holds.ts'
import { outOf } from './keys.ts'
import { joined, type Row, type Tables } from './rows.ts'

export interface Gate {
  readonly covers: (row: Row) => boolean
  readonly left: number
  /** When it lets in more. */
  readonly opensAt: number | undefined
  /** Counts what a claim took: what it covers of it, and all of it. */
  readonly settle: (covered: readonly Row[], chosen: readonly Row[], token: number) => void
}

export function gatesOf(tables: Tables, { limits = [] }: ClaimRequest, now: number): Gate[] {
  for (const hold of [...tables.holds.values()]) keep(tables, current(tables, hold, now), hold.what)
  return [
    ...[...tables.holds.values()].map((hold) => holdGate(tables, hold, now)),
    ...limits.map((limit) => limitGate(tables, limit, now)),
    ...[...tables.buckets.values()].map((bucket) => bucketGate(tables, bucket, now)),
  ]
}

function holdGate(tables: Tables, hold: Hold, now: number): Gate {
  return {
    covers: ({ lane }) => covers(hold.what, lane),
    left: allowance(hold, now),
    opensAt: allowsMoreAt(hold, now),
    settle: (covered, _chosen, token) => {
      if (covered.length === 0) return
      const ids = covered.map(({ id }) => id)
      const next = afterGiving(hold, ids, token)
      // The last of those that waited takes the ramp away.
      const isOver = next.phase === 'admitting' && waitingFor(tables, hold.what).length === 0
      keep(tables, isOver ? undefined : next, hold.what)
    },
  }
}

function limitGate(tables: Tables, { what, running, rate }: Limit, now: number): Gate {
  const out =
    running === undefined
      ? 0
      : [...tables.open].filter(({ state, lane, lease }) => state === 'ready' && lease && covers(what, lane)).length
  const free = running === undefined ? Number.POSITIVE_INFINITY : running - out
  const name = `${what} ${rate?.perMs}`
  const paidAt = tables.rates.get(name) ?? 0
  const ofRate = rate === undefined ? Number.POSITIVE_INFINITY : rateLeft(rate, paidAt, now)
  return {
    covers: ({ lane }) => covers(what, lane),
    left: Math.min(free, ofRate),
    opensAt: rate === undefined || free < 1 ? undefined : rateOpensAt(rate, paidAt, now),
    settle: (covered) => {
      if (rate && covered.length > 0) tables.rates.set(name, afterRate(rate, paidAt, covered.length, now))
    },
  }
}

function bucketGate(tables: Tables, bucket: RetryBucket, now: number): Gate {
  const { resource } = bucket
  const isRetry = (row: Row) => row.again && row.lane.resource === resource
  return {
    covers: isRetry,
    left: retriesLeft(bucket, now),
    opensAt: retriesOpenAt(bucket, now),
    settle: (covered, chosen) => {
      const firstTries = chosen.filter((row) => !row.again && row.lane.resource === resource).length
      if (firstTries + covered.length === 0) return
      const more = waitingFor(tables, `resource:${resource}`).some(isRetry)
      tables.buckets.set(resource, afterTries(bucket, { firstTries, retries: covered.length, more }, now))
    },
  }
}

/** The first of them that all their gates let in. One whose key is full is parked, so that no later claim meets it. */
export function admitted(tables: Tables, rows: readonly Row[], gates: readonly Gate[], limit: number): Row[] {
  const left = new Map(gates.map((gate) => [gate, gate.left]))
  const out = new Map<string, number>()
  const chosen: Row[] = []
  for (const row of rows) {
    if (chosen.length >= limit) break
    const mine = gates.filter((gate) => gate.covers(row))
    if (mine.some((gate) => (left.get(gate) ?? 0) < 1)) continue
    if (row.concurrency) {
      const name = joined(row.lane.task, row.concurrency.key)
      const known = out.get(name) ?? outOf(tables, row)
      if (known >= row.concurrency.max) {
        row.state = 'waiting'
        continue
      }
      out.set(name, known + 1)
    }
    for (const gate of mine) left.set(gate, (left.get(gate) ?? 0) - 1)
    chosen.push(row)
  }
  return chosen
}
