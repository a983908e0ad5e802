/**
 * `claim` and `renew`: expire, promote, choose, lease, in this order and in one transaction.
 * It counts what happened to a lease and never judges it.
 */
import type { Failure } from '../../failure/failure.ts'
import type { Claim, ClaimedRun, ClaimRequest, Renewal, RenewRequest } from '../../ports/store.ts'
import type { Hold } from '../../run/hold.ts'
import { failingOf } from '../../run/retry-bucket.ts'
import { bringForward } from './bring-forward.ts'
import { choose, chooseWithin, hasMore } from './choose.ts'
import { expire } from './expire.ts'
import { type OpenLanes, openLanes } from './gates.ts'
import { AGAIN, type Work } from './group-commit.ts'
import { idRangeOf } from './id-range.ts'
import { idOf, ledgersOf, type More, numberOf, readMore } from './row.ts'
import type { Tx } from './session.ts'
import type { ClaimRow } from './statements.ts'

/** How many waiting runs one transaction makes ready. More are due: the claim goes on in the next one, so that order stays exact. */
const PROMOTE_MAX = 1_000

/** A nonce that comes again comes soon, and is looked for only among the newest claims; longer if this process has seen it. */
const NONCES_MAX = 16
const KNOWN_NONCES_MAX = 10_000

/** How far `nextAt` looks past runs of lanes that the worker does not serve; beyond, it answers with a time that is early. */
const OUTLOOK_MAX = 64

/** The nonces of claims whose answer may not have arrived, newest last. */
export class Nonces {
  readonly #known = new Set<string>()

  /** Whether this one was asked before; remembers it. */
  again(nonce: string): boolean {
    if (this.#known.has(nonce)) return true
    this.#known.add(nonce)
    if (this.#known.size > KNOWN_NONCES_MAX) for (const oldest of this.#known) return !this.#known.delete(oldest)
    return false
  }
}

export function claimWork(request: ClaimRequest, nonces: Nonces): Work<Claim> {
  const depth = nonces.again(request.nonce) ? KNOWN_NONCES_MAX : NONCES_MAX
  return { rows: request.limit, wakes: false, execute: (tx) => claim(tx, request, depth) }
}

function claim(tx: Tx, request: ClaimRequest, depth: number): Claim | typeof AGAIN {
  const { statements, now } = tx
  const given = statements.tokenOfNonce.get(depth, request.nonce)
  if (given) {
    const rows = statements.leasedBy.all(given.token).sort(inOrder)
    return answer(tx, request, openLanes(tx, request), { token: given.token, rows, again: true })
  }
  // In this order: what a person had in hand when it fell due is given out only once that lease has ended.
  if (expire(tx) === AGAIN) return AGAIN
  if (statements.promote.run(now, PROMOTE_MAX).changes === PROMOTE_MAX) return AGAIN
  if (bringForward(tx) === AGAIN) return AGAIN
  const open = openLanes(tx, request)
  return open.oneByOne ? leaseWithin(tx, request, open) : lease(tx, request, open)
}

/** The way of a claim when something is held, limited or keyed: what may pass is chosen run by run, and counted. */
function leaseWithin(tx: Tx, request: ClaimRequest, open: OpenLanes): Claim | typeof AGAIN {
  const limit = request.alone ? Math.min(1, request.limit) : request.limit
  const chosen = chooseWithin(tx, open, limit, request.alone)
  if (chosen === AGAIN) return AGAIN
  if (chosen.length === 0) return answer(tx, request, open)
  const rows = rowsOf(
    tx,
    chosen.map(({ id }) => id),
  )
  const leased = leaseRows(tx, request, rows)
  const { token } = leased
  for (const { lanes, settle } of open.gates)
    settle(
      chosen.filter(({ lane }) => lanes.has(lane)),
      chosen,
      token,
    )
  return answer(tx, request, openLanes(tx, request), leased)
}

function lease(tx: Tx, request: ClaimRequest, open: OpenLanes): Claim {
  const { statements } = tx
  const limit = request.alone ? Math.min(1, request.limit) : request.limit
  const [lane] = open.lanes
  const inOne = open.lanes.length === 1 && lane !== undefined && !request.alone
  const rows = inOne ? statements.readLane.all(lane, limit) : rowsOf(tx, choose(tx, open, limit, request.alone))
  // A claim that leases nothing leaves nothing behind, so an idle worker's polls write nothing.
  return answer(tx, request, open, rows.length === 0 ? undefined : leaseRows(tx, request, rows))
}

/** What a claim has leased, in order. */
interface Leased {
  readonly token: number
  readonly rows: readonly ClaimRow[]
  /** Leased by this claim, and not by one before whose answer did not arrive. */
  readonly until?: number
  readonly again?: boolean
}

function rowsOf({ statements }: Tx, ids: readonly number[]): ClaimRow[] {
  return ids.length === 0 ? [] : statements.readIds.all(JSON.stringify(ids)).sort(inOrder)
}

const inOrder = (a: ClaimRow, b: ClaimRow): number => a[2] - b[2] || a[0] - b[0]

function leaseRows({ statements, now }: Tx, request: ClaimRequest, rows: readonly ClaimRow[]): Leased {
  const inserted = statements.insertClaim.run(request.worker, request.nonce, request.alone ? 1 : 0, now)
  const token = Number(inserted.lastInsertRowid)
  const until = now + request.leaseMs
  const ids = rows.map(([id]) => id)
  const range = idRangeOf(ids)
  if (range) statements.leaseRange.run(token, until, range.first, range.last)
  else statements.lease.run(token, until, JSON.stringify(ids))
  return { token, rows, until }
}

const NOTHING: Leased = { token: 0, rows: [] }

function answer(tx: Tx, request: ClaimRequest, open: OpenLanes, leased: Leased = NOTHING): Claim {
  const suspects = tx.statements.anySuspect.get() !== undefined && choose(tx, open, 1, true, 'suspects').length > 0
  const nextAt = nextAtOf(tx, request, open)
  return {
    now: tx.now,
    token: leased.token,
    runs: claimedRuns(tx, leased),
    ...(nextAt === undefined ? {} : { nextAt }),
    suspects,
  }
}

/** When a run of a served lane becomes due, a lease ends or a lane opens; nothing if there is something to claim at once. */
function nextAtOf(tx: Tx, { alone }: ClaimRequest, open: OpenLanes): number | undefined {
  const { served, gates } = open
  if (hasMore(tx, open, alone)) return undefined
  const { dueNext, leasesNext } = tx.statements
  let nextAt = Number.POSITIVE_INFINITY
  for (const { lanes, opensAt = nextAt } of gates)
    if (opensAt < nextAt && hasMore(tx, { lanes: [...lanes], served: lanes }, alone)) nextAt = opensAt
  for (const statement of [dueNext, leasesNext]) {
    let soonest = statement.all(1)
    if (soonest[0] && !served.has(soonest[0].lane)) soonest = statement.all(OUTLOOK_MAX)
    const first =
      soonest.find(({ lane }) => served.has(lane)) ?? (soonest.length === OUTLOOK_MAX ? soonest.at(-1) : undefined)
    if (first) nextAt = Math.min(nextAt, first.at)
  }
  return nextAt === Number.POSITIVE_INFINITY ? undefined : Math.max(tx.now, nextAt)
}

function claimedRuns(tx: Tx, leased: Leased): readonly ClaimedRun[] {
  const runs = leased.rows.map((row) => claimedOf(tx, row, leased))
  const { failing } = failingOf(tx.lanes.buckets.values())
  if (failing) for (const run of runs) run.failing = failing
  return runs
}

/** Hardly any run has more than what is in the first object, so the rest is added to it where it is. */
function claimedOf(tx: Tx, row: ClaimRow, leased: Leased): Growing<ClaimedRun> {
  const [number, lane, , submittedAt, leaseUntil, generation, attempts, errors, lapses, key, rare, failure, input] = row
  const { statements, lanes } = tx
  const { token, until = leaseUntil ?? 0, again = false } = leased
  const { task, category, resource } = lanes.laneOf(lane)
  const more = rare === null ? NOTHING_RARE : readMore(rare)
  const attempt = again ? attempts : attempts + 1
  // The first attempt of a generation finds no journal, and that is most attempts.
  const mayBeJournaled = attempt > 1 || again || more.journaled === true
  const claimed: Growing<ClaimedRun> = {
    id: idOf(number),
    task,
    generation,
    attempt,
    submittedAt,
    ledgers: ledgersOf(errors, lapses, rare === null ? undefined : more),
    suspensions: more.suspensions ?? 0,
    rung: more.rung ?? 0,
    input: input ?? statements.inputOf.get(number)?.input ?? '',
    costUsd: more.costUsd ?? 0,
    leaseUntil: until,
    journaled: mayBeJournaled && statements.hasJournal.get(number, generation) !== undefined,
  }
  if (category !== undefined) claimed.category = category
  if (resource !== undefined) claimed.resource = resource
  if (key !== null) claimed.key = key
  if (failure !== null) claimed.failure = JSON.parse(failure) as Failure
  if (more !== NOTHING_RARE) addRare(tx, number, more, claimed)
  if (lanes.holds.size > 0) addProbes(lanes.holds.values(), token, claimed)
  return claimed
}

type Growing<Whole> = { -readonly [Field in keyof Whole]: Whole[Field] }

function addRare({ statements }: Tx, number: number, more: More, claimed: Growing<ClaimedRun>): void {
  const { deadlineAt, maxCostUsd, lapsed, needs } = more
  if (deadlineAt !== undefined) claimed.deadlineAt = deadlineAt
  if (maxCostUsd !== undefined) claimed.maxCostUsd = maxCostUsd
  if (lapsed !== undefined) claimed.lapsed = lapsed
  if (needs !== undefined) claimed.needs = true
  const step = more.step === undefined ? undefined : statements.stepOf.get(number)
  if (step === undefined) return
  claimed.flow = idOf(step.flow)
  claimed.step = step.name
}

const NOTHING_RARE: More = Object.freeze({})

function addProbes(holds: Iterable<Hold>, token: number, claimed: Growing<ClaimedRun>): void {
  const mine = [...holds].filter(({ probing }) => probing?.run === claimed.id && probing.token === token)
  if (mine.length > 0) claimed.probes = mine.map(({ what }) => what).sort()
}

export function renewWork(request: RenewRequest): Work<Renewal> {
  return { rows: request.leases.length, wakes: false, execute: (tx) => renew(tx, request) }
}

function renew({ statements, now }: Tx, { leases, leaseMs }: RenewRequest): Renewal {
  const lost: string[] = []
  for (const [token, mine] of Map.groupBy(leases, (lease) => lease.token)) {
    const ids = JSON.stringify(mine.map(({ run }) => numberOf(run)))
    if (statements.renew.run(now + leaseMs, ids, token).changes === mine.length) continue
    const held = new Set(statements.stillHeld.all(ids, token).map(({ id }) => idOf(id)))
    lost.push(...mine.flatMap(({ run }) => (held.has(run) ? [] : run)))
  }
  return { now, lost }
}
