/**
 * What `verify` of the Firestore driver checks besides runs: holds, buckets and budgets as they are stored.
 * It repairs nothing.
 */
import type { Finding } from '../../ports/store.ts'
import { NO_TALLY, placesOfSpend, type Spend, type Tally } from '../../run/budget.ts'
import { faultOfBucket, faultOfHold } from '../../run/check-hold.ts'
import { bucketId, holdId, keptOf } from './gates.ts'
import { read } from './look.ts'
import { gatesOf, type Place, spendsOf, windowsOf } from './place.ts'

export async function verifyBeside(place: Place): Promise<Finding[]> {
  return [...(await brokenGates(place)), ...(await brokenBudgets(place))]
}

async function brokenGates(place: Place): Promise<Finding[]> {
  const page = await read(place, gatesOf(place))
  return page.docs.flatMap((snapshot) => {
    const kept = keptOf(snapshot)
    if (kept?.kind === 'hold') {
      const { hold } = kept
      const isAstray = snapshot.id !== holdId(hold.what)
      const found = isAstray ? `the hold ${hold.what} is kept under another name` : faultOfHold(hold.what, hold)
      return found === undefined ? [] : [{ law: 'a hold is of something, and in one of its phases', found }]
    }
    if (kept?.kind !== 'bucket') return []
    const { bucket } = kept
    const isAstray = snapshot.id !== bucketId(bucket.resource)
    const found = isAstray
      ? `the bucket of ${bucket.resource} is kept under another name`
      : faultOfBucket(bucket.resource, bucket)
    return found === undefined ? [] : [{ law: 'a bucket is of its resource, and in one of its phases', found }]
  })
}

const FIGURES = ['callsReserved', 'callsSpent', 'nanoReserved', 'nanoSpent'] as const

async function brokenBudgets(place: Place): Promise<Finding[]> {
  const counted = new Map<string, Tally>()
  const name = (budget: string, window: string, key: string) => JSON.stringify([budget, window, key])
  for (const snapshot of (await read(place, spendsOf(place))).docs) {
    const spend = snapshot.data() as Spend & { readonly run: string }
    for (const { budget, window, key } of placesOfSpend(spend, spend.run)) {
      const before = counted.get(name(budget, window, key)) ?? NO_TALLY
      counted.set(name(budget, window, key), withSpend(before, spend))
    }
  }
  return (await read(place, windowsOf(place))).docs.flatMap((snapshot) => {
    const { budget, window, key, tally: text } = snapshot.data()
    const tally = JSON.parse(String(text)) as Tally
    const calls = counted.get(name(budget, window, key)) ?? NO_TALLY
    const { callsReserved, callsSpent, nanoReserved, nanoSpent, nanoOver, callsLimit, nanoLimit } = tally
    const isAbove =
      callsReserved + callsSpent > (callsLimit ?? Number.POSITIVE_INFINITY) ||
      nanoReserved + nanoSpent - nanoOver > (nanoLimit ?? Number.POSITIVE_INFINITY)
    const differs = FIGURES.some((figure) => tally[figure] !== calls[figure])
    const run = window === 'run' ? { run: String(key) } : {}
    const told = `${budget} ${key}`
    return [
      ...(differs
        ? [{ ...run, law: 'spent and reserved are the sum of the calls', found: `${told} differs from its calls` }]
        : []),
      ...(isAbove
        ? [{ ...run, law: 'no window is above its limit', found: `${told} has given out more than its limit` }]
        : []),
    ]
  })
}

function withSpend(tally: Tally, { state, nano }: Spend): Tally {
  if (state === 'released') return tally
  return state === 'reserved'
    ? { ...tally, callsReserved: tally.callsReserved + 1, nanoReserved: tally.nanoReserved + nano }
    : { ...tally, callsSpent: tally.callsSpent + 1, nanoSpent: tally.nanoSpent + nano }
}
