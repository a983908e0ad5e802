/**
 * `stats`: how many runs are where, which failures lead, and one true sentence about it.
 * A read model; the sentence is a pure function of the numbers.
 */
import type { Kind } from '../failure/failure.ts'
import type { StateCount, Store } from '../ports/store.ts'
import type { StateWord } from '../run/run.ts'

export type StateCounts = Readonly<Record<StateWord, number>>

export interface Stats {
  readonly now: number
  readonly total: number
  readonly states: StateCounts
  readonly tasks: readonly { readonly task: string; readonly total: number; readonly states: StateCounts }[]
  /** What failed and waiting runs failed with, most first; of the newest {@link FAILURES_LOOKED}. */
  readonly failures: readonly { readonly kind: Kind; readonly code: string; readonly runs: number }[]
  readonly sentence: string
}

/** The newest runs with a failure that are looked at to find the leading codes. */
export const FAILURES_LOOKED = 1_000

/** Up to this share of failed runs nearly everything is right. */
const NEARLY_RIGHT_SHARE = 0.01

const NO_RUNS: StateCounts = {
  blocked: 0,
  ready: 0,
  running: 0,
  waiting: 0,
  review: 0,
  succeeded: 0,
  failed: 0,
  cancelled: 0,
}

export async function stats(store: Store): Promise<Stats> {
  const counts = await store.count({})
  const open = await store.find({ states: ['waiting', 'review', 'failed'], limit: FAILURES_LOOKED })
  const byCode = Map.groupBy(
    open.runs.flatMap(({ failure }) => failure ?? []),
    ({ code }) => code,
  )
  const failures = [...byCode.values()].flatMap((members) =>
    members[0] ? [{ kind: members[0].kind, code: members[0].code, runs: members.length }] : [],
  )
  const states = sumOf(counts)
  return {
    now: open.now,
    total: totalOf(states),
    states,
    tasks: [...Map.groupBy(counts, ({ task }) => task)].map(([task, ofTask]) => {
      const sum = sumOf(ofTask)
      return { task, total: totalOf(sum), states: sum }
    }),
    failures: failures.sort((a, b) => b.runs - a.runs),
    sentence: sentenceOf(states),
  }
}

/** The verdict, then what is behind it. */
export function sentenceOf(states: StateCounts): string {
  const { ready, running, waiting, review, succeeded, failed } = states
  const total = totalOf(states)
  if (total === 0) return 'No runs yet.'
  const clauses = [
    failed > 0 && `${failed} failed`,
    review > 0 && `${review} with a person`,
    running > 0 && `${running} running`,
    ready > 0 && `${ready} ready`,
    waiting > 0 && `${waiting} waiting`,
    succeeded > 0 && `${succeeded} right`,
  ].filter(Boolean)
  return `${verdictOf(states)}: ${clauses.join(', ') || `${total} cancelled or blocked`}.`
}

function verdictOf({ ready, running, review, succeeded, failed }: StateCounts): string {
  if (ready > 0 && running === 0) return 'Nothing moves'
  if (failed === 0) return review === 0 ? 'All is right' : 'A person is needed'
  return failed / (failed + succeeded) < NEARLY_RIGHT_SHARE ? 'Nearly everything is right' : 'Something is wrong'
}

function sumOf(counts: readonly StateCount[]): StateCounts {
  const sum: Record<StateWord, number> = { ...NO_RUNS }
  for (const { state, runs } of counts) sum[state] += runs
  return sum
}

const totalOf = (states: StateCounts) => Object.values(states).reduce((sum, runs) => sum + runs, 0)
