/** Stores that let in too many, or nobody ever again. */
import type { ClaimRequest } from '../../../src/ports/store.ts'
import { asking, type Bench, claiming, ending, pretend, rowsOf, type Shelf, without } from './bench.ts'

const withoutLimits = (request: ClaimRequest): ClaimRequest => without(request, 'limits')

export const limitShelf: Shelf = {
  'limits-ignored': asking(withoutLimits),
  'limit-per-claim': (bench) => ({
    // Its own leases are all that this worker counts.
    claim: (request) => {
      const others = rowsOf(bench.tables).filter(({ lease }) => lease && lease.worker !== request.worker)
      const isOthers = new Set(others)
      return pretend(
        bench.tables,
        (row) => (isOthers.has(row) ? { state: 'review', lease: undefined } : {}),
        () => bench.store.claim(request),
      )
    },
  }),
  'limit-never-frees': (bench) => {
    let given = 0
    return {
      claim: async (request) => {
        const max = request.limits?.[0]?.running
        if (max !== undefined && given >= max) return { now: bench.clock.now(), token: 0, runs: [], suspects: false }
        const claim = await bench.store.claim(request)
        given += claim.runs.length
        return claim
      },
    }
  },
  'rate-ignored': asking((request) =>
    request.limits ? { ...request, limits: request.limits.map((limit) => without(limit, 'rate')) } : request,
  ),
  'rate-unannounced': claiming({ after: (claim) => without(claim, 'nextAt') }),
  'failing-untold': claiming({
    after: (claim) => ({ ...claim, runs: claim.runs.map((run) => without(run, 'failing')) }),
  }),
  'bucket-none': ending({ change: (end) => without(end, 'trouble') }),
  'bucket-counts-attempts': claiming({
    after: (claim, { tables }: Bench) => {
      for (const row of tables.open) if (row.again && row.state === 'ready' && !row.lease) row.attempt += 1
      return claim
    },
  }),
  'bucket-never-heals': ending({
    after: (_row, _before, { state }, { tables, clock }) => {
      const known = tables.buckets.get('flash')
      if (state === 'succeeded' && known)
        tables.buckets.set('flash', { resource: 'flash', health: 0, phase: 'failing', tokens: 0, at: clock.now() })
    },
  }),
  'healed-waits': claiming({
    before: ({ tables }) => {
      for (const bucket of tables.buckets.values()) tables.buckets.set(bucket.resource, { ...bucket, healedAfter: 0 })
    },
  }),
  'healed-hurries': claiming({
    before: ({ tables }) => {
      for (const bucket of tables.buckets.values())
        tables.buckets.set(bucket.resource, { ...bucket, healedAfter: 9e15 })
    },
  }),
  'bucket-of-everyone': ending({
    after: (row, _before, _end, { tables }) => {
      if (row.state === 'waiting' && tables.buckets.get('flash')?.phase === 'failing') {
        row.again = true
        row.lane = { ...row.lane, resource: 'flash' }
      }
    },
  }),
  'again-kept': (bench) => ({
    steer: async (act) => {
      const row = bench.tables.runs.get(act.run)
      const again = row?.again ?? false
      const committed = await bench.store.steer(act)
      if (row) row.again = again
      return committed
    },
  }),
}
