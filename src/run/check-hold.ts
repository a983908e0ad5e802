/**
 * What must be true of a hold and of a bucket as they are stored, for the drivers' own check.
 * It repairs nothing and knows nothing of runs.
 */
import type { Hold } from './hold.ts'
import type { RetryBucket } from './retry-bucket.ts'

/** What is wrong with a hold that is kept under this name, in one sentence; `undefined` is well. */
export function faultOfHold(name: string, hold: Hold): string | undefined {
  const { what, phase, probing, admittingSince, until } = hold
  if (!/^(task|resource|category):/.test(name)) return `the hold ${name} is of nothing that can be held`
  if (what !== name) return `the hold ${name} says that it is of ${what}`
  if (phase !== 'held' && phase !== 'probing' && phase !== 'admitting') return `the hold ${name} is ${phase}`
  if ((phase === 'probing') !== (probing !== undefined))
    return `the hold ${name} is ${phase}, its probe is ${probing?.run ?? 'none'}`
  if ((phase === 'admitting') !== (admittingSince !== undefined))
    return `the hold ${name} is ${phase}, it lets runs in since ${admittingSince ?? 'never'}`
  if (phase !== 'held' && until === undefined) return `the hold ${name} is ${phase}, but has no end`
  if (until !== undefined && admittingSince !== undefined && until > admittingSince)
    return `the hold ${name} lets runs in since ${admittingSince}, before its end ${until}`
  return undefined
}

/** The same for a bucket. */
export function faultOfBucket(name: string, bucket: RetryBucket): string | undefined {
  const { resource, health, phase, healingSince } = bucket
  if (resource !== name) return `the bucket of ${name} says that it is of ${resource}`
  if (!(health >= 0 && health <= 1)) return `the bucket of ${name} has health ${health}`
  if (phase !== 'watched' && phase !== 'failing' && phase !== 'healing') return `the bucket of ${name} is ${phase}`
  if ((phase === 'healing') !== (healingSince !== undefined))
    return `the bucket of ${name} is ${phase}, it heals since ${healingSince ?? 'never'}`
  return undefined
}
