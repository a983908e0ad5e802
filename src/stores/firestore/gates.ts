/**
 * What a claim of the Firestore driver may give out: holds, limits and retry buckets as gates, all of which a run must pass.
 * Each gate is a small document; what a claim takes from them is counted in one transaction before any run is leased.
 */
import type { DocumentSnapshot, Transaction } from '@google-cloud/firestore'
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
import { afterTries, failingOf, type RetryBucket, retriesLeft, retriesOpenAt } from '../../run/retry-bucket.ts'
import { expiredOf, type Looked, read } from './look.ts'
import { gatesOf, named, type Place, turnsOf } from './place.ts'
import { isOut, type Row } from './row.ts'
import { unavailable } from './trouble.ts'
import { lineOf, turnName } from './turns.ts'
import { docOf, nowOf, readAll, Unit } from './unit.ts'

/** A place that was given out and not yet leased is counted for so long: a lease is written well within. */
const SLOT_MS = 10_000

export interface Granted {
  /** Without gates everything may go. */
  readonly gated: boolean
  readonly chosen: readonly Row[]
  /** All gates let them in, but their concurrency key is full. */
  readonly full: readonly Row[]
  readonly token: number
  readonly probesOf: (row: Row) => readonly HoldTarget[] | undefined
  readonly isWatched: (row: Row) => boolean
  readonly failing: ReturnType<typeof failingOf>
  /** After this claim. */
  readonly isOpen: (row: Row) => boolean
  readonly opensAt: (rows: readonly Row[]) => number | undefined
}

export const NO_GATES: Granted = {
  gated: false,
  chosen: [],
  full: [],
  token: 0,
  probesOf: () => undefined,
  isWatched: () => false,
  failing: {},
  isOpen: () => true,
  opensAt: () => undefined,
}

/** What a gate keeps. */
export type Kept =
  | { readonly kind: 'hold'; readonly hold: Hold }
  | { readonly kind: 'bucket'; readonly bucket: RetryBucket }
  | { readonly kind: 'rate'; readonly name: string; readonly paidAt: number }
  | { readonly kind: 'slots'; readonly name: string; readonly slots: readonly Slot[] }

interface Slot {
  readonly run: string
  readonly token: number
  readonly at: number
}

interface Gate {
  readonly covers: (row: Row) => boolean
  readonly left: (now: number) => number
  readonly opensAt: (now: number) => number | undefined
  /** What is kept after a claim took these; `undefined` for nothing. */
  readonly after: (covered: readonly Row[], chosen: readonly Row[], token: number) => Kept | undefined
  readonly id: string
  readonly kept: Kept | undefined
}

export const holdId = (what: string): string => named('hold', what)
export const bucketId = (resource: string): string => named('bucket', resource)

export const keptOf = (snapshot: DocumentSnapshot): Kept | undefined =>
  snapshot.exists ? (JSON.parse(String(snapshot.get('value'))) as Kept) : undefined

export const gateData = (kept: Kept): Record<string, unknown> => ({ kind: kept.kind, value: JSON.stringify(kept) })

export async function grant(
  place: Place,
  rows: readonly Row[],
  request: ClaimRequest,
  limit: number,
  looked: Looked,
  now: number,
): Promise<Granted> {
  const there = await read(place, gatesOf(place))
  const limits = request.limits ?? []
  if (there.empty && limits.length === 0) return NO_GATES
  const out = await outByKey(place, rows)
  const grantIn = (tx: Transaction) => grantAll(place, tx, rows, out, limits, limit, looked, now)
  try {
    return await place.db.runTransaction(grantIn)
  } catch (error) {
    throw unavailable(error)
  }
}

async function grantAll(
  place: Place,
  tx: Transaction,
  rows: readonly Row[],
  out: ReadonlyMap<string, number>,
  limits: readonly Limit[],
  limit: number,
  looked: Looked,
  now: number,
): Promise<Granted> {
  const page = await tx.get(gatesOf(place))
  const known = new Map(page.docs.map((snapshot) => [snapshot.id, keptOf(snapshot)]))
  const gates = await gatesFrom(place, known, limits, looked, rows, now)
  const { chosen, full } = admitted(rows, gates, out, limit, now)
  const token = place.numbers.token(now, Math.max(0, ...chosen.map((row) => row.token)))
  const after = gates.map((gate) => {
    const covered = chosen.filter(gate.covers)
    const kept = gate.after(covered, chosen, token)
    if (JSON.stringify(kept) !== JSON.stringify(known.get(gate.id))) {
      const ref = gatesOf(place).doc(gate.id)
      if (kept) tx.set(ref, gateData(kept))
      else if (known.has(gate.id)) tx.delete(ref)
    }
    return kept
  })
  for (const [id, kept] of known)
    if (kept?.kind === 'hold' && !gates.some((gate) => gate.id === id)) tx.delete(gatesOf(place).doc(id))
  const later = await gatesFrom(
    place,
    new Map(gates.map(({ id }, index) => [id, after[index]])),
    limits,
    looked,
    rows.filter((row) => !chosen.includes(row)),
    now,
    chosen,
  )
  return {
    gated: true,
    chosen,
    full,
    token,
    probesOf: (row) => {
      const probes = after.flatMap((kept) =>
        kept?.kind === 'hold' && kept.hold.probing?.run === row.id && kept.hold.probing.token === token
          ? kept.hold.what
          : [],
      )
      return probes.length > 0 ? probes : undefined
    },
    isWatched: ({ lane }) => lane.resource !== undefined && known.has(bucketId(lane.resource)),
    failing: failingOf(after.flatMap((kept) => (kept?.kind === 'bucket' ? kept.bucket : []))),
    isOpen: (row) => later.every((gate) => gate.left(now) > 0 || !gate.covers(row)),
    opensAt: (left) => {
      const instants = later.flatMap((gate) => (left.some(gate.covers) ? (gate.opensAt(now) ?? []) : []))
      return instants.length > 0 ? Math.min(...instants) : undefined
    },
  }
}

async function gatesFrom(
  place: Place,
  known: ReadonlyMap<string, Kept | undefined>,
  limits: readonly Limit[],
  looked: Looked,
  rows: readonly Row[],
  now: number,
  justTaken: readonly Row[] = [],
): Promise<Gate[]> {
  const gates: Gate[] = []
  for (const kept of known.values()) {
    if (kept?.kind === 'hold') {
      const hold = await currentHold(place, kept.hold, now, justTaken)
      if (hold) gates.push(holdGate(hold, rows, looked.whole))
    }
    if (kept?.kind === 'bucket') gates.push(bucketGate(kept.bucket, rows, looked.whole, now))
  }
  for (const limit of limits) {
    if (limit.rate) gates.push(rateGate({ ...limit, rate: limit.rate }, known, now))
    if (limit.running !== undefined)
      gates.push(await runningGate(place, { ...limit, running: limit.running }, known, now))
  }
  return gates
}

/** The hold as it stands: over, or its probe gone without a verdict. */
export async function currentHold(
  place: Place,
  hold: Hold,
  now: number,
  justTaken: readonly Row[] = [],
): Promise<Hold | undefined> {
  const { probing } = hold
  if (!probing || justTaken.some(({ id }) => id === probing.run)) return standing(hold, now)
  const row = await new Unit(place, now).row(probing.run)
  const isOut = row?.lease !== undefined && row.token === probing.token
  return standing(isOut ? hold : withoutProbe(hold), now)
}

function holdGate(hold: Hold, rows: readonly Row[], whole: boolean): Gate {
  const isCovered = ({ lane }: Row) => covers(hold.what, lane)
  return {
    id: holdId(hold.what),
    kept: { kind: 'hold', hold },
    covers: isCovered,
    left: (now) => allowance(hold, now),
    opensAt: (now) => allowsMoreAt(hold, now),
    after: (covered, chosen, token) => {
      if (covered.length === 0) return { kind: 'hold', hold }
      const next = afterGiving(
        hold,
        covered.map(({ id }) => id),
        token,
      )
      // The last of those that waited takes the ramp away.
      const isLast = whole && !rows.some((row) => isCovered(row) && !row.suspect && !chosen.includes(row))
      return next.phase === 'admitting' && isLast ? undefined : { kind: 'hold', hold: next }
    },
  }
}

function rateGate(
  { what, rate }: Limit & { readonly rate: NonNullable<Limit['rate']> },
  known: ReadonlyMap<string, Kept | undefined>,
  now: number,
): Gate {
  const name = `${what} ${rate.perMs}`
  const id = named('rate', name)
  const kept = known.get(id)
  const paidAt = kept?.kind === 'rate' ? kept.paidAt : 0
  return {
    id,
    kept,
    covers: ({ lane }) => covers(what, lane),
    left: (at) => rateLeft(rate, paidAt, at),
    opensAt: (at) => rateOpensAt(rate, paidAt, at),
    after: (covered) =>
      covered.length === 0 ? kept : { kind: 'rate', name, paidAt: afterRate(rate, paidAt, covered.length, now) },
  }
}

function bucketGate(bucket: RetryBucket, rows: readonly Row[], whole: boolean, now: number): Gate {
  const { resource } = bucket
  const isRetry = (row: Row) => row.again === true && row.lane.resource === resource
  return {
    id: bucketId(resource),
    kept: { kind: 'bucket', bucket },
    covers: isRetry,
    left: (at) => retriesLeft(bucket, at),
    opensAt: (at) => retriesOpenAt(bucket, at),
    after: (covered, chosen) => {
      const firstTries = chosen.filter((row) => !row.again && row.lane.resource === resource).length
      if (firstTries + covered.length === 0) return { kind: 'bucket', bucket }
      const more = !whole || rows.some((row) => isRetry(row) && !chosen.includes(row))
      return { kind: 'bucket', bucket: afterTries(bucket, { firstTries, retries: covered.length, more }, now) }
    },
  }
}

/**
 * Runs at a time, over all workers: the live leases, and the places that another claim was given a moment ago and has not yet leased.
 */
async function runningGate(
  place: Place,
  { what, running }: Limit & { readonly running: number },
  known: ReadonlyMap<string, Kept | undefined>,
  now: number,
): Promise<Gate> {
  const id = named('slots', what)
  const kept = known.get(id)
  const page = await read(place, place.runs.where('leased', '==', true))
  const docs = page.docs.flatMap((snapshot) => docOf(place, snapshot) ?? [])
  const expired = await expiredOf(place, docs, now)
  const out = new Set(
    docs
      .flatMap(({ rows }) => [...rows.values()])
      .filter((row) => isOut(row) && covers(what, row.lane) && !expired.has(row))
      .map((row) => row.id),
  )
  const unit = new Unit(place, await nowOf(place))
  const slots: Slot[] = []
  for (const slot of kept?.kind === 'slots' ? kept.slots : []) {
    if (out.has(slot.run) || now - slot.at >= SLOT_MS) continue
    const row = await unit.row(slot.run)
    if (row && row.token < slot.token) slots.push(slot)
  }
  const left = running - out.size - slots.length
  return {
    id,
    kept,
    covers: ({ lane }) => covers(what, lane),
    left: () => left,
    opensAt: () => undefined,
    after: (covered, _chosen, token) => {
      const next = [...slots, ...covered.map((row) => ({ run: row.id, token, at: now }))]
      return next.length > 0 ? { kind: 'slots', name: what, slots: next } : undefined
    },
  }
}

/** The first of them that all their gates and their keys let in. */
function admitted(
  rows: readonly Row[],
  gates: readonly Gate[],
  outBefore: ReadonlyMap<string, number>,
  limit: number,
  now: number,
): Pick<Granted, 'chosen' | 'full'> {
  const left = new Map(gates.map((gate) => [gate, gate.left(now)]))
  const out = new Map(outBefore)
  const chosen: Row[] = []
  const full: Row[] = []
  for (const row of rows) {
    if (chosen.length >= limit) break
    const mine = gates.filter((gate) => gate.covers(row))
    if (mine.some((gate) => (left.get(gate) ?? 0) < 1)) continue
    const ofKey = row.concurrency && { name: turnName(row), max: row.concurrency.max }
    if (ofKey && (out.get(ofKey.name) ?? 0) >= ofKey.max) {
      full.push(row)
      continue
    }
    if (ofKey) out.set(ofKey.name, (out.get(ofKey.name) ?? 0) + 1)
    for (const gate of mine) left.set(gate, (left.get(gate) ?? 0) - 1)
    chosen.push(row)
  }
  return { chosen, full }
}

/** How many are out of the key of each of these rows, by the key's name. */
async function outByKey(place: Place, rows: readonly Row[]): Promise<ReadonlyMap<string, number>> {
  const names = new Set(rows.filter(({ concurrency }) => concurrency).map(turnName))
  const snapshots = await readAll(
    place,
    [...names].map((name) => turnsOf(place).doc(name)),
  )
  return new Map(snapshots.map((snapshot) => [snapshot.id, lineOf(snapshot.get('value')).out.length]))
}
