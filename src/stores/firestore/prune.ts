/**
 * `prune` of the Firestore driver: ended documents that are old enough go, oldest first, a bounded look at a time.
 * It knows nothing of who asks; how long things are kept is in the request.
 */
import type { CollectionReference, Query } from '@google-cloud/firestore'
import type { Pruned, PruneRequest } from '../../ports/store.ts'
import { isTerminal } from '../../run/run.ts'
import { read } from './look.ts'
import { flowKeyRef, keyRef, keys, notesOf, type Place, spendsOf, turnsOf, windowsOf } from './place.ts'
import { type Doc, type Row, splitId } from './row.ts'
import { isConflict, unwritten } from './trouble.ts'
import { docOf, nowOf, readAll, Unit } from './unit.ts'

/** Documents that one call looks at. */
const LOOK_MAX = 300
/** Keys, notes and windows that one call forgets of each. */
const FORGET_MAX = 300
/** Far longer than any write: one that began before the line was empty has ended. */
const LINE_IDLE_MS = 3_600_000

export async function prune(place: Place, request: PruneRequest): Promise<Pruned> {
  const now = await nowOf(place)
  const { after } = place.pruning
  const closed = place.runs.where('open', '==', false).orderBy('order').limit(LOOK_MAX)
  const page = await read(place, after === undefined ? closed : closed.startAfter(after))
  const isOld = await judge(place, request, now)
  const unit = new Unit(place, now)
  const judged = new Set<string>()
  const pruned: string[] = []
  let isFull = false
  let seen = after
  for (const snapshot of page.docs) {
    const first = judged.has(snapshot.id) ? undefined : docOf(place, snapshot)
    const group = first && !isFull && (await isOld(first)) ? await linkedTo(unit, first) : []
    for (const { id } of group) judged.add(id)
    const runs = group.reduce((sum, { rows }) => sum + rows.size, 0)
    const goes = group.length > 0 && (await every(group, isOld))
    if (goes && pruned.length > 0 && pruned.length + runs > request.limit) isFull = true
    if (isFull) break
    if (goes && (await remove(place, group)))
      pruned.push(...group.flatMap(({ rows }) => [...rows.values()].map(({ id }) => id)))
    seen = snapshot.get('order') as string
  }
  const isThrough = !isFull && page.size < LOOK_MAX
  // After the last document the next call begins anew: what was too young has become older.
  place.pruning.after = isThrough ? undefined : seen
  return { now, pruned, keys: await forget(place, now - request.keysMs, now), more: !isThrough }
}

type Judge = (doc: Doc) => Promise<boolean>

async function judge(place: Place, { keepMs, keepMax, keysMs, only }: PruneRequest, now: number): Promise<Judge> {
  const surplus = new Map<string, Promise<string>>()
  /** The place up to which the ended documents of a task are more than are to be kept. */
  const surplusOf = async (task: string): Promise<string> => {
    if (keepMax === undefined) return ''
    const ended = place.runs.where('tasks', 'array-contains', task).where('open', '==', false).orderBy('order', 'desc')
    const [first] = (await read(place, ended.offset(keepMax).limit(1))).docs
    return first ? String(first.get('order')) : ''
  }
  const isOldRow = async (row: Row): Promise<boolean> => {
    if (!isTerminal(row.state)) return false
    if (only !== undefined && only.get(row.id) !== row.generation) return false
    if ((row.finishedAt ?? now) <= now - (keepMs[row.state] ?? Number.POSITIVE_INFINITY)) return true
    const { task } = row.lane
    if (!surplus.has(task)) surplus.set(task, surplusOf(task))
    return row.doc.order <= ((await surplus.get(task)) ?? '')
  }
  // The key of a flow answers with its steps, so they stay as long as it is kept.
  const isKeyOld = ({ doc, finishedAt = 0 }: Row) => doc.flow?.key === undefined || finishedAt <= now - keysMs
  return ({ rows }) => every([...rows.values()], async (row) => isKeyOld(row) && (await isOldRow(row)))
}

async function every<T>(all: readonly T[], holds: (each: T) => Promise<boolean>): Promise<boolean> {
  for (const each of all) if (!(await holds(each))) return false
  return true
}

/** A document and all that it is linked to by joins, through however many others; oldest first. */
async function linkedTo(unit: Unit, first: Doc): Promise<Doc[]> {
  unit.adopt(first)
  const reached = new Map([[first.id, first]])
  for (const doc of reached.values()) {
    const ids = [...doc.rows.values()].flatMap(({ needs = [], parent }) =>
      [...needs.map(({ run }) => run), ...(parent ? [parent.run] : [])].flatMap((run) => splitId(run)?.doc ?? []),
    )
    await unit.docs(ids)
    for (const id of ids) {
      const other = await unit.doc(id)
      if (other && !reached.has(id)) reached.set(id, other)
    }
  }
  return [...reached.values()].sort((a, b) => (a.order < b.order ? -1 : 1))
}

/** The documents go together, or not at all if one of them was written since; what lies beneath them follows. */
async function remove(place: Place, group: readonly Doc[]): Promise<boolean> {
  const rows = group.flatMap((doc) => [...doc.rows.values()])
  const known = await readAll(
    place,
    rows.flatMap(({ key, lane }) => (key === undefined ? [] : [keyRef(place, lane.task, key)])),
  )
  const batch = place.db.batch()
  for (const { id, updateTime, flow } of group) {
    if (updateTime) batch.delete(place.runs.doc(id), { lastUpdateTime: updateTime })
    if (flow?.key !== undefined) batch.delete(flowKeyRef(place, flow.name, flow.key))
  }
  for (const snapshot of known) {
    const row = rows.find(({ id }) => id === snapshot.get('run'))
    // The key's age counts from the end of its run, however long ago it was submitted.
    if (row) batch.update(snapshot.ref, { goneAt: row.finishedAt ?? 0 })
  }
  try {
    await batch.commit()
  } catch (error) {
    if (!isConflict(error)) throw unwritten(error)
    return false
  }
  await Promise.all(group.map(({ id }) => place.db.recursiveDelete(place.runs.doc(id))))
  return true
}

/** Keys and notes of runs that are gone, and windows of budgets that ended long ago. Answers with the number of keys. */
async function forget(place: Place, before: number, now: number): Promise<number> {
  const old = (from: CollectionReference, field: string): Query => from.where(field, '<=', before).limit(FORGET_MAX)
  const goneKeys = await read(place, old(keys(place), 'goneAt'))
  const windows = await read(place, old(windowsOf(place), 'endsAt'))
  const spends = await read(place, old(spendsOf(place), 'endsAt'))
  const notes = await goneNotes(place, before)
  const refs = [...goneKeys.docs, ...windows.docs, ...spends.docs].map(({ ref }) => ref)
  const batch = place.db.batch()
  for (const ref of [...refs, ...notes]) batch.delete(ref)
  try {
    if (refs.length + notes.length > 0) await batch.commit()
  } catch (error) {
    throw unwritten(error)
  }
  await forgetLines(place, now)
  return goneKeys.size
}

/** Lines of keys in which nobody has stood for a while. Whoever comes now begins a new one, or makes this deletion come second. */
async function forgetLines(place: Place, now: number): Promise<void> {
  const idle = await read(
    place,
    turnsOf(place)
      .where('idleSince', '<=', now - LINE_IDLE_MS)
      .limit(FORGET_MAX),
  )
  for (const { ref, updateTime } of idle.docs) {
    try {
      await ref.delete({ lastUpdateTime: updateTime })
    } catch (error) {
      if (!isConflict(error)) throw unwritten(error)
    }
  }
}

async function goneNotes(place: Place, before: number) {
  const { notesAfter } = place.pruning
  const old = notesOf(place).where('at', '<=', before).orderBy('at').limit(FORGET_MAX)
  const page = await read(place, notesAfter === undefined ? old : old.startAfter(notesAfter))
  // Notes that stay are passed by, and looked at again after the last.
  place.pruning.notesAfter = page.size < FORGET_MAX ? undefined : (page.docs.at(-1)?.get('at') as number)
  const about = page.docs.flatMap((snapshot) => {
    const doc = splitId(String(snapshot.get('run') ?? ''))?.doc
    return doc === undefined ? [] : [{ ref: snapshot.ref, doc }]
  })
  const there = await readAll(
    place,
    about.map(({ doc }) => place.runs.doc(doc)),
  )
  return about.filter((_, index) => !there[index]?.exists).map(({ ref }) => ref)
}
