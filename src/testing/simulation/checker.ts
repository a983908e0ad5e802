/**
 * The history checker: every invariant over one history. It knows nothing of how the history came to be.
 */
import { BUDGETS } from './check-budgets.ts'
import { CALLS } from './check-calls.ts'
import { FLOWS } from './check-flows.ts'
import { GATES } from './check-gates.ts'
import { LEASES } from './check-leases.ts'
import { LEDGERS } from './check-ledgers.ts'
import { REST } from './check-rest.ts'
import { REVIEWS } from './check-reviews.ts'
import { STATES_AND_ENDS } from './check-states.ts'
import { SUBMITS } from './check-submits.ts'
import type { History } from './history.ts'
import type { Invariant } from './invariant.ts'

export const INVARIANTS: readonly Invariant[] = [
  ...SUBMITS,
  ...LEASES,
  ...STATES_AND_ENDS,
  ...LEDGERS,
  ...CALLS,
  ...BUDGETS,
  ...REST,
  ...REVIEWS,
  ...FLOWS,
  ...GATES,
]

export interface Breach {
  readonly invariant: string
  readonly says: string
  readonly found: string
}

/** Every breach of every invariant; empty is well. */
export function check(history: History): readonly Breach[] {
  return INVARIANTS.flatMap(({ id, says, breaches }) =>
    breaches(history).map((found) => ({ invariant: id, says, found })),
  )
}
