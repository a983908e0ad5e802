/**
 * Which run is meant by what somebody typed: an id, `task/key`, a key alone, or the name that its input bears; and the nearest ones when
 * there is none.
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
  if (only) return { several: runs }
  const newest = (await store.find({ limit: LOOKED_MAX })).runs
  // A name stands for the newest run that bears it: a document that was asked about anew.
  const named = newest.filter((run) => nameOf(run) === word)
  const [last] = named.sort((a, b) => b.submittedAt - a.submittedAt)
  return last ? { found: last } : { nearest: await nearestTo(store, word, newest) }
}

/** Documents are known by their names, and a key that must tell their bytes apart is no name. */
function nameOf({ input }: RunView): unknown {
  if (!input.startsWith('{"name":')) return undefined
  return (JSON.parse(input) as { readonly name: unknown }).name
}

async function nearestTo(store: Store, word: string, runs: readonly RunView[]): Promise<string[]> {
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
