/** Stores that give runs out wrongly. */
import type { Claim } from '../../../src/ports/store.ts'
import { isTerminal } from '../../../src/run/run.ts'
import type { Row } from '../../../src/stores/memory/rows.ts'
import { asking, claiming, gap, rowsOf, type Shelf, seeing, without } from './bench.ts'

const NEVER = Number.POSITIVE_INFINITY
const HOUR_MS = 3_600_000

const given = (claim: Claim, rows: readonly Row[]) => rows.filter(({ id }) => claim.runs.some((run) => run.id === id))

export const claimShelf: Shelf = {
  // What has waited or was tried before stands behind everything new.
  'order-ignores-submitted-at': seeing(({ attempt, place }) => ({ place: attempt > 0 ? NEVER : place })),
  'order-ignores-priority': seeing(({ submittedAt }) => ({ place: submittedAt })),
  'lane-by-lane': seeing((row, _request, { tables }) => {
    const lanes = [...new Set(rowsOf(tables).map(({ lane }) => JSON.stringify(lane)))]
    return { place: lanes.indexOf(JSON.stringify(row.lane)) * 1e13 + row.place }
  }),
  'ties-by-text': seeing((row, _request, { tables }) => ({ seq: [...tables.runs.keys()].sort().indexOf(row.id) })),
  'category-ignored': asking((request) => without(request, 'categories')),
  'uncategorised-left-out': asking((request, { tables }) => ({
    categories: rowsOf(tables).flatMap(({ lane }) => lane.category ?? []),
    ...request,
  })),
  'task-ignored': asking((request, { tables }) => ({ ...request, tasks: rowsOf(tables).map(({ lane }) => lane.task) })),
  'limit-ignored': asking((request) => ({ ...request, limit: NEVER })),
  'due-never-comes': seeing(({ dueAt }) => (dueAt === undefined ? {} : { dueAt: NEVER })),
  'due-a-moment-early': seeing(({ dueAt }) => (dueAt === undefined ? {} : { dueAt: dueAt - 1 })),
  'overdue-review-stays': seeing(({ state }) => (state === 'review' ? { dueAt: NEVER } : {})),
  'review-given-out': claiming({
    before: ({ tables }) => {
      for (const row of rowsOf(tables))
        if (row.state === 'review') Object.assign(row, { state: 'ready', dueAt: undefined })
    },
  }),
  'finished-given-out': claiming({
    before: ({ tables }) => {
      for (const row of rowsOf(tables).filter(({ state }) => isTerminal(state))) {
        Object.assign(row, { state: 'ready', finishedAt: undefined, output: undefined })
        tables.open.add(row)
      }
    },
  }),
  'promotes-after-choosing': (bench) => ({
    claim: async (request) => {
      const due = rowsOf(bench.tables).filter(({ dueAt }) => dueAt !== undefined && dueAt <= bench.clock.now())
      for (const row of due) row.dueAt = undefined
      const claim = await bench.store.claim(request)
      for (const row of due) row.state = 'ready'
      return claim
    },
  }),
  'token-reused': claiming({
    after: (claim, { tables }) => {
      for (const row of given(claim, rowsOf(tables))) row.lease = row.lease && { ...row.lease, token: 1 }
      return { ...claim, token: 1 }
    },
  }),
  'token-per-run': claiming({
    after: (claim, { tables }) => {
      for (const [index, row] of given(claim, rowsOf(tables)).entries())
        row.lease = row.lease && { ...row.lease, token: row.lease.token + index }
      return claim
    },
  }),
  'live-lease-ignored': claiming({
    before: ({ tables }) => {
      for (const row of rowsOf(tables)) row.lease = undefined
    },
  }),
  'choose-then-lease': (bench) => ({
    claim: async (request) => {
      const free = rowsOf(bench.tables).filter(({ lease }) => lease === undefined)
      await gap()
      for (const row of free) row.lease = undefined
      return bench.store.claim(request)
    },
  }),
  'attempt-not-counted': claiming({
    after: (claim, { tables }) => {
      for (const row of given(claim, rowsOf(tables))) row.attempt -= 1
      return { ...claim, runs: claim.runs.map((run) => ({ ...run, attempt: run.attempt - 1 })) }
    },
  }),
  'lease-in-local-time': asking((request) => ({ ...request, leaseMs: request.leaseMs + HOUR_MS })),
  'nonce-ignored': (bench) => {
    let calls = 0
    return {
      claim: (request) => {
        calls += 1
        return bench.store.claim({ ...request, nonce: `${request.nonce} ${calls}` })
      },
    }
  },
  'nonce-revives': (bench) => {
    const answers = new Map<string, Claim>()
    return {
      claim: async (request) => {
        const claim = answers.get(request.nonce) ?? (await bench.store.claim(request))
        answers.set(request.nonce, claim)
        return claim
      },
    }
  },
  'next-too-late': claiming({
    after: (claim) => (claim.nextAt === undefined ? claim : { ...claim, nextAt: claim.nextAt + 1 }),
  }),
  'empty-claim-leases': claiming({
    after: (claim, { tables }) => {
      if (claim.runs.length === 0) for (const row of rowsOf(tables)) row.attempt += 1
      return claim
    },
  }),
}
