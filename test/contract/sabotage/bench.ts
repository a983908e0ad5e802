/**
 * Where a store is broken on purpose: the intact memory store, its tables and its clock, and tools to bend them.
 */
import type { Change, Claim, ClaimRequest, CommitAnswer, EndChange, Store } from '../../../src/ports/store.ts'
import type { Row, Tables } from '../../../src/stores/memory/rows.ts'
import type { Clock } from '../../../src/time/clock.ts'

export interface Bench {
  readonly store: Store
  readonly tables: Tables
  readonly clock: Clock
}

/** Gives the verbs that it breaks; all others stay intact. */
export type Sabotage = (bench: Bench) => Partial<Store> & { readonly reopen?: () => Promise<Store> }

export type Shelf = Readonly<Record<string, Sabotage>>

export const rowsOf = (tables: Tables): Row[] => [...tables.runs.values()]

/** Calls while the rows look different; what the call itself did not change is put back. */
export async function pretend<T>(
  tables: Tables,
  change: (row: Row) => Partial<Row>,
  call: () => Promise<T>,
): Promise<T> {
  const undo = rowsOf(tables).flatMap((row) =>
    Object.entries(change(row)).map(([name, pretended]) => {
      const before = Reflect.get(row, name)
      Reflect.set(row, name, pretended)
      return () => Reflect.get(row, name) === pretended && Reflect.set(row, name, before)
    }),
  )
  // The memory store has applied the call when it returns, before its promise is awaited.
  const answer = call()
  for (const back of undo) back()
  return answer
}

/** Breaks the claim by asking another question. */
export const asking =
  (change: (request: ClaimRequest, bench: Bench) => ClaimRequest): Sabotage =>
  (bench) => ({ claim: (request) => bench.store.claim(change(request, bench)) })

/** Breaks the claim by letting rows look different while it looks at them. */
export const seeing =
  (change: (row: Row, request: ClaimRequest, bench: Bench) => Partial<Row>): Sabotage =>
  (bench) => ({
    claim: (request) =>
      pretend(
        bench.tables,
        (row) => change(row, request, bench),
        () => bench.store.claim(request),
      ),
  })

/** Breaks the claim by changing rows before it or its answer after it. */
export const claiming =
  ({
    before,
    after,
  }: {
    before?: (bench: Bench, request: ClaimRequest) => void
    after?: (claim: Claim, bench: Bench) => Claim
  }): Sabotage =>
  (bench) => ({
    claim: async (request) => {
      before?.(bench, request)
      const claim = await bench.store.claim(request)
      return after ? after(claim, bench) : claim
    },
  })

/** Breaks the end of an attempt, or what is done with it afterwards when it was taken. */
export const ending =
  ({
    change,
    after,
  }: {
    change?: (end: EndChange) => EndChange
    after?: (row: Row, before: Row, end: EndChange, bench: Bench) => void
  }): Sabotage =>
  (bench) => ({
    commit: async (given) => {
      if (given.type !== 'end') return bench.store.commit(given)
      const row = bench.tables.runs.get(given.run)
      const before = row && { ...row }
      const committed = await bench.store.commit(change ? change(given) : given)
      if (row && before && committed.answer === 'ok') after?.(row, before, given, bench)
      return committed
    },
  })

/** Writes without looking at the lease; with `keepLease` it is the owner's again afterwards. */
export async function forced(
  { store, tables, clock }: Bench,
  change: Change,
  keepLease = false,
): Promise<CommitAnswer> {
  const row = tables.runs.get(change.run)
  if (!row) return store.commit(change)
  const { lease } = row
  row.lease = { token: change.token, worker: 'thief', until: clock.now(), alone: true, claimedAt: clock.now() }
  const committed = store.commit(change)
  if (keepLease) row.lease = lease
  return committed
}

/** One turn for others to slip in between a look and a write. */
export const gap = (): Promise<void> => Promise.resolve()

/** The property is left out, not undefined. */
export function without<T extends object>(value: T, ...names: readonly (keyof T)[]): T {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name as keyof T))) as T
}
