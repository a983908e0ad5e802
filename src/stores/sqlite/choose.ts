/**
 * Which runs come next: the heads of the open lanes, merged by their places. The order is exact.
 * It reads one index and leases nothing.
 */
import type { Gate, OpenLanes } from './gates.ts'
import { AGAIN } from './group-commit.ts'
import type { ServedLanes } from './lanes.ts'
import type { Tx } from './session.ts'
import type { Place } from './statements.ts'

/** Up to this many lanes are asked one by one; beyond, first those are found that have anything at all. */
const LANES_FEW = 16

/** Rows read of a lane at first, and how many times more when all of them were chosen. */
const READ_MIN = 8
const READ_MORE = 4

/** How many runs one transaction parks; more are parked in the next one. */
const PARK_MAX = 1_000

/** More runs of one key are never out: the largest limit that a submit may ask for. */
const OUT_MAX = 10_000

type Kind = 'ready' | 'suspects'

/** Ids in order. Suspects are among them only when asked for: `alone` for both kinds, or they by themselves. */
export function choose(tx: Tx, open: ServedLanes, limit: number, alone: boolean, only?: Kind): number[] {
  if (limit < 1 || open.lanes.length === 0) return []
  const kinds: Kind[] = only ? [only] : alone ? ['ready', 'suspects'] : ['ready']
  const [first, second] = kinds.map((kind) => merge(tx, kind, open, limit))
  const merged = second?.length ? [...(first ?? []), ...second].sort(inOrder).slice(0, limit) : (first ?? [])
  return merged.map(({ id }) => id)
}

/** Whether a claim right after this one would find something. */
export function hasMore(tx: Tx, open: ServedLanes, alone: boolean): boolean {
  return choose(tx, open, 1, alone).length > 0
}

/**
 * The same order, but a run is passed over when one of its gates lets in no more, and parked when its key is full. Those that are
 * parked are out of the way of every later claim, so the choice is made again without them.
 */
export function chooseWithin(tx: Tx, open: OpenLanes, limit: number, alone: boolean): Place[] | typeof AGAIN {
  if (limit < 1) return []
  for (let parked = 0; parked < PARK_MAX; ) {
    const { chosen, full } = admit(tx, open, headsOf(tx, open, limit, alone), limit)
    if (full.length === 0) return chosen
    tx.statements.park.run(JSON.stringify(full))
    parked += full.length
  }
  return AGAIN
}

function headsOf(tx: Tx, open: OpenLanes, limit: number, alone: boolean): Place[] {
  const { ready, readyKeyed, suspects } = tx.statements
  const readyOf = (lane: number) => (tx.lanes.isKeyed(lane) ? readyKeyed : ready).all(lane, limit)
  const places = lanesWithWork(tx, 'ready', open, Number.POSITIVE_INFINITY).flatMap(readyOf)
  if (!alone) return places.sort(inOrder)
  const others = lanesWithWork(tx, 'suspects', open, Number.POSITIVE_INFINITY)
  return [...places, ...others.flatMap((lane) => suspects.all(lane, limit))].sort(inOrder)
}

/** What is let in of these, and the ids of those whose key is full. */
function admit(tx: Tx, { gates }: OpenLanes, places: readonly Place[], limit: number) {
  const left = new Map<Gate, number>(gates.map((gate) => [gate, gate.left]))
  const out = new Map<string, number>()
  const chosen: Place[] = []
  const full: number[] = []
  for (const place of places) {
    if (chosen.length >= limit) break
    const mine = gates.filter(({ lanes }) => lanes.has(place.lane))
    if (mine.some((gate) => (left.get(gate) ?? 0) < 1)) continue
    const { concurrency_key: key, concurrency_max: max } = place
    if (key != null && max != null) {
      const known = out.get(key) ?? tx.statements.outOfKey.get(key, OUT_MAX)?.runs ?? 0
      if (known >= max) {
        full.push(place.id)
        continue
      }
      out.set(key, known + 1)
    }
    for (const gate of mine) left.set(gate, (left.get(gate) ?? 0) - 1)
    chosen.push(place)
  }
  return { chosen, full }
}

function merge(tx: Tx, kind: Kind, open: ServedLanes, limit: number): Place[] {
  const lanes = lanesWithWork(tx, kind, open, limit)
  const statement = tx.statements[kind]
  const readOf = (lane: number, count: number) => ({ lane, count, places: statement.all(lane, count) })
  const each = limit === 1 ? 1 : Math.max(READ_MIN, Math.ceil((1.5 * limit) / lanes.length))
  let read = lanes.map((lane) => readOf(lane, Math.min(limit, each)))
  for (;;) {
    const places = read.flatMap(({ places }) => places)
    const chosen = read.length === 1 ? places : places.sort(inOrder).slice(0, limit)
    const last = chosen.at(-1)
    // All that was read of a lane was chosen, so the next of it may belong here too.
    const spent = read.filter(
      ({ places, count }) =>
        count < limit && places.length === count && last && inOrder(places.at(-1) ?? last, last) <= 0,
    )
    if (spent.length === 0) return chosen
    const again = new Set(spent)
    read = read.map((lane) => (again.has(lane) ? readOf(lane.lane, Math.min(limit, lane.count * READ_MORE)) : lane))
  }
}

/** Lanes that can have a run among the first `limit`: with many lanes only those whose head is among the first heads. */
function lanesWithWork(
  { statements }: Tx,
  kind: Kind,
  { lanes, served }: ServedLanes,
  limit: number,
): readonly number[] {
  if (lanes.length <= LANES_FEW) return lanes
  const heads = kind === 'ready' ? statements.readyHeads.all() : statements.suspectHeads.all()
  const open = lanes.length === served.size ? served : new Set(lanes)
  return heads
    .filter(({ lane }) => open.has(lane))
    .sort(inOrder)
    .slice(0, limit)
    .map(({ lane }) => lane)
}

function inOrder(a: Place, b: Place): number {
  return a.place - b.place || a.id - b.id
}
