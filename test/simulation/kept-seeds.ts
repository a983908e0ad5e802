/**
 * Seeds that fail when the bug they stand for is there, each a bug that the simulation once found. They are run for ever, whatever
 * else is run; the bugs themselves are kept among the planted ones.
 */
export const KEPT_SEEDS: ReadonlyArray<readonly [seed: number, found: string]> = [
  [2, 'each take of a call was charged with those before'],
  [14, 'a journal that could not be read became the run’s failure'],
  [8, 'a fast clock ran away from the store’s'],
  [34, 'a fourth crash ended a run without a person'],
  [155, 'a crash was taken off the ledger when the next owner stopped'],
  [17, 'a call was sent after a slow intent, when the lease was lost'],
]
