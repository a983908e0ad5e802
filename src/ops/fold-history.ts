/**
 * The six ledgers before and after each row of a run's history, computed from the rows alone.
 * It knows what each row means for the ledgers and nothing of how rows are stored or shown.
 */
import { applyEntry } from '../policy/decide.ts'
import type { Policy } from '../policy/policy.ts'
import { EMPTY_LEDGERS, type Ledgers } from '../policy/situation.ts'
import { isLapse, ledgersBeforeLapse } from '../run/lapse.ts'
import type { AttemptRecord } from '../run/run.ts'

export interface FoldedRecord {
  readonly record: AttemptRecord
  /** What the decision about this row started from. */
  readonly before: Ledgers
  readonly after: Ledgers
}

/** Oldest first, as `Store.attempts` gives them. Each generation starts with empty ledgers. Policies are by their hash. */
export function foldHistory(
  history: readonly AttemptRecord[],
  policies: ReadonlyMap<string, Policy> = new Map(),
): FoldedRecord[] {
  let generation = 0
  let attempt = 0
  let ledgers: Ledgers = EMPTY_LEDGERS
  let failure: AttemptRecord['failure']
  return history.map((record) => {
    if (record.generation !== generation) {
      generation = record.generation
      attempt = 0
      ledgers = EMPTY_LEDGERS
      failure = undefined
    }
    const lapsesMax = policies.get(record.policy ?? '')?.lapsesMax ?? Number.POSITIVE_INFINITY
    const before = isLapse(record.failure) ? ledgersBeforeLapse(ledgers, failure, lapsesMax) : ledgers
    ledgers = ledgersAfter(record, before, ledgers.lapses, record.attempt - attempt - 1)
    if (record.outcome !== 'operator') attempt = record.attempt
    // A lapse is found by a claim, and an operator moves a run: neither changes what the last owner left behind.
    if (record.outcome !== 'lapsed' && record.outcome !== 'operator') failure = record.failure
    return { record, before, after: ledgers }
  })
}

function ledgersAfter(record: AttemptRecord, before: Ledgers, lapses: number, unrecorded: number): Ledgers {
  const { outcome, decision, failure } = record
  // Attempts without a row vanished together with their neighbours; they count with the lapse that confirms the suspect.
  if (outcome === 'lapsed') return { ...before, lapses: lapses + 1 + Math.max(0, unrecorded) }
  // Whatever was decided about a lapse, the claim's count of them stands.
  return decision && failure ? { ...applyEntry(before, decision, failure), lapses } : before
}
