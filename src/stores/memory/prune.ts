/**
 * `prune` of the memory driver: what is old enough goes, oldest first.
 * It knows nothing of who asks; how long things are kept is in the request.
 */
import type { Pruned, PruneRequest } from '../../ports/store.ts'
import { isTerminal } from '../../run/run.ts'
import { forgetWindows } from './budgets.ts'
import { joined, type Row, type Tables } from './rows.ts'

export function prune(tables: Tables, request: PruneRequest, now: number): Pruned {
  const { keepMs, keysMs, limit, only } = request
  const surplus = surplusOf(tables, request.keepMax)
  const isOld = (row: Row) => {
    // As in every store that numbers its runs by the newest one, that one stays.
    if (!isTerminal(row.state) || row.seq === tables.last.run) return false
    if (only !== undefined && only.get(row.id) !== row.generation) return false
    const endedAt = row.finishedAt ?? now
    return endedAt <= now - (keepMs[row.state] ?? Number.POSITIVE_INFINITY) || surplus.has(row)
  }
  const old: Row[][] = []
  const judged = new Set<Row>()
  for (const row of tables.runs.values()) {
    if (judged.has(row) || !isOld(row)) continue
    const all = linkedTo(tables, row)
    for (const each of all) judged.add(each)
    if (all.every((each) => isOld(each) && isKeyOld(tables, each, now - keysMs))) old.push(all)
  }
  const gone: Row[] = []
  let groups = 0
  for (const all of old) {
    if (gone.length > 0 && gone.length + all.length > limit) break
    gone.push(...all)
    groups += 1
  }
  for (const row of gone) remove(tables, row)
  return {
    now,
    pruned: gone.map(({ id }) => id),
    keys: forget(tables, now - keysMs),
    more: old.length > groups,
  }
}

/** A run and all that it is linked to, by needs, joins and flows, through however many others; oldest first. */
function linkedTo(tables: Tables, first: Row): Row[] {
  const reached = new Set([first])
  for (const { needs, dependents, flow } of reached) {
    for (const { needed } of needs) reached.add(needed)
    for (const { dependent } of dependents) reached.add(dependent)
    for (const mate of tables.flows.get(flow ?? '')?.rows ?? []) reached.add(mate)
  }
  return [...reached].sort((a, b) => a.seq - b.seq)
}

/** The key of a flow answers with its steps, so they stay as long as it is kept. */
function isKeyOld(tables: Tables, { flow, finishedAt = 0 }: Row, before: number): boolean {
  return tables.flows.get(flow ?? '')?.key === undefined || finishedAt <= before
}

/** Ended runs beyond the newest `keepMax` of their task. */
function surplusOf(tables: Tables, keepMax: number | undefined): ReadonlySet<Row> {
  const surplus = new Set<Row>()
  if (keepMax === undefined) return surplus
  const ended = [...tables.runs.values()].reverse().filter(({ state }) => isTerminal(state))
  for (const ofTask of Map.groupBy(ended, ({ lane }) => lane.task).values())
    for (const row of ofTask.slice(keepMax)) surplus.add(row)
  return surplus
}

function remove(tables: Tables, row: Row): void {
  tables.runs.delete(row.id)
  const flow = tables.flows.get(row.id)
  tables.flows.delete(row.id)
  if (flow?.key !== undefined) tables.flowKeys.delete(joined(flow.name, flow.key))
  const name = row.key === undefined ? undefined : joined(row.lane.task, row.key)
  const key = name === undefined ? undefined : tables.keys.get(name)
  // The key's age counts from the end of its run, however long ago it was submitted.
  if (name !== undefined && key?.run === row.id) tables.keys.set(name, { ...key, at: row.finishedAt ?? key.at })
}

/** Keys and notes of runs that are gone, and claims that no lease is of. Answers with the number of keys. */
function forget(tables: Tables, before: number): number {
  const keys = [...tables.keys].filter(([, { run, at }]) => !tables.runs.has(run) && at <= before)
  for (const [name] of keys) tables.keys.delete(name)
  const kept = tables.notes.filter(({ run, at }) => run === undefined || tables.runs.has(run) || at > before)
  tables.notes.splice(0, tables.notes.length, ...kept)
  const firstLeased = Math.min(...[...tables.open].map(({ lease }) => lease?.token ?? Number.POSITIVE_INFINITY))
  for (const [token, { nonce, at }] of tables.claims) {
    if (token >= firstLeased || at > before) break
    tables.claims.delete(token)
    tables.tokens.delete(nonce)
  }
  forgetWindows(tables, before)
  return keys.length
}
