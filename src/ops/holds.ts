/**
 * Operators' verbs over holds: list them, set one, release one. Each act stands in the audit.
 * What a hold does is the store's affair; here its name is read and its end is counted from the store's time.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { HoldView, Store } from '../ports/store.ts'
import { type HoldTarget, isHoldTarget } from '../run/hold.ts'
import { storeNow } from './store-now.ts'

export interface HoldsNow {
  readonly now: number
  /** Those with most runs waiting first. */
  readonly holds: readonly HoldView[]
}

const WHAT_MAX = 200
const WHY_MAX = 500

export async function listHolds(store: Store): Promise<HoldsNow> {
  const { now, holds } = await store.holds()
  return { now, holds: [...holds].sort((a, b) => b.waiting - a.waiting) }
}

export interface SetHold {
  readonly what: string
  /** Absent: until it is released. */
  readonly forMs?: number
  readonly why: string
  readonly by: string
}

/** Pauses a task, a resource or a category, whatever hold was there before. Answers with the hold. */
export async function setHold(store: Store, { what, forMs, why, by }: SetHold): Promise<HoldView | undefined> {
  const target = holdTarget(what)
  if (forMs !== undefined && !(Number.isSafeInteger(forMs) && forMs > 0))
    throw new RepriseError('hold.for', `for is ${forMs} ms. Allowed: a duration above 0, or none until it is released.`)
  const words = why.trim()
  if (words === '' || words.length > WHY_MAX)
    throw new RepriseError('hold.why', `why has ${words.length} characters. Allowed: a reason of 1 to ${WHY_MAX}.`)
  const until = forMs === undefined ? {} : { until: (await storeNow(store)) + forMs }
  // An operator knows when it is over, so nobody has to find out: the runs come back without a probe.
  await store.hold({ what: target, ...until, why: words, by, probe: false })
  return (await store.holds()).holds.find((hold) => hold.what === target)
}

/** Opens it at once. False when there is no such hold. */
export async function releaseHold(
  store: Store,
  request: { readonly what: string; readonly by: string },
): Promise<boolean> {
  const { answer } = await store.release({ what: holdTarget(request.what), by: request.by })
  return answer === 'ok'
}

function holdTarget(what: string): HoldTarget {
  if (isHoldTarget(what) && what.length <= WHAT_MAX) return what
  throw new RepriseError(
    'hold.what',
    `${JSON.stringify(what.slice(0, WHAT_MAX))} cannot be held. Allowed: task:<name>, resource:<name> or category:<name>, such as resource:gemini:flash.`,
  )
}
