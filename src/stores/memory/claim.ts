/**
 * `claim` and `renew` of the memory driver: expire, promote, choose, in this order.
 * It counts what happened to a lease and never judges it.
 */
import type { Claim, ClaimRequest, Renewal, RenewRequest } from '../../ports/store.ts'
import { admitted, type Gate, gatesOf } from './gates.ts'
import { bringForward } from './holds.ts'
import { wakeAfter } from './keys.ts'
import { claimedOf, type HeldLease, inOrder, type Row, type Tables } from './rows.ts'

export function claim(tables: Tables, request: ClaimRequest, now: number): Claim {
  const given = tables.tokens.get(request.nonce)
  if (given !== undefined) return answerAgain(tables, request, given, now)
  expire(tables, now)
  promote(tables, now)
  bringForward(tables, now)
  const gates = gatesOf(tables, request, now)
  const limit = request.alone ? Math.min(1, request.limit) : request.limit
  const chosen = admitted(tables, claimable(tables, request), gates, limit)
  // A claim that leases nothing leaves nothing behind, so an idle worker's polls are free.
  if (chosen.length === 0) return { now, token: 0, runs: [], ...outlook(tables, request, now) }
  tables.last.token += 1
  const { token } = tables.last
  const { worker, nonce } = request
  tables.claims.set(token, { worker, nonce, at: now, runs: chosen.map(({ id }) => id) })
  tables.tokens.set(nonce, token)
  const lease: HeldLease = {
    token,
    worker,
    until: now + request.leaseMs,
    alone: request.alone,
    claimedAt: now,
  }
  for (const row of chosen) {
    row.lease = lease
    row.attempt += 1
  }
  for (const gate of gates) gate.settle(chosen.filter(gate.covers), chosen, token)
  const runs = chosen.map((row) => claimedOf(row, lease, tables))
  return { now, token, runs, ...outlook(tables, request, now) }
}

/** The answer to this nonce did not arrive: what its token still holds is told again. */
function answerAgain(tables: Tables, request: ClaimRequest, token: number, now: number): Claim {
  const runs = (tables.claims.get(token)?.runs ?? []).flatMap((id) => {
    const row = tables.runs.get(id)
    return row?.lease?.token === token ? [claimedOf(row, row.lease, tables)] : []
  })
  return { now, token, runs, ...outlook(tables, request, now) }
}

function promote(tables: Tables, now: number): void {
  for (const row of tables.open) {
    // What a person has in hand is theirs until that lease ends, overdue or not.
    if (row.dueAt === undefined || row.dueAt > now || row.lease) continue
    row.state = 'ready'
    row.readyAt = row.dueAt
    row.dueAt = undefined
  }
}

function expire(tables: Tables, now: number): void {
  const expired = [...tables.open].filter(({ lease }) => lease && lease.until <= now)
  for (const row of expired) {
    const { lease } = row as Row & { lease: HeldLease }
    row.lease = undefined
    // A person who went away: nothing was executed, so nobody is to blame.
    if (row.state === 'review') continue
    row.readyAt = lease.until
    row.lapsed = { worker: lease.worker, counted: lease.alone }
    if (lease.alone) lapse(row, lease, now)
    else {
      row.suspect = true
      row.uncounted += 1
    }
  }
  for (const row of expired) wakeAfter(tables, row, now)
}

/**
 * It vanished with its owner and nobody else did, so it counts; a suspect's shared crash counts with it.
 * A confirmed suspect stays one until an attempt of it ends: its next crash must not take neighbours along.
 */
function lapse(row: Row, lease: HeldLease, now: number): void {
  row.ledgers = { ...row.ledgers, lapses: row.ledgers.lapses + 1 + row.uncounted }
  row.uncounted = 0
  row.history.push({
    generation: row.generation,
    attempt: row.attempt,
    token: lease.token,
    worker: lease.worker,
    startedAt: lease.claimedAt,
    endedAt: now,
    outcome: 'lapsed',
  })
}

/** What could be given to this request now, in order. */
function claimable(tables: Tables, request: ClaimRequest): Row[] {
  return [...tables.open]
    .filter((row) => row.state === 'ready' && !row.lease && serves(request, row) && (request.alone || !row.suspect))
    .sort(inOrder)
}

function serves({ tasks, categories }: ClaimRequest, { lane }: Row): boolean {
  if (!tasks.includes(lane.task)) return false
  return categories === undefined || (lane.category !== undefined && categories.includes(lane.category))
}

/** What is left to claim after this claim, and when there will be more. */
function outlook(tables: Tables, request: ClaimRequest, now: number): Pick<Claim, 'nextAt' | 'suspects'> {
  const gates = gatesOf(tables, request, now)
  const served = [...tables.open].filter((row) => serves(request, row))
  const suspects = served.some((row) => row.suspect && row.state === 'ready' && !row.lease && isOpen(row, gates))
  const waiting = claimable(tables, request)
  if (waiting.some((row) => isOpen(row, gates))) return { suspects }
  const opening = gates.flatMap(({ covers, opensAt }) => (waiting.some(covers) && opensAt !== undefined ? opensAt : []))
  const instants = [...served.flatMap((row) => row.lease?.until ?? row.dueAt ?? []), ...opening]
  if (instants.length === 0) return { suspects }
  return { suspects, nextAt: Math.max(now, Math.min(...instants)) }
}

const isOpen = (row: Row, gates: readonly Gate[]): boolean =>
  gates.every(({ covers, left }) => left > 0 || !covers(row))

export function renew(tables: Tables, { leases, leaseMs }: RenewRequest, now: number): Renewal {
  const lost: string[] = []
  for (const { run, token } of leases) {
    const row = tables.runs.get(run)
    if (row?.lease?.token === token) row.lease = { ...row.lease, until: now + leaseMs }
    else lost.push(run)
  }
  return { now, lost }
}
