/**
 * A store that also tells how late a lost lease was: the time from the last successful claim or renewal to the answer `lost`.
 * A living worker may lose a lease only when that is longer than the lease; it changes no answer.
 */
import type { Change, CommitAnswer, Store } from '../../src/ports/store.ts'

export interface LostLease {
  readonly run: string
  readonly token: number
  /** From the ask that last won the lease to the answer that it is gone. */
  readonly gapMs: number
}

export function leasesWatched(store: Store, lost: (lease: LostLease) => void): Store {
  const wonAt = new Map<string, number>()
  const nameOf = (run: string, token: number) => `${run} ${token}`
  const tell = (run: string, token: number) => {
    const at = wonAt.get(nameOf(run, token))
    if (at !== undefined) lost({ run, token, gapMs: performance.now() - at })
  }
  const heard = (change: Change, { answer }: CommitAnswer) => {
    if (answer === 'lost') tell(change.run, change.token)
    else if (change.type === 'end') wonAt.delete(nameOf(change.run, change.token))
  }
  const { commitAll } = store
  return {
    ...store,
    async claim(request) {
      const askedAt = performance.now()
      const claim = await store.claim(request)
      for (const { id } of claim.runs) wonAt.set(nameOf(id, claim.token), askedAt)
      return claim
    },
    async renew(request) {
      const askedAt = performance.now()
      const renewal = await store.renew(request)
      const gone = new Set(renewal.lost)
      for (const { run, token } of request.leases) {
        if (gone.has(run)) tell(run, token)
        else wonAt.set(nameOf(run, token), askedAt)
      }
      return renewal
    },
    async commit(change) {
      const committed = await store.commit(change)
      heard(change, committed)
      return committed
    },
    ...(commitAll
      ? {
          async commitAll(ends) {
            const committed = await commitAll(ends)
            for (const [index, answer] of committed.entries()) heard(ends[index] as Change, answer)
            return committed
          },
        }
      : {}),
  }
}
