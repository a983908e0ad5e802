/**
 * Lapses and ledgers: a lapse is counted by the claim that finds it, and judged later by whoever got the run.
 * The engine uses this when it decides, and `explain` when it computes the decision again.
 */
import type { Failure } from '../failure/failure.ts'
import { LAPSED_CODE, type Ledgers } from '../policy/situation.ts'

export const isLapse = (failure: Failure | undefined): boolean => failure?.code === LAPSED_CODE

/**
 * The ledgers that the decision about a lapse starts from: those before the claim counted it. A suspect's lapse counts twice, and a
 * worker may vanish before it decides; a person is asked all the same, unless one was asked about its lapses already (`last`).
 */
export function ledgersBeforeLapse(ledgers: Ledgers, last: Failure | undefined, lapsesMax: number): Ledgers {
  const counted = isLapse(last) ? ledgers.lapses : Math.min(ledgers.lapses, lapsesMax)
  return { ...ledgers, lapses: counted - 1 }
}
