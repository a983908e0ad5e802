/**
 * The Firestore driver of the Store port: a flow is one document, claimed and committed by updates that hold only if nobody wrote it
 * since. Public as `reprise/stores/firestore`; it knows nothing of workers, models or people.
 */
import { RepriseError } from '../../failure/reprise-error.ts'
import type { Store } from '../../ports/store.ts'
import { budgets, setBudget } from './budgets.ts'
import { claim } from './claim.ts'
import { commit } from './commit.ts'
import { create } from './create.ts'
import { attempts, count, find, get } from './find.ts'
import { createFlow, flowOf, linksOf } from './flow.ts'
import { hold, holds, release } from './holds.ts'
import { readJournal } from './journal.ts'
import { keepPolicy, note, notes, policy } from './notes.ts'
import { checkOptions, type FirestoreOptions, openPlace, type Place } from './place.ts'
import { prune } from './prune.ts'
import { pulse } from './pulse.ts'
import { renew, take } from './renew.ts'
import { reorder, steer } from './steer.ts'
import { verify } from './verify.ts'

export { adoptFlow } from './adopt.ts'
export type { FirestoreOptions } from './place.ts'

/** Nonces are asked again within seconds; more than this are long answered. */
const NONCES_MAX = 10_000

export function firestore(options: FirestoreOptions = {}): Store {
  checkOptions(options)
  const listeners = new Set<() => void>()
  const nonces = new Set<string>()
  let opening: Promise<Place> | undefined
  let closed = false

  const ask = async <T>(verb: (place: Place) => Promise<T>): Promise<T> => {
    if (closed) throw new RepriseError('store.unavailable', 'The Firestore store was closed; open a new one.')
    opening ??= openPlace(options).catch((error) => {
      // The next who asks tries again: credentials may come later.
      opening = undefined
      throw error
    })
    return verb(await opening)
  }
  const write = async <T>(verb: (place: Place) => Promise<T>): Promise<T> => {
    const answered = await ask(verb)
    for (const listener of [...listeners]) queueMicrotask(listener)
    return answered
  }
  /** Only who asks for a second time has an answer to look for, and who asks again does it here. */
  const isRepeated = (nonce: string): boolean => {
    if (nonces.has(nonce)) return true
    nonces.add(nonce)
    const [oldest] = nonces
    if (nonces.size > NONCES_MAX && oldest !== undefined) nonces.delete(oldest)
    return false
  }

  return {
    name: 'firestore',
    create: (runs) => write((place) => create(place, runs)),
    createFlow: (flow) => write((place) => createFlow(place, flow)),
    claim: (request) => ask((place) => claim(place, request, isRepeated(request.nonce))),
    renew: (request) => ask((place) => renew(place, request)),
    commit: (change) => (change.type === 'end' ? write : ask)((place) => commit(place, change)),
    take: (request) => ask((place) => take(place, request)),
    steer: (act) => write((place) => steer(place, act)),
    reorder: (move) => write((place) => reorder(place, move)),
    hold: (order) => write((place) => hold(place, order)),
    release: (request) => write((place) => release(place, request)),
    holds: () => ask(holds),
    setBudget: (order) => write((place) => setBudget(place, order)),
    budgets: () => ask(budgets),
    get: (ref) => ask((place) => get(place, ref)),
    flow: (ref) => ask((place) => flowOf(place, ref)),
    links: (run) => ask((place) => linksOf(place, run)),
    find: (query) => ask((place) => find(place, query)),
    count: (query) => ask((place) => count(place, query)),
    pulse: (query) => ask((place) => pulse(place, query)),
    attempts: (run) => ask((place) => attempts(place, run)),
    journal: (run, generation) => ask((place) => readJournal(place, run, generation)),
    note: (noted) => ask((place) => note(place, noted)),
    notes: (query) => ask((place) => notes(place, query)),
    keepPolicy: (hash, text) => ask((place) => keepPolicy(place, hash, text)),
    policy: (hash) => ask((place) => policy(place, hash)),
    prune: (request) => ask((place) => prune(place, request)),
    verify: () => ask(verify),
    watch: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: async () => {
      if (closed) return
      closed = true
      listeners.clear()
      await (await opening)?.close()
    },
  }
}
