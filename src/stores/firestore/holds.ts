/**
 * The holds of the Firestore driver as operators set, release and read them.
 * What a hold allows a claim is in `gates.ts`; when it opens is `run/hold.ts`'s affair.
 */
import type { Committed, HoldView } from '../../ports/store.ts'
import { covers, type HoldOrder, type HoldTarget, heldBy, standing, WAITING_MAX } from '../../run/hold.ts'
import { bringForward } from './bring-forward.ts'
import { isReady } from './expire.ts'
import { currentHold, gateData, holdId, keptOf } from './gates.ts'
import { read } from './look.ts'
import { gatesOf, type Place } from './place.ts'
import { atomically, docOf, nowOf, readRef } from './unit.ts'

export function hold(place: Place, order: HoldOrder): Promise<Committed> {
  return atomically(place, async (unit): Promise<Committed> => {
    unit.set(gatesOf(place).doc(holdId(order.what)), gateData({ kind: 'hold', hold: heldBy(order, unit.now) }))
    const { what, until, why, by } = order
    unit.note({ by, what: 'hold.set', data: { what, why, ...(until === undefined ? {} : { until }) } })
    return { now: unit.now, answer: 'ok' }
  })
}

export async function release(
  place: Place,
  { what, by }: { readonly what: HoldTarget; readonly by: string },
): Promise<Committed> {
  const committed = await atomically(place, async (unit): Promise<Committed> => {
    const known = await readRef(place, gatesOf(place).doc(holdId(what)))
    const kept = keptOf(known)
    if (kept?.kind !== 'hold' || !standing(kept.hold, unit.now)) return { now: unit.now, answer: 'lost' }
    unit.delete(known.ref)
    unit.note({ by, what: 'hold.released', data: { what } })
    return { now: unit.now, answer: 'ok' }
  })
  if (committed.answer === 'ok') await bringForward(place, { what, after: Number.MAX_SAFE_INTEGER }, committed.now)
  return committed
}

export async function holds(place: Place): Promise<{ readonly now: number; readonly holds: readonly HoldView[] }> {
  const page = await read(place, gatesOf(place).where('kind', '==', 'hold'))
  const now = await nowOf(place)
  const views: HoldView[] = []
  for (const snapshot of page.docs) {
    const kept = keptOf(snapshot)
    const current = kept?.kind === 'hold' ? await currentHold(place, kept.hold, now) : undefined
    if (current) views.push({ ...current, waiting: await waitingFor(place, current.what, now) })
  }
  return { now, holds: views.sort((a, b) => (a.what < b.what ? -1 : 1)) }
}

async function waitingFor(place: Place, what: HoldTarget, now: number): Promise<number> {
  const due = place.runs.where('lanes', 'array-contains', what).where('dueAt', '<=', now).limit(WAITING_MAX)
  const docs = (await read(place, due)).docs.flatMap((snapshot) => docOf(place, snapshot) ?? [])
  const waiting = docs
    .flatMap(({ rows }) => [...rows.values()])
    .filter((row) => isReady(row, now) && !row.suspect && covers(what, row.lane))
  return Math.min(WAITING_MAX, waiting.length)
}
