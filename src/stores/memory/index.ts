/**
 * The memory driver: the Store's laws in the plainest form, for tests, trials and comparison with other drivers.
 * Everything is gone with the process; nothing here is random, and time comes from the clock that is handed in.
 */
import { RepriseError } from '../../failure/reprise-error.ts'
import type { Store } from '../../ports/store.ts'
import { type Clock, systemClock } from '../../time/clock.ts'
import { budgets, setBudget } from './budgets.ts'
import { claim, renew } from './claim.ts'
import { commit, reorder, steer } from './commit.ts'
import { create } from './create.ts'
import { createFlow, flowOf, linksOf } from './flow.ts'
import { hold, holds, release } from './holds.ts'
import { prune } from './prune.ts'
import { pulse } from './pulse.ts'
import { count, find, get } from './read.ts'
import { copy, emptyTables, type Tables } from './rows.ts'
import { take } from './take.ts'
import { verify } from './verify.ts'

export interface MemoryOptions {
  /** A lower priority catches up one step in this time of waiting; 0 for never. @default 600000 */
  readonly ageingMs?: number
  /** The store's time. @default the system's clock */
  readonly clock?: Clock
}

export function memory(options: MemoryOptions = {}): Store {
  return memoryOn(emptyTables(options.ageingMs), options)
}

/** The store on given tables: tests that look at the rows or damage them keep a hand on these. */
export function memoryOn(tables: Tables, { clock = systemClock }: MemoryOptions = {}): Store {
  const listeners = new Set<() => void>()
  // Hints come after the write has answered, so that a listener cannot change what the writer sees.
  const hint = () =>
    queueMicrotask(() => {
      for (const listener of [...listeners]) listener()
    })
  const now = () => clock.now()
  let closed = false

  /** Applied inside the call, answered by a promise: who calls first writes first, and a simulation decides who that is. */
  const answer = async <T>(verb: () => T): Promise<T> => {
    if (closed) throw new RepriseError('store.unavailable', 'The memory store was closed; open a new one.')
    return verb()
  }
  const write = async <T>(verb: () => T): Promise<T> => {
    const answered = await answer(verb)
    hint()
    return answered
  }

  return {
    name: 'memory',
    create: (runs) => write(() => create(tables, runs, now())),
    createFlow: (flow) => write(() => createFlow(tables, flow, now())),
    claim: (request) => answer(() => claim(tables, request, now())),
    renew: (request) => answer(() => renew(tables, request, now())),
    commit: (change) => (change.type === 'end' ? write : answer)(() => commit(tables, change, now())),
    commitAll: (ends) => write(() => ends.map((end) => commit(tables, end, now()))),
    take: (request) => answer(() => take(tables, request, now())),
    steer: (act) => write(() => steer(tables, act, now())),
    reorder: (move) => write(() => reorder(tables, move, now())),
    hold: (order) => write(() => hold(tables, order, now())),
    release: (request) => write(() => release(tables, request, now())),
    holds: () => answer(() => holds(tables, now())),
    setBudget: (order) => write(() => setBudget(tables, order, now())),
    budgets: () => answer(() => budgets(tables, now())),
    get: (ref) => answer(() => get(tables, ref)),
    flow: (ref) => answer(() => flowOf(tables, ref)),
    links: (run) => answer(() => linksOf(tables.runs.get(run))),
    find: (query) => answer(() => find(tables, query, now())),
    count: (query) => answer(() => count(tables, query, now())),
    pulse: (query) => answer(() => pulse(tables, query, now())),
    attempts: (run) => answer(() => copy(tables.runs.get(run)?.history ?? [])),
    journal: (run, generation) =>
      answer(() => copy([...(tables.runs.get(run)?.journals.get(generation)?.values() ?? [])])),
    note: (note) =>
      answer(() => {
        tables.notes.push(copy({ ...note, at: now() }))
      }),
    notes: ({ run, limit }) =>
      answer(() => {
        const all = tables.notes.filter((note) => run === undefined || note.run === run)
        return copy(limit === undefined ? all : all.slice(Math.max(0, all.length - limit)))
      }),
    keepPolicy: (hash, policy) =>
      answer(() => {
        if (!tables.policies.has(hash)) tables.policies.set(hash, policy)
      }),
    policy: (hash) => answer(() => tables.policies.get(hash)),
    prune: (request) => answer(() => prune(tables, request, now())),
    verify: () => answer(() => verify(tables)),
    watch: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: async () => {
      closed = true
      listeners.clear()
    },
  }
}
