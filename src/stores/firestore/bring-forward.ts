/**
 * When a resource answers again: runs that wait to try it again, and were claimed before that, become ready.
 * It follows the write that said so, document by document; who dies in between leaves the rest to wait as they were told.
 */
import { covers, type HoldTarget } from '../../run/hold.ts'
import { read } from './look.ts'
import type { Place } from './place.ts'
import type { Row } from './row.ts'
import { atomically, docOf } from './unit.ts'

const PAGE = 100
/** More than this become ready by their own time. */
const PAGES_MAX = 20

export interface Healed {
  readonly what: HoldTarget
  /** Tokens up to this one were given before it answered. */
  readonly after: number
}

export async function bringForward(place: Place, { what, after }: Healed, now: number): Promise<void> {
  const waits = (row: Row) =>
    row.state === 'waiting' &&
    row.dueAt !== undefined &&
    row.again === true &&
    (row.endedBy ?? 0) <= after &&
    covers(what, row.lane)
  const later = place.runs.where('lanes', 'array-contains', what).where('dueAt', '>', now).orderBy('dueAt').limit(PAGE)
  let page = await read(place, later)
  for (let pages = 1; ; pages += 1) {
    const docs = page.docs.filter((snapshot) => [...(docOf(place, snapshot)?.rows.values() ?? [])].some(waits))
    await Promise.all(
      docs.map(({ id }) =>
        atomically(place, async (unit) => {
          const rows = [...((await unit.doc(id))?.rows.values() ?? [])].filter(waits)
          for (const row of rows) Object.assign(row, { state: 'ready', dueAt: undefined, readyAt: now })
        }),
      ),
    )
    const last = page.docs.at(-1)
    if (page.size < PAGE || !last || pages >= PAGES_MAX) return
    page = await read(place, later.startAfter(last))
  }
}
