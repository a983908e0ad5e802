/**
 * The laws of the simulation's checker that need no step-by-step record of the store, applied to what real processes left behind.
 */
import { check } from '../../src/testing/simulation/checker.ts'
import type { ClientLine, Dump, EventLine, History } from '../../src/testing/simulation/history.ts'
import type { Evidence } from './evidence.ts'
import { CHAOS_TASK } from './job.ts'

/** Submits, ledgers, waits, steps, recomputed decisions, rest, and the store's own check. */
const LAWS: ReadonlySet<string> = new Set(['I1', 'I3', 'I10', 'I11', 'I12', 'I19', 'I22', 'explain'])

export function sharedBreaches(evidence: Evidence): string[] {
  return check(historyOf(evidence))
    .filter(({ invariant }) => LAWS.has(invariant))
    .map(({ invariant, says, found }) => `${invariant}: ${found} (${says})`)
}

function historyOf({ submits, lines, runs, notes, policies, findings }: Evidence): History {
  const clients = submits.map(
    ({ n, key, phase, run, created }, seq): ClientLine => ({
      ...{
        log: 'client',
        seq,
        at: seq,
        process: 'submitter',
        op: seq,
        does: 'submit',
        phase,
        task: CHAOS_TASK.name,
        key,
        item: n,
      },
      ...(run === undefined ? {} : { run }),
      ...(created === undefined ? {} : { created }),
    }),
  )
  const events = lines.flatMap(({ at, worker, event }, seq): EventLine[] =>
    event ? [{ log: 'event', seq, at, process: worker, event }] : [],
  )
  const dump: Dump = {
    at: lines.at(-1)?.at ?? 0,
    runs,
    gone: [],
    links: {},
    attempts: Object.fromEntries(runs.map(({ id, attempts }) => [id, attempts])),
    journals: Object.fromEntries(runs.map(({ id, generation, journal }) => [id, { [generation]: journal }])),
    notes: notes.map((note) => ({ at: 0, ...note })),
    policies: Object.fromEntries(policies),
    findings,
    artifacts: {},
    budgets: [],
  }
  return {
    ...{
      seed: 0,
      steps: 0,
      lines: [...clients, ...events],
      dump,
      quietFrom: 0,
      slots: 0,
      claimBoundMs: 0,
      limits: [],
      ageingMs: 0,
      timersLeft: 0,
    },
    ...{ unstopped: [], policyOf: { [CHAOS_TASK.name]: CHAOS_TASK.policy }, canaries: [] },
  }
}
