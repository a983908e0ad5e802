/**
 * Which run is meant by what somebody typed: an id, `task/key`, or a key alone; and the nearest ones when there is none.
 */
import type { RunView, Store } from '../ports/store.ts'

export type ResolvedRun =
  | { readonly found: RunView }
  /** Several tasks have a run under this key. */
  | { readonly several: readonly RunView[] }
  /** Ids or keys that look like it, the nearest first. */
  | { readonly nearest: readonly string[] }

/** Newest runs that are looked at for near names. */
const LOOKED_MAX = 500
const NEAREST_MAX = 3

export async function resolveRun(store: Store, word: string): Promise<ResolvedRun> {
  const byId = await store.get({ id: word })
  if (byId) return { found: byId }
  // A key may hold slashes itself, a task's name may not.
  const slash = word.indexOf('/')
  if (slash > 0) {
    const byTask = await store.get({ task: word.slice(0, slash), key: word.slice(slash + 1) })
    if (byTask) return { found: byTask }
  }
  const { runs } = await store.find({ key: word, limit: 10 })
  const [only, second] = runs
  if (only && !second) return { found: only }
  return only ? { several: runs } : { nearest: await nearestTo(store, word) }
}

async function nearestTo(store: Store, word: string): Promise<string[]> {
  const { runs } = await store.find({ limit: LOOKED_MAX })
  const names = runs.flatMap(({ id, key }) => (key === undefined ? [id] : [id, key]))
  const near = [...new Set([...(await neighbours(store, word)), ...names])]
    .map((name) => ({ name, shared: sharedStart(name, word) }))
    .filter(({ name, shared }) => shared >= Math.max(2, Math.ceil(Math.max(name.length, word.length) * 0.6)))
    .sort(
      (a, b) => b.shared - a.shared || Math.abs(a.name.length - word.length) - Math.abs(b.name.length - word.length),
    )
  return near.slice(0, NEAREST_MAX).map(({ name }) => name)
}

/** A digit too few or too many is the usual slip with a numbered id; such runs may be older than the newest ones. */
async function neighbours(store: Store, word: string): Promise<string[]> {
  if (!/^[A-Za-z]\d{1,15}$/.test(word)) return []
  const candidates = [...Array.from({ length: 10 }, (_, digit) => `${word}${digit}`), word.slice(0, -1)]
  const found = await Promise.all(candidates.map((id) => store.get({ id })))
  return found.flatMap((run) => run?.id ?? []).reverse()
}

function sharedStart(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length]?.toLowerCase() === b[length]?.toLowerCase()) length += 1
  return length
}
