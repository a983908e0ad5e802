/**
 * `explain`: computes every decision of a run's history again, from the inputs stored beside it, and says whether it comes out the same.
 * It reads and compares; nothing is decided anew and nothing is written.
 */
import type { Failure } from '../failure/failure.ts'
import { decide } from '../policy/decide.ts'
import type { Decision } from '../policy/decision.ts'
import type { Policy } from '../policy/policy.ts'
import { say } from '../policy/say.ts'
import type { Ledgers } from '../policy/situation.ts'
import type { RunView, Store } from '../ports/store.ts'
import type { AttemptRecord } from '../run/run.ts'
import { type FoldedRecord, foldHistory } from './fold-history.ts'

/** `unknown`: the policy of that day is not in the store. `undecided`: nothing had to be decided. */
export type Verdict = 'equal' | 'different' | 'unknown' | 'undecided'

/** What `decide` was asked, as far as it is stored or follows from the rows before. */
export interface DecisionInputs {
  readonly now: number
  readonly dice: number
  readonly policy: { readonly hash: string; readonly name?: string }
  readonly ledgers: Ledgers
  readonly attempt: number
  readonly rung: number
  readonly noProgress: boolean
  readonly deadlineAt?: number
}

export interface ExplainedStep {
  readonly generation: number
  readonly attempt: number
  readonly worker: string
  readonly startedAt: number
  readonly endedAt: number
  readonly outcome: AttemptRecord['outcome']
  readonly verdict: Verdict
  readonly failure?: Failure
  readonly inputs?: DecisionInputs
  readonly decision?: Decision
  readonly recomputed?: Decision
  /** Fields of the decision that differ. */
  readonly differs: readonly string[]
  /** The reason in words, as of the moment of the decision. */
  readonly sentence?: string
}

export interface Explained {
  readonly run: RunView
  readonly steps: readonly ExplainedStep[]
  /** `different` when any of the steps is; else `unknown` when any of them is. */
  readonly verdict: 'equal' | 'different' | 'unknown'
  /** Whether the run's ledgers are what its history adds up to. */
  readonly ledgers: 'equal' | 'different'
}

export interface ExplainOptions {
  /** Only this attempt. */
  readonly attempt?: number
  /** Only this generation. */
  readonly generation?: number
  /** IANA zone of times in sentences; UTC when absent. */
  readonly zone?: string
}

/** `undefined` when there is no such run. */
export async function explain(
  store: Store,
  runId: string,
  options: ExplainOptions = {},
): Promise<Explained | undefined> {
  const run = await store.get({ id: runId })
  if (!run) return undefined
  const history = await store.attempts(run.id)
  return explainHistory(run, history, await policiesOf(store, history), options)
}

/** The same from rows at hand: pure. Policies are by their hash. */
export function explainHistory(
  run: RunView,
  history: readonly AttemptRecord[],
  policies: ReadonlyMap<string, Policy>,
  options: ExplainOptions = {},
): Explained {
  const folded = foldHistory(history, policies)
  const { attempt, generation } = options
  const steps = folded
    .filter(({ record }) => attempt === undefined || record.attempt === attempt)
    .filter(({ record }) => generation === undefined || record.generation === generation)
    .map((each) => explainRecord(each, policies, options.zone))
  const isAny = (verdict: Verdict) => steps.some((step) => step.verdict === verdict)
  return {
    run,
    steps,
    verdict: isAny('different') ? 'different' : isAny('unknown') ? 'unknown' : 'equal',
    ledgers: ledgersHold(run, folded) ? 'equal' : 'different',
  }
}

function explainRecord(
  { record, before }: FoldedRecord,
  policies: ReadonlyMap<string, Policy>,
  zone = 'UTC',
): ExplainedStep {
  const { generation, attempt, worker, startedAt, endedAt, outcome, failure, decision, dice, policy: hash } = record
  const why = decision?.why ?? record.why
  const told = {
    ...{ generation, attempt, worker, startedAt, endedAt, outcome },
    ...(failure ? { failure } : {}),
    ...(why ? { sentence: say(why, { now: endedAt, zone }) } : {}),
  }
  if (!failure || !decision || dice === undefined || hash === undefined)
    return { ...told, verdict: 'undecided', differs: [] }
  const policy = policies.get(hash)
  const inputs: DecisionInputs = {
    now: endedAt,
    dice,
    policy: { hash, ...(policy ? { name: policy.name } : {}) },
    ledgers: before,
    attempt,
    rung: record.rung ?? 0,
    noProgress: record.noProgress ?? false,
    ...(record.deadlineAt === undefined ? {} : { deadlineAt: record.deadlineAt }),
  }
  if (!policy) return { ...told, inputs, decision, verdict: 'unknown', differs: [] }
  const recomputed = decide({ ...inputs, policy, failure })
  const differs = differences(decision, recomputed)
  return { ...told, inputs, decision, recomputed, verdict: differs.length === 0 ? 'equal' : 'different', differs }
}

function differences(stored: Decision, recomputed: Decision): string[] {
  const fields = new Set([...Object.keys(stored), ...Object.keys(recomputed)]) as Set<keyof Decision>
  return [...fields].filter((field) => canonical(stored[field]) !== canonical(recomputed[field]))
}

/** Equal values give equal texts, whatever the order of their keys; an absent field and an undefined one are the same. */
function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_key, inner: unknown) =>
      inner !== null && typeof inner === 'object' && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    ) ?? 'absent'
  )
}

function ledgersHold(run: RunView, folded: readonly FoldedRecord[]): boolean {
  const last = folded.findLast(({ record }) => record.generation === run.generation)
  const { errorsByKind: _sum, ...counts } = run.ledgers
  return Object.entries(counts).every(([name, used]) => used === (last?.after[name as keyof typeof counts] ?? 0))
}

/** Every policy that the rows name, as far as the store has it. */
export async function policiesOf(
  store: Store,
  history: readonly AttemptRecord[],
): Promise<ReadonlyMap<string, Policy>> {
  const hashes = [...new Set(history.flatMap(({ policy }) => policy ?? []))]
  const kept = await Promise.all(hashes.map(async (hash) => [hash, await store.policy(hash)] as const))
  // What the engine kept under a hash of its content came out of `definePolicy`.
  return new Map(kept.flatMap(([hash, text]) => (text === undefined ? [] : [[hash, JSON.parse(text) as Policy]])))
}
