/** Stores that forget, confuse or hurry the needs between runs. */
import type { Committed, NewFlow } from '../../../src/ports/store.ts'
import { checkFlow } from '../../../src/run/check-flow.ts'
import { isEndedByNeed } from '../../../src/run/need.ts'
import { isTerminal } from '../../../src/run/run.ts'
import { beginAgain } from '../../../src/stores/memory/begin.ts'
import type { Row } from '../../../src/stores/memory/rows.ts'
import { type Bench, ending, rowsOf, type Sabotage, type Shelf, without } from './bench.ts'

const creating =
  (change: (flow: NewFlow, bench: Bench) => NewFlow): Sabotage =>
  (bench) => ({ createFlow: (flow) => bench.store.createFlow(change(flow, bench)) })

/** What became of other runs is undone after the write. */
const undoing =
  (verb: 'commit' | 'steer', undo: (row: Row, before: Row, bench: Bench) => void): Sabotage =>
  (bench) => {
    const undone = async <Answer extends Pick<Committed, 'moved'>>(call: () => Promise<Answer>): Promise<Answer> => {
      const before = rowsOf(bench.tables).map(
        (row) => [row, { ...row, needs: row.needs.map((need) => ({ ...need })) }] as const,
      )
      const committed = await call()
      const moved = new Set(committed.moved?.map(({ run }) => run))
      for (const [row, was] of before) if (moved.has(row.id)) undo(row, was, bench)
      return committed
    }
    return verb === 'commit'
      ? { commit: (change) => undone(() => bench.store.commit(change)) }
      : { steer: (act) => undone(() => bench.store.steer(act)) }
  }

function putBack(row: Row, before: Row, { tables }: Bench): void {
  const { needs: _needs, dependents: _dependents, history: _history, journals: _journals, ...fields } = before
  Object.assign(row, fields)
  if (!isTerminal(row.state)) tables.open.add(row)
  else tables.open.delete(row)
}

const wake = (row: Row): void => {
  row.state = 'ready'
  row.why = undefined
}

export const flowShelf: Shelf = {
  'flow-unblocked': creating((flow) => ({ ...flow, steps: flow.steps.map((step) => ({ ...step, needs: [] })) })),
  'flow-key-forgotten': creating((flow) => without(flow, 'key')),
  'flow-conflict-ignored': creating((flow, { tables }) => {
    const [known] = [...tables.flows.values()]
    return known?.fingerprint === undefined ? flow : { ...flow, fingerprint: known.fingerprint }
  }),
  'flow-half-created': (bench) => ({
    createFlow: async (flow) => {
      try {
        checkFlow(flow)
      } catch (error) {
        const { steps } = flow
        await bench.store.create(steps.slice(0, 1))
        throw error
      }
      return bench.store.createFlow(flow)
    },
  }),
  'unblocked-by-any-need': ending({
    after: (row, _before, { state }) => {
      for (const { dependent } of row.dependents)
        if (state === 'succeeded' && dependent.state === 'blocked') wake(dependent)
    },
  }),
  'never-unblocked': undoing('commit', (row, before, bench) => {
    if (row.state === 'ready') putBack(row, before, bench)
  }),
  'successes-together-move-nobody': (bench) => {
    let ends = 0
    return {
      commit: async (change) => {
        ends += 1
        const first = ends === 1
        const committed = await bench.store.commit(change)
        return first ? committed : without(committed, 'moved')
      },
    }
  },
  'need-failure-stops-short': undoing('commit', (row, before, bench) => {
    const nearest = row.needs.some(({ needed }) => needed.attempt > 0)
    if (!nearest) putBack(row, before, bench)
  }),
  'skip-as-failure': creating((flow) => ({
    ...flow,
    steps: flow.steps.map((step) => ({ ...step, onNeedFailed: 'fail' as const })),
  })),
  'cancel-strands-dependents': undoing('steer', (row, before, bench) => {
    if (row.generation === before.generation) putBack(row, before, bench)
  }),
  'wait-ends': creating((flow) => ({
    ...flow,
    steps: flow.steps.map((step) => ({ ...step, onNeedFailed: 'fail' as const })),
  })),
  'retry-alone': undoing('steer', (row, before, bench) => {
    if (row.generation > before.generation) putBack(row, before, bench)
  }),
  'retry-too-much': (bench) => ({
    steer: async (act) => {
      const committed = await bench.store.steer(act)
      for (const row of act.type === 'retry' && committed.answer === 'ok' ? rowsOf(bench.tables) : []) {
        if (!isEndedByNeed(row.why)) continue
        beginAgain(bench.tables, row, bench.clock.now(), act)
        row.state = 'blocked'
      }
      return committed
    },
  }),
  'retry-begins-others-again': (bench) => ({
    steer: async (act) => {
      const committed = await bench.store.steer(act)
      const row = bench.tables.runs.get(act.run)
      for (const { dependent } of act.type === 'retry' ? (row?.dependents ?? []) : []) {
        if (dependent.state !== 'cancelled') continue
        beginAgain(bench.tables, dependent, bench.clock.now(), act)
        dependent.state = 'blocked'
      }
      return committed
    },
  }),
  'retry-against-need': (bench) => ({
    steer: async (act) => {
      const row = bench.tables.runs.get(act.run)
      if (act.type !== 'retry' || !row || !isEndedByNeed(row.why)) return bench.store.steer(act)
      beginAgain(bench.tables, row, bench.clock.now(), act)
      return { now: bench.clock.now(), answer: 'ok' }
    },
  }),
  'flow-retry-without-deadline': creating((flow, { tables }) =>
    tables.flows.size === 0 ? flow : { ...flow, steps: flow.steps.map((step) => without(step, 'deadlineAt')) },
  ),
  'flow-never-retried': creating((flow) => ({ ...flow, onExisting: 'return' })),
  'stale-end-unblocks': (bench) => ({
    commit: async (change) => {
      const committed = await bench.store.commit(change)
      const row = bench.tables.runs.get(change.run)
      for (const { dependent } of committed.answer === 'lost' ? (row?.dependents ?? []) : []) wake(dependent)
      return committed
    },
  }),
  'claim-hides-step': (bench) => ({
    claim: async (request) => {
      const claim = await bench.store.claim(request)
      return { ...claim, runs: claim.runs.map((run) => without(run, 'flow', 'step', 'needs')) }
    },
  }),
  'links-without-output': (bench) => ({
    links: async (run) => {
      const links = await bench.store.links(run)
      return { ...links, needs: links.needs.map((need) => without(need, 'output')) }
    },
  }),
  'join-childless': ending({
    after: (row, _before, end, { tables }) => {
      for (const { needed } of end.join ? row.needs : []) tables.open.delete(needed)
    },
  }),
  'join-wakes-early': ending({
    after: (row) => {
      for (const { dependent, kind } of row.dependents) if (kind === 'join') wake(dependent)
    },
  }),
  'children-of-the-refused': (bench) => ({
    commit: async (change) => {
      const committed = await bench.store.commit(change)
      if (committed.answer === 'lost' && change.type === 'end')
        await bench.store.create(change.join?.children ?? change.children ?? [])
      return committed
    },
  }),
  'children-forgotten': ending({ change: (end) => without(end, 'children') }),
  'join-unchecked': (bench) => ({
    commit: async (change) => {
      if (change.type !== 'end' || change.state !== 'blocked') return bench.store.commit(change)
      return bench.store.commit(change).catch(() => bench.store.commit(without({ ...change, state: 'ready' }, 'join')))
    },
  }),
  'child-not-waited-for': (bench) => ({
    steer: async (act) => {
      const committed = await bench.store.steer(act)
      const row = bench.tables.runs.get(act.run)
      for (const need of row?.dependents ?? []) if (act.type === 'retry' && need.join) need.open = false
      return committed
    },
  }),
  'old-join-blocks': (bench) => ({
    steer: async (act) => {
      const committed = await bench.store.steer(act)
      const row = bench.tables.runs.get(act.run)
      if (act.type === 'retry' && row?.needs.some(({ join }) => join)) row.state = 'blocked'
      return committed
    },
  }),
}
