/**
 * Leasing what a claim has chosen: rows of one document together, or those of one concurrency key in their order; each in one write
 * that holds only if nobody wrote any of it since. Which rows these are is decided elsewhere.
 */
import type { ClaimRequest } from '../../ports/store.ts'
import { systemClock } from '../../time/clock.ts'
import { systemDice } from '../../time/dice.ts'
import { isClaimable } from './expire.ts'
import type { Granted } from './gates.ts'
import type { Place } from './place.ts'
import type { Doc, Row } from './row.ts'
import { isConflict, isMissingIndex, unwritten } from './trouble.ts'
import { WAITERS_MAX } from './turn.ts'
import { dropGone, turnOf } from './turns.ts'
import { readDoc, Unit } from './unit.ts'

/** Conflicts on one document, most of them by its sibling steps: short waits, then it is left as it is. */
const TRIES_MAX = 5
const WAIT_MIN_MS = 100
const WAIT_SPAN_MS = 400
/** Rows that one write parks; more are parked by the next claim. */
const PARK_MAX = 100

export interface Stamp {
  readonly request: ClaimRequest
  readonly now: number
  readonly token: number
  readonly granted: Granted
}

export interface Took {
  readonly taken: readonly Row[]
  /** Ids of runs that wait for their key now. */
  readonly parked: readonly string[]
}

const NOTHING: Took = { taken: [], parked: [] }

export async function written(unit: Unit): Promise<boolean> {
  try {
    await unit.commit()
    return true
  } catch (error) {
    if (!isConflict(error) || isMissingIndex(error)) throw unwritten(error)
    return unit.wasApplied()
  }
}

const pause = (): Promise<void> => systemClock.sleep(WAIT_MIN_MS + Math.floor(systemDice() * WAIT_SPAN_MS))

export async function takeOfDoc(place: Place, first: Doc, wanted: readonly Row[], stamp: Stamp): Promise<Took> {
  const steps = wanted.map(({ step }) => step)
  let doc: Doc | undefined = first
  for (let tries = 1; doc && tries <= TRIES_MAX; tries += 1) {
    const unit: Unit = new Unit(place, stamp.now)
    unit.adopt(doc)
    const rows: Row[] = []
    for (const step of steps) {
      const row = doc.rows.get(step)
      if (!isFree(row, stamp)) continue
      lease(row, stamp)
      rows.push(row)
    }
    if (rows.length === 0 || (await written(unit))) return { taken: rows, parked: [] }
    doc = await readDoc(place, doc.id)
    if (!steps.some((step) => isFree(doc?.rows.get(step), stamp))) return NOTHING
    await pause()
    doc = await readDoc(place, first.id)
  }
  return NOTHING
}

/**
 * Rows of one key: those that are wanted are leased while the key has room. Who finds it full is parked, so that no later claim
 * meets it; so are those behind them, which need no claim of their own to find out.
 */
export async function takeOfKey(
  place: Place,
  wanted: readonly Row[],
  behind: readonly Row[],
  stamp: Stamp,
): Promise<Took> {
  const [first] = [...wanted, ...behind]
  if (!first) return NOTHING
  const isWanted = new Set(wanted.map(({ id }) => id))
  const all = new Map([...wanted, ...behind].map((row) => [row.id, row.doc.id]))
  const least = Math.min(...[...wanted, ...behind].map(({ concurrency }) => concurrency?.max ?? 0))
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const unit = new Unit(place, stamp.now)
    // Read anew: other rows of these documents may be on their way out by this same claim.
    await unit.docs([...all.values()])
    const turn = await turnOf(unit, first)
    if (turn.line.out.length >= least) await dropGone(unit, turn)
    let out = turn.line.out.length
    let room = WAITERS_MAX - turn.line.waiters.length
    const taken: Row[] = []
    const parked: string[] = []
    for (const id of all.keys()) {
      const row = await unit.row(id)
      if (!isFree(row, stamp)) continue
      if (out < (row.concurrency?.max ?? 0)) {
        if (!isWanted.has(id)) continue
        lease(row, stamp)
        out += 1
        taken.push(row)
      } else if (room > 0 && parked.length < PARK_MAX) {
        park(row)
        room -= 1
        parked.push(id)
      }
    }
    if (await written(unit)) return { taken, parked }
    await pause()
  }
  return NOTHING
}

/** A row that was out under a higher token since is another's affair. */
const isFree = (row: Row | undefined, { request, now, token }: Stamp): row is Row =>
  row !== undefined && row.token < token && isClaimable(row, request, now)

function lease(row: Row, { request, now, token, granted }: Stamp): void {
  const { worker, nonce, alone, leaseMs } = request
  promote(row, 'ready')
  row.token = token
  row.lease = { worker, until: now + leaseMs, alone, claimedAt: now, nonce }
  row.startedAt = now
  row.attempt += 1
  row.probes = granted.probesOf(row)
  row.watched = granted.isWatched(row) ? true : undefined
}

const park = (row: Row): void => promote(row, 'waiting')

function promote(row: Row, state: 'ready' | 'waiting'): void {
  row.state = state
  row.dueAt = undefined
  row.readyAt = undefined
  for (const need of row.needs ?? []) need.open = false
}
