/**
 * Why a person did not get, or no longer has, what they wanted to answer: who has it or decided it, and when.
 * A race is an answer and not an error; nothing was written.
 */
import type { RunView, Store } from '../ports/store.ts'
import { clockTime } from '../time/zone.ts'

export interface Loss {
  readonly answer: 'lost'
  readonly reason: 'taken' | 'decided' | 'overdue' | 'changed' | 'unknown'
  readonly by?: string
  /** When they decided; for `taken`, until when they have it. */
  readonly at?: number
  readonly says: string
}

export async function lossOf(store: Store, run: string, me: string, zone = 'UTC'): Promise<Loss> {
  const view = await store.get({ id: run })
  if (!view) return { answer: 'lost', reason: 'unknown', says: `There is no run ${run}.` }
  const { now } = await store.find({ limit: 1 })
  const time = (at: number) => clockTime(at, zone, now)
  const { lease, state } = view
  if (state === 'review' && lease && lease.until > now && lease.worker !== me) {
    const { worker: by, until: at } = lease
    return { answer: 'lost', reason: 'taken', by, at, says: `${by} has it in hand until ${time(at)}.` }
  }
  const last = (await store.attempts(run)).findLast(({ outcome }) => outcome === 'operator')
  if (state !== 'review' && last?.why?.code.startsWith('review.')) {
    const { worker: by, endedAt: at } = last
    return { answer: 'lost', reason: 'decided', by, at, says: `${by} decided it at ${time(at)}.` }
  }
  return state === 'review' ? changed() : gone(view, last, time)
}

export const changed = (): Loss => ({
  answer: 'lost',
  reason: 'changed',
  says: 'It was asked anew since you looked, or taken again under your own name.',
})

type Act = Awaited<ReturnType<Store['attempts']>>[number] | undefined

function gone({ state, generation }: RunView, last: Act, time: (at: number) => string): Loss {
  if (last && (last.generation === generation || state === 'cancelled')) {
    const { worker: by, endedAt: at } = last
    return { answer: 'lost', reason: 'decided', by, at, says: `${by} moved it at ${time(at)}; it is ${state} now.` }
  }
  return { answer: 'lost', reason: 'overdue', says: `Nobody answered in time, and it went on; it is ${state} now.` }
}
