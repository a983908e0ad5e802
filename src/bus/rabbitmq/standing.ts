/**
 * What stands over reconnects: a consumer or a listener is set up on each new link, again and again until it is stopped.
 */
import type { Clock } from '../../time/clock.ts'
import type { Connection, Link } from './connection.ts'

const PAUSE_MIN_MS = 250
const PAUSE_MAX_MS = 10_000

/** Calls `set` on every link. Returns the way to stop; `first` resolves when it stands for the first time. */
export function standing(
  connection: Connection,
  clock: Clock,
  set: (link: Link) => Promise<void>,
): { readonly first: Promise<void>; stop(): void } {
  const stopped = new AbortController()
  const { promise: first, resolve } = Promise.withResolvers<void>()
  const keep = async () => {
    for (let pause = PAUSE_MIN_MS; !stopped.signal.aborted && !connection.closed; ) {
      try {
        const link = await connection.link()
        const broken = new Promise<void>((hear) => connection.onBroken(hear))
        await set(link)
        resolve()
        pause = PAUSE_MIN_MS
        await Promise.race([broken, aborted(stopped.signal)])
      } catch {
        await clock.sleep(pause, stopped.signal).catch(() => undefined)
        pause = Math.min(pause * 2, PAUSE_MAX_MS)
      }
    }
    resolve()
  }
  void keep()
  return { first, stop: () => stopped.abort() }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
