/**
 * The sabotage shelf: every broken store by its name. The laws name them, and a test sees each law go red on each it names.
 */
import { memoryOn } from '../../../src/stores/memory/index.ts'
import { emptyTables } from '../../../src/stores/memory/rows.ts'
import type { OpenedStore } from '../../../src/testing/store-contract/index.ts'
import type { Clock } from '../../../src/time/clock.ts'
import { damagesBesideOf, damagesOf } from '../memory-store.fixtures.ts'
import type { Sabotage, Shelf } from './bench.ts'
import { besideShelf } from './beside.ts'
import { budgetShelf } from './budget.ts'
import { claimShelf } from './claim.ts'
import { commitShelf } from './commit.ts'
import { createShelf } from './create.ts'
import { findShelf } from './find.ts'
import { flowShelf } from './flow.ts'
import { holdShelf } from './hold.ts'
import { journalShelf } from './journal.ts'
import { keyShelf } from './key.ts'
import { leaseShelf } from './lease.ts'
import { limitShelf } from './limit.ts'
import { pruneShelf } from './prune.ts'
import { pulseShelf } from './pulse.ts'
import { reviewShelf } from './review.ts'
import { steerShelf } from './steer.ts'

export const shelf: Shelf = {
  ...createShelf,
  ...claimShelf,
  ...leaseShelf,
  ...commitShelf,
  ...journalShelf,
  ...reviewShelf,
  ...steerShelf,
  ...pruneShelf,
  ...holdShelf,
  ...limitShelf,
  ...budgetShelf,
  ...keyShelf,
  ...findShelf,
  ...pulseShelf,
  ...flowShelf,
  ...besideShelf,
}

/** A memory store with one fault. */
export function openBroken(sabotage: Sabotage, clock: Clock): OpenedStore {
  const tables = emptyTables()
  const store = memoryOn(tables, { clock })
  const { reopen, ...broken } = sabotage({ store, tables, clock })
  return {
    store: { ...store, ...broken },
    reopen: reopen ?? (async () => memoryOn(tables, { clock })),
    damages: damagesOf(tables),
    damagesBeside: damagesBesideOf(tables),
  }
}
