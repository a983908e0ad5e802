/**
 * The engine's use of a bus: workers elsewhere are told that runs may be claimable, and events go out to whoever listens. Hints only: a
 * bus that is down, slow or lossy costs a poll interval and nothing else.
 */
import type { Bus } from '../ports/bus.ts'
import type { Change, CommitAnswer, EndChange, Store } from '../ports/store.ts'
import type { RepriseEvent } from '../run/event.ts'
import { nextTurn } from '../time/turn.ts'

/** Told when runs may have become claimable. */
const HINT_TOPIC = 'reprise.claimable'

/** Events are told under their names: `reprise.event.run.failed`. */
const EVENT_TOPIC = 'reprise.event'

/** The store, whose writes are hinted to others and whose watchers hear the hints of others. */
export function hintedStore(store: Store, bus: Bus): Store {
  let isTelling = false
  // What is written in one turn is one hint.
  const hint = (): void => {
    if (isTelling) return
    isTelling = true
    nextTurn(() => {
      isTelling = false
      bus.tell(HINT_TOPIC, '{}')
    })
  }
  const hinting = async <Answer>(answer: Promise<Answer>): Promise<Answer> => {
    const known = await answer
    hint()
    return known
  }
  const told = (change: Change, { answer, moved, created }: CommitAnswer): void => {
    const isOver = change.type === 'end' && answer === 'ok'
    if (isOver && (change.state === 'ready' || moved || created)) hint()
  }
  const { reorder, commitAll } = store
  return {
    ...store,
    create: (runs) => hinting(store.create(runs)),
    createFlow: (flow) => hinting(store.createFlow(flow)),
    steer: (act) => hinting(store.steer(act)),
    ...(reorder ? { reorder: (move) => hinting(reorder(move)) } : {}),
    release: (request) => hinting(store.release(request)),
    async commit(change) {
      const committed = await store.commit(change)
      told(change, committed)
      return committed
    },
    ...(commitAll
      ? {
          async commitAll(ends) {
            const committed = await commitAll(ends)
            for (const [index, answer] of committed.entries()) told(ends[index] as EndChange, answer)
            return committed
          },
        }
      : {}),
    watch(wake) {
      const [unwatch, off] = [store.watch(wake), bus.listen(HINT_TOPIC, wake)]
      return () => {
        unwatch()
        off()
      }
    },
  }
}

/** A listener that tells every event to the bus. */
export const tellEvents =
  (bus: Bus) =>
  (event: RepriseEvent): void =>
    bus.tell(`${EVENT_TOPIC}.${event.name}`, JSON.stringify(event))
