/**
 * Hints that runs may have become claimable: right before a commit of this process, within milliseconds after one of another.
 * A hint may be lost, late or false; nobody depends on it.
 */
import { inBackground } from '../../time/background.ts'
import type { Cancel } from '../../time/clock.ts'

export interface WatchOptions {
  /** How often to look for other processes' commits; 0 for never. */
  readonly everyMs: number
  /** A number that changes when another connection has committed, if the file is open. */
  readonly version: () => number | undefined
}

export class Watchers {
  readonly #options: WatchOptions
  readonly #hints = new Set<() => void>()
  #stop: Cancel | undefined
  #seen: number | undefined

  constructor(options: WatchOptions) {
    this.#options = options
  }

  add(hint: () => void): Cancel {
    // Two listeners may be the same function, and each stops for itself.
    const own = () => hint()
    this.#hints.add(own)
    this.#look()
    return () => {
      this.#hints.delete(own)
      if (this.#hints.size === 0) this.#rest()
    }
  }

  hint(): void {
    if (this.#hints.size === 0) return
    for (const hint of [...this.#hints]) {
      try {
        hint()
      } catch (error) {
        // The listener's own affair, which the writes that it is told of must not share.
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }

  /** The hint of a write that is over comes after its answer, so that a listener cannot change what the writer sees. */
  woken(): void {
    if (this.#hints.size > 0) queueMicrotask(() => this.hint())
  }

  close(): void {
    this.#hints.clear()
    this.#rest()
  }

  /** Only while someone listens. */
  #look(): void {
    const { everyMs, version } = this.#options
    if (everyMs === 0 || this.#stop) return
    this.#seen = version()
    this.#stop = inBackground(everyMs, () => {
      const seen = version()
      // The first look after the file was opened counts as news: what was committed before it cannot be told from what was seen.
      if (seen !== this.#seen && seen !== undefined) this.woken()
      this.#seen = seen
    })
  }

  #rest(): void {
    this.#stop?.()
    this.#stop = undefined
  }
}
