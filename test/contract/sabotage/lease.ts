/** Stores that keep or end leases wrongly, or blame the wrong run. */
import type { HeldLease, Row } from '../../../src/stores/memory/rows.ts'
import { asking, type Bench, claiming, ending, pretend, rowsOf, type Shelf, seeing, without } from './bench.ts'

const NEVER = Number.POSITIVE_INFINITY

const expired = ({ clock, tables }: Bench): (Row & { lease: HeldLease })[] =>
  rowsOf(tables).filter(
    (row): row is Row & { lease: HeldLease } => row.lease !== undefined && row.lease.until <= clock.now(),
  )

export const leaseShelf: Shelf = {
  'renew-does-nothing': ({ store, tables }) => ({
    renew: async (request) => {
      const before = rowsOf(tables).map((row) => [row, row.lease] as const)
      const renewal = await store.renew(request)
      for (const [row, lease] of before) row.lease = lease
      return renewal
    },
  }),
  'renew-says-all-well': ({ store }) => ({ renew: async (request) => ({ ...(await store.renew(request)), lost: [] }) }),
  'renew-revives': ({ tables, clock }) => ({
    renew: async ({ worker, leaseMs, leases }) => {
      const now = clock.now()
      for (const { run, token } of leases) {
        const row = tables.runs.get(run)
        if (row) row.lease = { token, worker, until: now + leaseMs, alone: false, claimedAt: now }
      }
      return { now, lost: [] }
    },
  }),
  'time-takes-renewals': (bench) => ({
    renew: async (request) => {
      const late = new Set(expired(bench).map(({ id }) => id))
      const leases = request.leases.filter(({ run }) => !late.has(run))
      const { now, lost } = await bench.store.renew({ ...request, leases })
      return { now, lost: [...late, ...lost] }
    },
  }),
  'lease-never-ends': seeing(({ lease }) => (lease ? { lease: { ...lease, until: NEVER } } : {})),
  'lapse-not-counted': claiming({
    after: (claim, { tables }) => {
      for (const row of rowsOf(tables)) row.ledgers = { ...row.ledgers, lapses: 0 }
      return claim
    },
  }),
  'lapse-without-history': claiming({
    after: (claim, { tables }) => {
      for (const { history } of rowsOf(tables)) while (history.at(-1)?.outcome === 'lapsed') history.pop()
      return claim
    },
  }),
  'lapse-counted-at-every-claim': claiming({
    before: ({ tables }) => {
      for (const row of rowsOf(tables))
        if (row.lapsed && !row.lease) row.ledgers = { ...row.ledgers, lapses: row.ledgers.lapses + 1 }
    },
  }),
  'lapse-counted-for-neighbours': claiming({
    before: (bench) => {
      for (const row of expired(bench)) row.lease = { ...row.lease, alone: true }
    },
  }),
  'suspects-to-the-busy': (bench) => ({
    claim: async (request) => {
      await bench.store.claim({ ...request, tasks: [] })
      return pretend(
        bench.tables,
        () => ({ suspect: false }),
        () => bench.store.claim(request),
      )
    },
  }),
  'suspects-in-batches': (bench) => ({
    claim: async (request) => {
      await bench.store.claim({ ...request, tasks: [] })
      const suspect = request.alone ? () => ({ suspect: false }) : () => ({})
      return pretend(bench.tables, suspect, () => bench.store.claim({ ...request, alone: false }))
    },
  }),
  'suspects-untold': claiming({ after: (claim) => ({ ...claim, suspects: false }) }),
  'suspect-counts-once': claiming({
    before: ({ tables }) => {
      for (const row of rowsOf(tables)) if (row.lease?.alone) row.uncounted = 0
    },
  }),
  'confirmed-suspect-mixes': (bench) => ({
    claim: async (request) => {
      await bench.store.claim({ ...request, tasks: [] })
      for (const row of rowsOf(bench.tables)) if (row.uncounted === 0) row.suspect = false
      return bench.store.claim(request)
    },
  }),
  'suspicion-sticks': ending({
    after: (row, before) => {
      Object.assign(row, { suspect: before.suspect, uncounted: before.uncounted })
    },
  }),
  'unstarted-exonerates': ending({
    after: (row, _before, { unstarted }) => {
      if (unstarted) Object.assign(row, { suspect: false, uncounted: 0 })
    },
  }),
  'unstarted-forgets-lapse': ending({
    after: (row, _before, { unstarted }) => {
      if (unstarted) row.lapsed = undefined
    },
  }),
  'lapse-untold': claiming({
    after: (claim) => ({ ...claim, runs: claim.runs.map((run) => without(run, 'lapsed')) }),
  }),
  'alone-unheeded': asking((request) => ({ ...request, alone: false })),
}
