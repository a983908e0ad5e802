/**
 * What a claim may take from where: the lanes that are open, and how many runs each hold, limit and retry bucket lets in.
 * Without any of them it is the list of lanes that was made before, and nothing is computed.
 */
import type { ClaimRequest, Limit } from '../../ports/store.ts'
import {
  afterGiving,
  allowance,
  allowsMoreAt,
  covers,
  type Hold,
  type HoldTarget,
  standing,
  withoutProbe,
} from '../../run/hold.ts'
import { afterRate, rateLeft, rateOpensAt } from '../../run/rate.ts'
import { afterTries, type RetryBucket, retriesLeft, retriesOpenAt } from '../../run/retry-bucket.ts'
import type { ServedLanes } from './lanes.ts'
import { idOf, numberOf } from './row.ts'
import type { Tx } from './session.ts'
import type { Place } from './statements.ts'

/** Lanes that share an allowance. */
export interface Gate {
  readonly lanes: ReadonlySet<number>
  /** Whether it counts what is taken from a lane; those it covers, unless it says otherwise. */
  readonly counts?: (lane: number) => boolean
  readonly left: number
  /** When it lets in more. */
  readonly opensAt: number | undefined
  /** Counts what a claim took: what it covers of it, and all of it. */
  readonly settle: (covered: readonly Place[], chosen: readonly Place[], token: number) => void
}

export interface OpenLanes extends ServedLanes {
  /** Whether a run may pass them or not; most often there is none. */
  readonly gates: readonly Gate[]
  /** Whether runs of the open lanes have to be looked at one by one: a gate counts them, or they have concurrency keys. */
  readonly oneByOne: boolean
}

const NO_GATES: readonly Gate[] = []

export function openLanes(tx: Tx, request: ClaimRequest): OpenLanes {
  const { lanes, served } = tx.lanes.servedBy(request)
  const { limits = [] } = request
  if (tx.lanes.holds.size === 0 && tx.lanes.buckets.size === 0 && limits.length === 0)
    return { lanes, served, gates: NO_GATES, oneByOne: isAnyKeyed(tx, lanes) }
  const leased = limits.some(({ running }) => running !== undefined) ? tx.statements.leasedLanes.all() : []
  const gates = [
    ...currentHolds(tx).map((hold) => holdGate(tx, hold, lanes)),
    ...limits.map((limit) => limitGate(tx, limit, lanes, leased)),
    ...[...tx.lanes.buckets.values()]
      .filter(({ phase }) => phase !== 'watched')
      .map((bucket) => bucketGate(tx, bucket, lanes)),
  ]
  const isShut = (lane: number) => gates.some((gate) => gate.left < 1 && gate.lanes.has(lane))
  const unshut = lanes.filter((lane) => !isShut(lane))
  // What is shut altogether costs the others nothing.
  const isCounted = unshut.some((lane) => gates.some((gate) => gate.counts?.(lane) ?? gate.lanes.has(lane)))
  return { lanes: unshut, served, gates, oneByOne: isCounted || isAnyKeyed(tx, unshut) }
}

const isAnyKeyed = ({ lanes }: Tx, open: readonly number[]): boolean =>
  lanes.anyKeyed && open.some((lane) => lanes.isKeyed(lane))

/** The holds as they stand: their probe may be gone without a verdict; one that is over is taken away. */
function currentHolds({ lanes, statements, now }: Tx): Hold[] {
  return [...lanes.holds.values()].flatMap((hold) => {
    const { probing } = hold
    const isOut = probing !== undefined && statements.owned.get(numberOf(probing.run), probing.token) !== undefined
    const current = standing(probing && !isOut ? withoutProbe(hold) : hold, now)
    if (!current) lanes.setHold(hold.what, undefined)
    return current ?? []
  })
}

const coveredBy = ({ lanes }: Tx, what: HoldTarget, served: readonly number[]): Set<number> =>
  new Set(served.filter((lane) => covers(what, lanes.laneOf(lane))))

function holdGate(tx: Tx, hold: Hold, served: readonly number[]): Gate {
  const { what } = hold
  return {
    lanes: coveredBy(tx, what, served),
    left: allowance(hold, tx.now),
    opensAt: allowsMoreAt(hold, tx.now),
    settle: (covered, _chosen, token) => {
      if (covered.length === 0) return
      const ids = covered.map(({ id }) => idOf(id))
      const next = afterGiving(hold, ids, token)
      // The last of those that waited takes the ramp away.
      const isOver = next.phase === 'admitting' && !anyWaiting(tx, (lane) => covers(what, tx.lanes.laneOf(lane)))
      tx.lanes.setHold(what, isOver ? undefined : next)
    },
  }
}

function limitGate(tx: Tx, limit: Limit, served: readonly number[], leased: readonly { lane: number }[]): Gate {
  const { what, running, rate } = limit
  const { statements, lanes, now } = tx
  const name = `rate ${what} ${rate?.perMs}`
  // Counted anew each time, so that no counter can drift; there are never more leases than workers have slots.
  const free =
    running === undefined
      ? Number.POSITIVE_INFINITY
      : running - leased.filter(({ lane }) => covers(what, lanes.laneOf(lane))).length
  const paidAt = rate === undefined ? 0 : (statements.meter.get(name, 0)?.spent ?? 0)
  const ofRate = rate === undefined ? Number.POSITIVE_INFINITY : rateLeft(rate, paidAt, now)
  return {
    lanes: coveredBy(tx, what, served),
    left: Math.min(free, ofRate),
    opensAt: rate === undefined || free < 1 ? undefined : rateOpensAt(rate, paidAt, now),
    settle: (covered) => {
      if (rate && covered.length > 0) statements.setMeter.run(name, 0, afterRate(rate, paidAt, covered.length, now))
    },
  }
}

function bucketGate(tx: Tx, bucket: RetryBucket, served: readonly number[]): Gate {
  const { lanes, now } = tx
  const { resource } = bucket
  const isOf = (lane: number) => lanes.laneOf(lane).resource === resource
  const isRetry = (lane: number) => isOf(lane) && lanes.isAgain(lane)
  return {
    lanes: new Set(served.filter(isRetry)),
    // First tries fill the bucket.
    counts: isOf,
    left: retriesLeft(bucket, now),
    opensAt: retriesOpenAt(bucket, now),
    settle: (covered, chosen) => {
      const firstTries = chosen.filter(({ lane }) => isOf(lane) && !lanes.isAgain(lane)).length
      if (firstTries + covered.length === 0) return
      const more = anyWaiting(tx, isRetry)
      lanes.setBucket(resource, afterTries(bucket, { firstTries, retries: covered.length, more }, now))
    },
  }
}

/** In any lane of the file, whoever serves that. */
function anyWaiting({ lanes, statements }: Tx, isOf: (lane: number) => boolean): boolean {
  for (const lane of lanes.numbers()) if (isOf(lane) && statements.ready.get(lane, 1) !== undefined) return true
  return false
}
