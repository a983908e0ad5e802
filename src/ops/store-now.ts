/**
 * The store's time, for readers: every countdown and every "since" is told by the clock that made the instants.
 */
import type { Store } from '../ports/store.ts'

export async function storeNow(store: Store): Promise<number> {
  return (await store.find({ limit: 1 })).now
}
