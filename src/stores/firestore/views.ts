/**
 * Rows as readers and workers see them: long texts fetched, renewed leases looked up beside the flow document.
 * It changes nothing.
 */
import type { ClaimedRun, MovedRun, RunView } from '../../ports/store.ts'
import { EMPTY_LEDGERS } from '../../run/run.ts'
import { leaseRef, type Place } from './place.ts'
import type { Row } from './row.ts'
import { readText } from './texts.ts'
import { readAll } from './unit.ts'

/** The ends of leases as their owners last extended them, by run. */
export async function renewedUntil(place: Place, rows: readonly Row[]): Promise<ReadonlyMap<string, number>> {
  const leased = rows.filter(({ lease }) => lease !== undefined)
  const snapshots = await readAll(
    place,
    leased.map(({ doc, step }) => leaseRef(place, doc.id, step)),
  )
  const until = new Map<string, number>()
  for (const [index, row] of leased.entries()) {
    const renewed = snapshots[index]?.get('token') === row.token ? Number(snapshots[index]?.get('until')) : undefined
    until.set(row.id, renewed ?? row.lease?.until ?? 0)
  }
  return until
}

export async function viewsOf(place: Place, rows: readonly Row[]): Promise<RunView[]> {
  const until = await renewedUntil(place, rows)
  return Promise.all(rows.map((row) => viewOf(place, row, until.get(row.id))))
}

async function viewOf(place: Place, row: Row, until: number | undefined): Promise<RunView> {
  const { lease, output } = row
  return compact({
    ...(await common(place, row)),
    state: row.state,
    priority: row.priority,
    dueAt: row.dueAt,
    lease: lease && { token: row.token, worker: lease.worker, until: until ?? lease.until },
    suspect: row.suspect ?? false,
    why: row.why,
    output: output === undefined ? undefined : await readText(place, row.doc.id, output),
    progress: row.progress,
    finishedAt: row.finishedAt,
    endedBy: row.endedBy,
    concurrency: row.concurrency,
  }) as unknown as RunView
}

export async function claimedOf(place: Place, row: Row, leaseUntil: number): Promise<ClaimedRun> {
  return compact({
    ...(await common(place, row)),
    leaseUntil,
    journaled: row.journaled === row.generation,
    needs: row.doc.flow && row.needs?.some(({ join }) => join === undefined) ? true : undefined,
    lapsed: row.lapsed,
    probes: row.probes && row.probes.length > 0 ? [...row.probes].sort() : undefined,
  }) as unknown as ClaimedRun
}

async function common(place: Place, row: Row) {
  const { id, key, generation, attempt, submittedAt, doc, step } = row
  return {
    ...row.lane,
    ...{ id, key, generation, attempt, submittedAt },
    ledgers: row.ledgers ?? EMPTY_LEDGERS,
    suspensions: row.suspensions ?? 0,
    rung: row.rung ?? 0,
    input: await readText(place, doc.id, row.input),
    deadlineAt: row.deadlineAt,
    maxCostUsd: row.maxCostUsd,
    costUsd: row.costUsd ?? 0,
    failure: row.failure,
    flow: doc.flow ? flowIdOf(row) : undefined,
    step: doc.flow ? step : undefined,
  }
}

/** That of its first step's run. */
export const flowIdOf = ({ doc }: Row): string => {
  const [first] = doc.rows.values()
  return first?.id ?? doc.id
}

export function movedOf(row: Row): MovedRun {
  const { id: run, lane, generation, state, submittedAt, why, failure } = row
  const step = row.doc.flow ? row.step : undefined
  return compact({ run, task: lane.task, generation, state, step, submittedAt, why, failure }) as unknown as MovedRun
}

/** Absent stays absent, and nothing that is answered is shared with a row. */
export function compact(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return structuredClone(Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined)))
}
