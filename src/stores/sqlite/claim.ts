/**
 * `claim` and `renew`: expire, promote, choose, lease, in this order and in one transaction.
 * It counts what happened to a lease and never judges it.
 */
import type { Failure } from '../../failure/failure.ts'
import type { Claim, ClaimedRun, ClaimRequest, Renewal, RenewRequest } from '../../ports/store.ts'
import type { Hold } from '../../run/hold.ts'
import { choose, chooseWithin, hasMore } from './choose.ts'
import { expire } from './expire.ts'
import { type OpenLanes, openLanes } from './gates.ts'
import { AGAIN, type Work } from './group-commit.ts'
import { idOf, ledgersOf, numberOf, readMore } from './row.ts'
import type { Tx } from './session.ts'
import type { ClaimRow } from './statements.ts'

/** How many waiting runs one transaction makes ready. More are due: the claim goes on in the next one, so that order stays exact. */
const PROMOTE_MAX = 1_000

/** A nonce that comes again comes soon, and is looked for only among the newest claims; longer if this process has seen it. */
const NONCES_MAX = 16
const KNOWN_NONCES_MAX = 10_000

/** Below this, choosing ids and leasing them is faster than one statement for both; above it is the other way round. */
const ONE_STATEMENT_MIN = 8

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
  if (given) return answer(tx, request, openLanes(tx, request), given.token, statements.leasedBy.all(given.token), true)
  // In this order: what a person had in hand when it fell due is given out only once that lease has ended.
  if (expire(tx) === AGAIN) return AGAIN
  if (statements.promote.run(now, PROMOTE_MAX).changes === PROMOTE_MAX) return AGAIN
  const open = openLanes(tx, request)
  return open.gates.length === 0 ? lease(tx, request, open) : leaseWithin(tx, request, open)
}

/** The way of a claim when something is held or limited: what passes the gates is chosen run by run, and counted against them. */
function leaseWithin(tx: Tx, request: ClaimRequest, open: OpenLanes): Claim {
  const { statements, now } = tx
  const limit = request.alone ? Math.min(1, request.limit) : request.limit
  const chosen = chooseWithin(tx, open, limit, request.alone)
  if (chosen.length === 0) return answer(tx, request, open, 0, [])
  const inserted = statements.insertClaim.run(request.worker, request.nonce, request.alone ? 1 : 0, now)
  const token = Number(inserted.lastInsertRowid)
  const ids = JSON.stringify(chosen.map(({ id }) => id))
  const rows = statements.leaseIds.all(token, now + request.leaseMs, ids)
  for (const { lanes, settle } of open.gates)
    settle(
      chosen.filter(({ lane }) => lanes.has(lane)),
      chosen,
      token,
    )
  return answer(tx, request, openLanes(tx, request), token, rows)
}

function lease(tx: Tx, request: ClaimRequest, open: OpenLanes): Claim {
  const { statements, now } = tx
  const limit = request.alone ? Math.min(1, request.limit) : request.limit
  const [lane] = open.lanes
  const inOne = open.lanes.length === 1 && lane !== undefined && limit >= ONE_STATEMENT_MIN
  const chosen = inOne ? [] : choose(tx, open, limit, request.alone)
  // A claim that leases nothing leaves nothing behind, so an idle worker's polls write nothing.
  const nothing = inOne ? statements.ready.get(lane, 1) === undefined : chosen.length === 0
  if (nothing) return answer(tx, request, open, 0, [])
  const inserted = statements.insertClaim.run(request.worker, request.nonce, request.alone ? 1 : 0, now)
  const token = Number(inserted.lastInsertRowid)
  const until = now + request.leaseMs
  const rows = inOne
    ? statements.leaseLane.all(token, until, lane, limit)
    : statements.leaseIds.all(token, until, JSON.stringify(chosen))
  return answer(tx, request, open, token, rows)
}

function answer(tx: Tx, request: ClaimRequest, open: OpenLanes, token: number, rows: ClaimRow[], again = false): Claim {
  // Rows come back by id, whatever the order in which they were chosen.
  rows.sort((a, b) => a.priority - b.priority || a.submitted_at - b.submitted_at || a.id - b.id)
  const suspects = tx.statements.anySuspect.get() !== undefined && choose(tx, open, 1, true, 'suspects').length > 0
  const nextAt = nextAtOf(tx, request, open)
  return {
    now: tx.now,
    token,
    runs: rows.map((row) => claimedOf(tx, row, again)),
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

function claimedOf({ statements, lanes }: Tx, row: ClaimRow, again: boolean): ClaimedRun {
  const { task, category, resource } = lanes.laneOf(row.lane)
  const more = row.more === null ? undefined : readMore(row.more)
  const { suspensions = 0, rung = 0, costUsd = 0, deadlineAt, maxCostUsd, lapsed } = more ?? {}
  const { key, failure, attempt } = row
  // The first attempt of a generation finds no journal, and that is most attempts.
  const step = more?.step === undefined ? undefined : statements.stepOf.get(row.id)
  const mayBeJournaled = attempt > 1 || again || more?.journaled === true
  return {
    id: idOf(row.id),
    task,
    ...(category === undefined ? undefined : { category }),
    ...(resource === undefined ? undefined : { resource }),
    ...(key === null ? undefined : { key }),
    generation: row.generation,
    attempt,
    submittedAt: row.submitted_at,
    ledgers: ledgersOf(row.errors, row.lapses, more),
    suspensions,
    rung,
    input: row.input ?? statements.inputOf.get(row.id)?.input ?? '',
    ...(deadlineAt === undefined ? undefined : { deadlineAt }),
    ...(maxCostUsd === undefined ? undefined : { maxCostUsd }),
    costUsd,
    leaseUntil: row.lease_until,
    ...(failure === null ? undefined : { failure: JSON.parse(failure) as Failure }),
    journaled: mayBeJournaled && statements.hasJournal.get(row.id, row.generation) !== undefined,
    ...(step === undefined ? undefined : { flow: idOf(step.flow), step: step.name }),
    ...(more?.needs === undefined ? undefined : { needs: true }),
    ...(lapsed === undefined ? undefined : { lapsed }),
    ...(lanes.holds.size === 0 ? undefined : probesOf(lanes.holds.values(), idOf(row.id), row.lease)),
  }
}

function probesOf(holds: Iterable<Hold>, run: string, token: number): Pick<ClaimedRun, 'probes'> {
  const mine = [...holds].filter(({ probing }) => probing?.run === run && probing.token === token)
  return mine.length === 0 ? {} : { probes: mine.map(({ what }) => what).sort() }
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
