/**
 * `verifyStore`: the store's own check of its invariants and, if asked, every decision computed again.
 * It finds and tells; it repairs nothing.
 */
import type { Finding, Store } from '../ports/store.ts'
import { explainHistory, policiesOf } from './explain.ts'
import { parseFilter } from './filter.ts'
import { matchingRuns } from './find-runs.ts'

export interface Verified {
  readonly store: string
  readonly findings: readonly Finding[]
  /** Runs and decisions that were computed again; absent when that was not asked for. */
  readonly recomputed?: { readonly runs: number; readonly decisions: number; readonly unknown: number }
}

export interface VerifyOptions {
  /** Compute every stored decision again, which reads all of history. */
  readonly decisions?: boolean
}

export async function verifyStore(store: Store, options: VerifyOptions = {}): Promise<Verified> {
  const own = await store.verify()
  if (!options.decisions) return { store: store.name, findings: own }
  const findings: Finding[] = [...own]
  const recomputed = { runs: 0, decisions: 0, unknown: 0 }
  for await (const run of matchingRuns(store, parseFilter('', { now: 0 }))) {
    const history = await store.attempts(run.id)
    if (history.length === 0) continue
    const { steps } = explainHistory(run, history, await policiesOf(store, history))
    recomputed.runs += 1
    for (const { verdict, attempt, generation, differs } of steps) {
      if (verdict === 'equal' || verdict === 'different') recomputed.decisions += 1
      if (verdict === 'unknown') recomputed.unknown += 1
      if (verdict === 'different') {
        const found = `attempt ${attempt} of generation ${generation} comes out different in ${differs.join(', ')}`
        findings.push({ law: 'a decision follows from its inputs', run: run.id, found })
      }
    }
  }
  return { store: store.name, findings, recomputed }
}
