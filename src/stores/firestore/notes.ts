/**
 * Notes and policies of the Firestore driver: what stands beside the runs.
 * It knows nothing of what they say.
 */
import type { Note } from '../../ports/store.ts'
import { read } from './look.ts'
import { named, notesOf, type Place, policies } from './place.ts'
import { isConflict, unwritten } from './trouble.ts'
import { nowOf, readRef, Unit } from './unit.ts'

export async function note(place: Place, noted: Note): Promise<void> {
  const unit = new Unit(place, await nowOf(place))
  unit.note(noted)
  try {
    await unit.commit()
  } catch (error) {
    throw unwritten(error)
  }
}

export async function notes(
  place: Place,
  { run, limit }: { readonly run?: string; readonly limit?: number },
): Promise<(Note & { readonly at: number })[]> {
  const all = run === undefined ? notesOf(place) : notesOf(place).where('run', '==', run)
  const latest = all.orderBy('order', 'desc')
  const page = await read(place, limit === undefined ? latest : latest.limit(limit))
  return page.docs
    .map((snapshot) => snapshot.data())
    .reverse()
    .map(({ order: _place, data, ...rest }) => ({
      ...(rest as Note & { at: number }),
      ...(data === undefined ? {} : { data: JSON.parse(String(data)) as NonNullable<Note['data']> }),
    }))
}

export async function keepPolicy(place: Place, hash: string, policy: string): Promise<void> {
  try {
    await policies(place).doc(named(hash)).create({ hash, policy })
  } catch (error) {
    if (!isConflict(error)) throw unwritten(error)
  }
}

export async function policy(place: Place, hash: string): Promise<string | undefined> {
  const known = await readRef(place, policies(place).doc(named(hash)))
  return known.exists ? String(known.get('policy')) : undefined
}
