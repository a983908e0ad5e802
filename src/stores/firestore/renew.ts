/**
 * `renew` and `take` of the Firestore driver. A lease is extended beside the flow document, so that siblings are not disturbed;
 * a person's lease on a run in review is one like a worker's.
 */
import type { Renewal, RenewRequest, Taken, TakeRequest } from '../../ports/store.ts'
import { leaseRef, type Place } from './place.ts'
import { splitId } from './row.ts'
import { isConflict, unwritten } from './trouble.ts'
import { atomically, nowOf, readAll, Unit } from './unit.ts'
import { renewedUntil } from './views.ts'

export async function renew(place: Place, { leases, leaseMs }: RenewRequest): Promise<Renewal> {
  const known = leases.flatMap(({ run }) => splitId(run)?.doc ?? [])
  const unit = new Unit(place, await nowOf(place))
  await unit.docs(known)
  const now = await nowOf(place)
  const lost = await Promise.all(
    leases.map(async ({ run, token }) => ((await extend(place, run, token, now + leaseMs, unit)) ? [] : [run])),
  )
  return { now, lost: lost.flat() }
}

async function extend(place: Place, run: string, token: number, until: number, unit: Unit): Promise<boolean> {
  const row = await unit.row(run)
  if (!row?.lease || row.token !== token) return false
  const ref = leaseRef(place, row.doc.id, row.step)
  const [known] = await readAll(place, [ref])
  try {
    const data = { token, until }
    if (known?.updateTime && known.exists) await ref.update(data, { lastUpdateTime: known.updateTime })
    else await ref.create(data)
    return true
  } catch (error) {
    if (!isConflict(error)) throw unwritten(error)
    // Somebody took it away, or this owner extends it twice at once: the documents tell.
    const again = new Unit(place, unit.now)
    const after = await again.row(run)
    if (!after?.lease || after.token !== token) return false
    return extend(place, run, token, until, again)
  }
}

export function take(place: Place, { run, by, leaseMs, expect }: TakeRequest): Promise<Taken> {
  return atomically(place, async (unit): Promise<Taken> => {
    const { now } = unit
    const row = await unit.row(run)
    if (row?.state !== 'review' || row.generation !== expect.generation) return { now, answer: 'lost' }
    const until = (await renewedUntil(place, [row])).get(row.id) ?? 0
    if (row.lease && until > now && row.lease.worker !== by) return { now, answer: 'lost' }
    await unit.revoke(row)
    row.token = place.numbers.token(now, row.token)
    row.lease = { worker: by, until: now + leaseMs, alone: false, claimedAt: now }
    unit.note({ run, by, what: 'review.taken', data: { token: row.token } })
    return { now, answer: 'ok', token: row.token }
  })
}
